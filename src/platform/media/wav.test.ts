import { expect, it } from 'vitest';
import { toWav, wavHeader } from './wav.ts';

it('puts the samples behind a header of 44 bytes that tells their number and rate', () => {
  const file = toWav(new Int16Array([1, -2, 300]), 24_000);
  expect(file.toString('latin1', 0, 4)).toBe('RIFF');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect(file.toString('latin1', 8, 16)).toBe('WAVEfmt ');
  expect(file.readUInt16LE(22)).toBe(1);
  expect(file.readUInt32LE(24)).toBe(24_000);
  expect(file.readUInt32LE(40)).toBe(6);
  expect([file.readInt16LE(44), file.readInt16LE(46), file.readInt16LE(48)]).toEqual([1, -2, 300]);
  expect(file).toHaveLength(50);
});

it('takes a view into a larger array for what it is', () => {
  const all = new Int16Array([9, 9, 5, 9]);
  const file = toWav(all.subarray(2, 3), 8_000);
  expect(file).toHaveLength(46);
  expect(file.readInt16LE(44)).toBe(5);
});

it('has two channels where they are given, and promises what is not there yet', () => {
  const file = toWav(new Int16Array([1, -1, 2, -2]), 32_000, 2);
  expect(file.readUInt16LE(22)).toBe(2);
  expect(file.readUInt32LE(28)).toBe(128_000);
  expect(file.readUInt16LE(32)).toBe(4);
  expect(wavHeader({ sampleRate: 32_000, channels: 2, frames: 2 })).toEqual(file.subarray(0, 44));
  expect(wavHeader({ sampleRate: 32_000, channels: 2, frames: 320_000 }).readUInt32LE(40)).toBe(1_280_000);
});

it('says the most that it can of what is longer than a header can tell', () => {
  expect(wavHeader({ sampleRate: 8_000, channels: 2, frames: 2e9 }).readUInt32LE(4)).toBe(0xffffffff - 8);
});

import { expect, it } from 'vitest';
import { toWav } from './wav.ts';

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

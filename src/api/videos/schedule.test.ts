import { describe, expect, test } from 'vitest';
import { type AskedSchedule, toBilledSeconds, toExpectedMs, toSchedule } from './schedule.ts';

const paths = { quality: 'quality', steps: 'num_inference_steps' };
const ask = (changes: Partial<AskedSchedule> = {}) =>
  toSchedule({
    quality: undefined,
    steps: undefined,
    hasReferences: false,
    turboOnly: undefined,
    paths,
    ...changes,
  });
const billed = (seconds: number, changes: Partial<AskedSchedule>, factor = 1) =>
  toBilledSeconds(seconds, ask(changes), factor);

describe('steps and schedules', () => {
  test('[VIDEO-41] num_inference_steps omitted runs 4 Turbo steps, 8 with input_references', () => {
    expect(ask()).toMatchObject({ steps: 4, schedule: 'turbo', tier: 'turbo' });
    expect(ask({ hasReferences: true })).toMatchObject({ steps: 8, schedule: 'turbo' });
  });

  test.each([10, 20, 40, 41, 50])('[VIDEO-42] num_inference_steps %d runs the base model', (steps) => {
    expect(ask({ steps })).toMatchObject({ steps, schedule: 'base' });
  });

  test.each([4, 5, 7, 9])('[VIDEO-43] num_inference_steps %d runs the Turbo schedule', (steps) => {
    expect(ask({ steps })).toMatchObject({ steps, schedule: 'turbo', tier: 'turbo' });
  });

  test.each([
    ['turbo', 'turbo'],
    ['auto', 'turbo'],
    ['low', 'turbo'],
    ['standard', 'standard'],
    ['medium', 'standard'],
    ['max', 'max'],
    ['high', 'max'],
  ])("[VIDEO-45] quality %s is stored under its tier's own name, %s", (quality, tier) => {
    expect(ask({ quality }).tier).toBe(tier);
  });

  test('[VIDEO-46] standard runs 20 base steps and max 40', () => {
    expect(ask({ quality: 'standard' })).toMatchObject({ steps: 20, schedule: 'base' });
    expect(ask({ quality: 'high' })).toMatchObject({ steps: 40, schedule: 'base' });
  });

  test("[VIDEO-47] quality with another step count than the tier's is refused, with the tier's it is accepted", () => {
    expect(() => ask({ quality: 'standard', steps: 21 })).toThrow(/num_inference_steps .*20 steps/);
    expect(() => ask({ quality: 'turbo', steps: 8 })).toThrow(/num_inference_steps/);
    expect(ask({ quality: 'standard', steps: 20 }).steps).toBe(20);
    expect(ask({ quality: 'turbo', steps: 4 }).steps).toBe(4);
    expect(ask({ quality: 'low', steps: 8, hasReferences: true }).steps).toBe(8);
  });

  test.each(['standard', 'medium', 'max', 'high'])('[VIDEO-14] 2K with quality %s is refused', (quality) => {
    expect(() => ask({ quality, turboOnly: '2K' })).toThrow(/^quality must be turbo at 2K/);
  });

  test('[VIDEO-15] 2K with a base num_inference_steps is refused, with a Turbo one it is not', () => {
    for (const steps of [10, 50])
      expect(() => ask({ steps, turboOnly: '2K' })).toThrow(/^num_inference_steps/);
    expect(ask({ steps: 9, turboOnly: '2K' }).schedule).toBe('turbo');
    expect(ask({ quality: 'auto', turboOnly: '2K' }).steps).toBe(4);
  });
});

describe('what is billed', () => {
  test.each([
    ['turbo', 6],
    ['auto', 6],
    ['low', 6],
    ['standard', 18],
    ['medium', 18],
    ['max', 30],
    ['high', 30],
  ])('[BILL-14] 6 s of quality %s bill %d s', (quality, seconds) => {
    expect(billed(6, { quality })).toBe(seconds);
  });

  test('[BILL-15] 2K bills 4x the seconds', () => {
    expect(billed(6, {}, 4)).toBe(24);
  });

  test.each([
    [4, 10, 7],
    [6, 10, 10],
    [6, 12, 12],
    [5, 13, 11],
    [6, 30, 30],
  ])('[BILL-16] %d s at %d steps bill %d s', (duration, steps, seconds) => {
    expect(billed(duration, { steps })).toBe(seconds);
  });

  test.each([
    [18, 18],
    [19, 18],
    [20, 18],
    [31, 30],
    [36, 30],
    [40, 30],
  ])('[BILL-17] raw steps never bill more than the next tier up: 6 s at %d bill %d s', (steps, seconds) => {
    expect(billed(6, { steps })).toBe(seconds);
  });

  test.each([
    [41, 41],
    [50, 50],
  ])('[BILL-18] raw steps above 40 have no tier above: 6 s at %d bill %d s', (steps, seconds) => {
    expect(billed(6, { steps })).toBe(seconds);
  });

  test.each([4, 5, 9])('[BILL-19] %d steps bill 1x', (steps) => {
    expect(billed(6, { steps })).toBe(6);
  });

  test('[BILL-20] what is billed is a whole number of seconds', () => {
    for (let duration = 4; duration <= 15; duration++)
      for (let steps = 4; steps <= 50; steps++) expect(billed(duration, { steps }) % 1).toBe(0);
  });
});

test('[VIDEO-61] about 3 s are expected per video second, 5 with input_references, 3 times longer at 2K', () => {
  expect(toExpectedMs(6, false, false)).toBe(18_000);
  expect(toExpectedMs(6, true, false)).toBe(30_000);
  expect(toExpectedMs(6, false, true)).toBe(54_000);
});

import { expect, it } from 'vitest';
import { release } from './release.ts';

it('empties a piece that has its memory for itself', () => {
  const piece = new Uint8Array(65_536).fill(7);
  const view = piece.subarray(10, 20);
  release(piece);
  expect([piece.length, view.length, piece.buffer.byteLength]).toEqual([0, 0, 0]);
});

it('leaves alone what shares its memory, and what is small', () => {
  const whole = new Uint8Array(65_536).fill(7);
  release(whole.subarray(1));
  release(whole.subarray(0, 40_000));
  expect(whole.every((value) => value === 7)).toBe(true);
  const small = new Uint8Array(100).fill(7);
  release(small);
  expect(small).toHaveLength(100);
});

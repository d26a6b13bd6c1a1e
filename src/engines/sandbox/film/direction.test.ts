import { describe, expect, it } from 'vitest';
import { createRandom } from '../seed.ts';
import { framingAt, toDirection } from './direction.ts';

const direct = (prompt: string, seed = 1n) => toDirection(prompt, createRandom(seed));

describe('the camera', () => {
  it.each([
    ['the camera zooms in on a cat', 'zoom', 1],
    ['slow push in', 'zoom', 1],
    ['zoom out from a house', 'zoom', -1],
    ['a city, pan left', 'x', -1],
    ['panning to the right over hills', 'x', 1],
    ['tilt up to the sky', 'y', -1],
  ] as const)('does what the prompt says: %s', (prompt, way, sign) => {
    const direction = direct(prompt);
    const travelled = framingAt(direction, 1)[way] - framingAt(direction, 0)[way];
    expect(Math.sign(travelled)).toBe(sign);
  });

  it('stands still for a static shot', () => {
    const direction = direct('static shot of a tree');
    expect(framingAt(direction, 1)).toEqual(framingAt(direction, 0));
  });

  it('moves by chance where nothing is said, within its room and without turning back', () => {
    for (let seed = 0n; seed < 20n; seed++) {
      const direction = direct('a fox', seed);
      const way = Array.from({ length: 11 }, (_, step) => framingAt(direction, step / 10));
      for (const { x, y, zoom } of way) {
        expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThanOrEqual(1);
        expect(zoom).toBeGreaterThanOrEqual(0);
        expect(zoom).toBeLessThanOrEqual(1);
      }
      const zooms = way.map(({ zoom }) => zoom);
      expect([zooms.toSorted((a, b) => a - b), zooms.toSorted((a, b) => b - a)]).toContainEqual(zooms);
    }
  });

  it('hears how fast and how lively it is', () => {
    expect(direct('timelapse of clouds').pace).toBeGreaterThan(1);
    expect(direct('slow motion waves').pace).toBeLessThan(1);
    expect(direct('a dog runs').isLively).toBe(true);
    expect(direct('a dog').isLively).toBe(false);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countFrames, createFilmReader, filmFollows } from './order.ts';

describe('what a render puts out', () => {
  it('is told apart however it is cut: percents, then the film with any bytes in it', () => {
    const percents = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 20 });
    const bytes = fc.uint8Array({ maxLength: 60 });
    const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(percents, bytes, cuts, (told, film, lengths) => {
        const all = Uint8Array.from([...told, filmFollows, ...film]);
        const reader = createFilmReader();
        let last: number | undefined;
        for (let at = 0, piece = 0; at < all.length; piece++) {
          const end = at + lengths[piece % lengths.length]!;
          last = reader.take(all.subarray(at, end)) ?? last;
          at = end;
        }
        expect(last).toBe(told.at(-1));
        expect(new Uint8Array(reader.film())).toEqual(film);
      }),
    );
  });

  it('[VIDEO-60] has the frames of the grid', () => {
    expect(countFrames(4, 24)).toBe(105);
    expect(countFrames(15, 24)).toBe(369);
  });
});

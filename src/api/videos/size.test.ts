import { describe, expect, test } from 'vitest';
import { sampleModel } from '../../../test/support/sample-models.ts';
import { type AskedSize, toVideoSize } from './size.ts';

const model = sampleModel('video', 'film-one');
const sizeOf = (asked: AskedSize) => {
  const { width, height, resolution, aspectRatio, upscale } = toVideoSize(asked, model);
  return [`${width}x${height}`, resolution, aspectRatio, upscale];
};
const ratios = ['16:9', '9:16', '4:3', '3:4', '1:1', '21:9'];
const at768 = ['1344x768', '768x1344', '1024x768', '768x1024', '768x768', '1536x672'];
const at2K = ['2688x1536', '1536x2688', '2048x1536', '1536x2048', '1536x1536', '3072x1344'];

describe('the size of a video', () => {
  test('[VIDEO-13] resolution takes 768p, the default, and 2K; another is refused by name', () => {
    expect(sizeOf({})).toEqual(['1344x768', '768p', '16:9', 1]);
    expect(sizeOf({ resolution: '2K' })).toEqual(['2688x1536', '2K', '16:9', 2]);
    expect(() => sizeOf({ resolution: '4K' })).toThrow(/^resolution must be one of 768p, 2K$/);
    expect(() => sizeOf({ resolution: 'constructor' })).toThrow(/^resolution/);
  });

  test('[VIDEO-16] aspect_ratio takes six ratios, 16:9 by default; another is refused by name', () => {
    for (const ratio of ratios) expect(sizeOf({ aspect_ratio: ratio })[2]).toBe(ratio);
    expect(() => sizeOf({ aspect_ratio: '2:1' })).toThrow(/^aspect_ratio must be one of 16:9/);
  });

  test.each(ratios.map((ratio, index) => [ratio, at768[index]]))(
    '[VIDEO-17] at 768p %s gives %s',
    (ratio, size) => {
      expect(sizeOf({ aspect_ratio: ratio })).toEqual([size, '768p', ratio, 1]);
    },
  );

  test.each(ratios.map((ratio, index) => [ratio, at2K[index]]))(
    '[VIDEO-18] at 2K %s gives %s: the 768p preset enlarged 2x',
    (ratio, size) => {
      expect(sizeOf({ aspect_ratio: ratio, resolution: '2K' })).toEqual([size, '2K', ratio, 2]);
    },
  );

  test('[VIDEO-19] size takes one of these twelve; another is refused by name', () => {
    for (const size of [...at768, ...at2K]) expect(sizeOf({ size })[0]).toBe(size);
    for (const size of ['1344x769', '100x100', 'big', ''])
      expect(() => sizeOf({ size })).toThrow(/^size must be one of 1344x768/);
  });

  test('[VIDEO-20] size that disagrees with aspect_ratio is refused; an agreeing pair is accepted', () => {
    expect(sizeOf({ size: '768x768', aspect_ratio: '1:1' })[0]).toBe('768x768');
    expect(() => sizeOf({ size: '768x768', aspect_ratio: '16:9' })).toThrow(/^size .* aspect_ratio/);
  });

  test('[VIDEO-21] a 2K size alone means 2K; one that disagrees with resolution is refused', () => {
    expect(sizeOf({ size: '1536x1536' })).toEqual(['1536x1536', '2K', '1:1', 2]);
    expect(() => sizeOf({ size: '1536x1536', resolution: '768p' })).toThrow(/^size .* resolution/);
    expect(sizeOf({ size: '1536x1536', resolution: '2K' })[1]).toBe('2K');
  });
});

/** The pixels themselves, without files and processes. */
import { describe, expect, it } from 'vitest';
import type { Pixels } from '../../contract/picture.ts';
import { toSeed } from '../seed.ts';
import { Canvas } from './canvas.ts';
import { makePicture, type PictureParts, type PictureRequest } from './picture.ts';
import { styles, subjectKinds } from './words.ts';

const side = 96;

function make(prompt: string, changes: Partial<PictureRequest> = {}, parts: Partial<PictureParts> = {}) {
  const request = { prompt, width: side, height: side, isTransparent: false, ...changes };
  return makePicture(request, { seed: toSeed([prompt]), references: [], ...parts });
}
const draw = (...given: Parameters<typeof make>): Canvas => make(...given).canvas;

/** The mean difference of two pictures, from 0 to 255. */
function difference(one: Pixels, other: Pixels): number {
  let sum = 0;
  for (let at = 0; at < one.data.length; at++) sum += Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0));
  return sum / one.data.length;
}

/** How much neighbours differ: more detail, more of it. */
function detail({ data, width, height }: Pixels): number {
  let sum = 0;
  for (let at = 0; at < (height - 1) * width * 4; at++) {
    sum +=
      Math.abs((data[at] ?? 0) - (data[at + 4] ?? 0)) +
      Math.abs((data[at] ?? 0) - (data[at + width * 4] ?? 0));
  }
  return sum / data.length;
}

const opacities = ({ data }: Pixels) =>
  Array.from({ length: data.length / 4 }, (_, at) => data[at * 4 + 3] ?? 0);
const mean = ({ data }: Pixels, part: number) => {
  let sum = 0;
  for (let at = part; at < data.length; at += 4) sum += data[at] ?? 0;
  return sum / (data.length / 4);
};

describe('a picture', () => {
  it('[IMG-37] is the same for the same prompt and seed, and laid out otherwise by another seed', () => {
    const seed = toSeed([1]);
    expect(draw('a cat in a meadow', {}, { seed }).data).toEqual(
      draw('a cat in a meadow', {}, { seed }).data,
    );
    expect(
      difference(
        draw('a cat in a meadow', {}, { seed }),
        draw('a cat in a meadow', {}, { seed: toSeed([2]) }),
      ),
    ).toBeGreaterThan(3);
  });

  it('is a different one for every prompt: subjects, lands, hours, styles, colours, unknown words', () => {
    const prompts = [
      ...subjectKinds.map((kind) => `a ${kind === 'star' ? 'starfish' : kind}`),
      ...[
        'mountains',
        'sea',
        'beach',
        'hills',
        'city',
        'desert',
        'forest',
        'meadow',
        'winter',
        'space',
        'room',
      ],
      ...['sunset', 'dawn', 'night', 'storm'],
      ...['rainbow', 'rain', 'snowfall', 'aurora', 'lightning', 'neon', 'pastel hills', 'red hills'],
      ...styles.map((style) => `hills, ${style === 'lines' ? 'sketch' : style}`),
      ...['zeitgeist', 'melancholy', '静けさ', 'abstract blue'],
    ];
    const seed = toSeed([7]);
    const made = prompts.map((prompt) => draw(prompt, {}, { seed }));
    const ground = draw('hills', {}, { seed });
    for (const [index, one] of made.entries()) {
      if (prompts[index] !== 'hills')
        expect([prompts[index], difference(one, ground) > 0.5]).toEqual([prompts[index], true]);
      for (const other of made.slice(index + 1)) expect(difference(one, other)).toBeGreaterThan(0.3);
    }
  });

  it('[IMG-10] has the size that was asked for, of any shape, and no clear pixel', () => {
    for (const [width, height] of [
      [512, 128],
      [16, 64],
      [33, 47],
    ] as const) {
      const canvas = draw('two boats at sea', { width, height });
      expect([canvas.width, canvas.height, canvas.data.length]).toEqual([width, height, width * height * 4]);
      expect(Math.min(...opacities(canvas))).toBe(255);
    }
  });

  it('is dark at night and light by day', () => {
    expect(mean(draw('hills at night'), 2)).toBeLessThan(mean(draw('hills at noon'), 2) - 60);
    expect(mean(draw('a city, film noir'), 0)).toBeCloseTo(mean(draw('a city, film noir'), 2), 0);
  });

  it('[IMG-48] is refined once less than it has steps, and every update adds detail', () => {
    const seed = toSeed([3]);
    const byStep = [1, 2, 3, 5, 8, 20, 50].map((steps) => make('a dog in a meadow', { steps }, { seed }));
    expect(byStep.map(({ updates }) => updates)).toEqual([0, 1, 2, 4, 7, 19, 49]);
    const details = byStep.map(({ canvas }) => detail(canvas));
    for (const [index, more] of details.slice(1).entries()) expect(more).toBeGreaterThan(details[index] ?? 0);
    const [rough, , , , , , fine] = byStep;
    expect(detail(rough!.canvas)).toBeLessThan(detail(fine!.canvas) / 2);
  });

  it('[IMG-51] follows a negative prompt only with guidance, which makes colours stronger', () => {
    const seed = toSeed([4]);
    const picture = (changes: Partial<PictureRequest>) =>
      draw('a cat and trees in a meadow', changes, { seed });
    const plain = picture({});
    expect(picture({ negativePrompt: 'trees' }).data).toEqual(plain.data);
    expect(picture({ negativePrompt: 'trees', guidanceScale: 0 }).data).toEqual(plain.data);
    const guided = picture({ guidanceScale: 4 });
    expect(difference(guided, plain)).toBeGreaterThan(2);
    expect(difference(picture({ guidanceScale: 12 }), plain)).toBeGreaterThan(difference(guided, plain));
    expect(difference(picture({ guidanceScale: 4, negativePrompt: 'trees' }), guided)).toBeGreaterThan(2);
  });

  it('[IMG-43] has really clear pixels around its subject, or around an oval where there is none', () => {
    for (const prompt of ['a red car', 'three cats', 'sea at sunset', 'zeitgeist']) {
      const clear = opacities(draw(prompt, { isTransparent: true }));
      const share = clear.filter((opacity) => opacity === 0).length / clear.length;
      expect([prompt, share > 0.15, share < 0.9]).toEqual([prompt, true, true]);
      expect(clear[0]).toBe(0);
      expect(Math.max(...clear)).toBe(255);
    }
  });
});

describe('an edit', () => {
  const seed = toSeed([9]);
  const reference = draw('a house in the hills', {}, { seed });
  const edit = (prompt: string, parts: Partial<PictureParts> = {}, changes: Partial<PictureRequest> = {}) =>
    draw(prompt, changes, { seed, references: [reference], ...parts });

  it('shows the first reference, in the light and the style that the prompt asks for', () => {
    const plain = edit('keep it');
    expect(difference(plain, reference)).toBeLessThan(4);
    const night = edit('make it night');
    expect(mean(night, 0)).toBeLessThan(mean(reference, 0) - 25);
    expect(difference(edit('mosaic'), reference)).toBeGreaterThan(5);
    expect(difference(edit('zeitgeist'), reference)).toBeGreaterThan(3);
    const other = draw('a city at night', {}, { seed });
    expect(difference(edit('make it night', { references: [other] }), night)).toBeGreaterThan(10);
  });

  it('has the asked size, whatever the reference’s', () => {
    const { width, height } = edit('a cat', {}, { width: 160, height: 48 });
    expect([width, height]).toEqual([160, 48]);
  });

  it('adds what the prompt names', () => {
    expect(difference(edit('add an owl'), edit('keep it'))).toBeGreaterThan(2);
  });

  it('shows further references as small prints', () => {
    const red = new Canvas(10, 10);
    for (let at = 0; at < 100; at++) red.data.set([255, 0, 0, 255], at * 4);
    const one = edit('keep it', { references: [reference, red] });
    const two = edit('keep it', { references: [reference, red, red] });
    const reds = ({ data }: Pixels) =>
      Array.from({ length: side * side }, (_, at) => at * 4).filter(
        (at) => (data[at] ?? 0) > 240 && (data[at + 1] ?? 0) < 30,
      ).length;
    expect(reds(one)).toBeGreaterThan(200);
    expect(reds(two)).toBeGreaterThan(reds(one) * 1.8);
    expect(() => edit('keep it', { references: Array.from({ length: 10 }, () => red) })).not.toThrow();
  });

  const masked = (isClear: (x: number, y: number) => boolean, size = side): Canvas => {
    const mask = new Canvas(size, size);
    for (let at = 0; at < size * size; at++)
      mask.data[at * 4 + 3] = isClear(at % size, Math.floor(at / size)) ? 0 : 255;
    return mask;
  };

  it('with a mask changes nothing outside it, and draws anew inside', () => {
    const canvas = edit('a robot in the desert', { mask: masked((x) => x >= 48) });
    let [outside, inside] = [0, 0];
    for (let at = 0; at < canvas.data.length; at++) {
      const far = Math.abs((canvas.data[at] ?? 0) - (reference.data[at] ?? 0));
      if ((at >> 2) % side >= 48) inside += far;
      else outside += far;
    }
    expect(outside).toBe(0);
    expect(inside / (canvas.data.length / 2)).toBeGreaterThan(10);
  });

  it('with a mask that is clear nowhere is the reference, and everywhere a new picture', () => {
    expect(edit('a robot', { mask: masked(() => false) }).data).toEqual(reference.data);
    expect(
      difference(edit('a robot in the desert', { mask: masked(() => true) }), reference),
    ).toBeGreaterThan(15);
  });

  it('takes a mask of another size', () => {
    const canvas = edit('a robot in the desert', { mask: masked((x) => x >= 20, 40) });
    const row = 50 * side * 4;
    expect(canvas.data.slice(row, row + 46 * 4)).toEqual(reference.data.slice(row, row + 46 * 4));
    expect(difference(canvas, reference)).toBeGreaterThan(5);
  });

  it('[IMG-43] clears the background of the reference', () => {
    const flat = new Canvas(side, side);
    for (let at = 0; at < side * side; at++) {
      const isThing = Math.hypot((at % side) - 48, Math.floor(at / side) - 48) < 20;
      flat.data.set(isThing ? [200, 30, 30, 255] : [240, 240, 240, 255], at * 4);
    }
    const canvas = edit('keep it', { references: [flat] }, { isTransparent: true });
    expect(opacities(canvas)[0]).toBe(0);
    expect(opacities(canvas)[48 * side + 48]).toBe(255);
    expect(opacities(edit('keep it', {}, { isTransparent: true }))[0]).toBe(0);
  });
});

/** Published descriptors and accepted requests are the same thing: at a limit accepted, just outside refused. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Descriptor } from '../src/api/images/parameters.ts';
import {
  createImagesShell,
  drawId,
  editId,
  type ImagesShell,
  pngFile,
  toDataUri,
} from './support/images-shell.ts';

const ids = [drawId, editId, 'narrow'];
const shell: ImagesShell = createImagesShell();
let published: Record<string, Record<string, Descriptor>>;

beforeAll(async () => {
  const entries = (await shell.send({ url: '/v1/images/models' })).json().data;
  published = Object.fromEntries(
    entries.map((entry: { id: string; supported_parameters: object }) => [
      entry.id,
      entry.supported_parameters,
    ]),
  );
});

async function statusOf(model: string, fields: object): Promise<number> {
  const { status } = await shell.post('', { model, prompt: 'A house', ...fields });
  return status;
}

interface Constraint {
  multiple_of: number;
  min_area: number;
  max_area: number;
  max_ratio: number;
  max_total_area?: number;
}

/** The published constraint in the specification's words. */
function allows(constraint: Constraint, width: number, height: number, n: number): boolean {
  const { multiple_of: step, min_area, max_area, max_ratio, max_total_area = Infinity } = constraint;
  const area = width * height;
  return (
    width % step === 0 &&
    height % step === 0 &&
    area >= min_area &&
    area <= max_area &&
    Math.max(width, height) <= max_ratio * Math.min(width, height) &&
    n * area <= max_total_area
  );
}

describe.each(ids)('%s', (id) => {
  it('[IMG-77] takes every size that its constraint allows, and no other', async () => {
    const constraint = published[id]?.['size'] as unknown as Constraint;
    const { multiple_of: step, max_area } = constraint;
    const longest = Math.ceil(Math.sqrt(max_area * constraint.max_ratio)) + 2 * step;
    // Mostly multiples, and often at the edge: an area or a ratio that is just met, or just missed.
    const side = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: Math.ceil(longest / step) }).map((k) => k * step) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: longest }) },
    );
    const partner = (width: number) =>
      fc.oneof(
        side,
        fc
          .tuple(
            fc.constantFrom(
              constraint.min_area / width,
              max_area / width,
              width * constraint.max_ratio,
              width / constraint.max_ratio,
            ),
            fc.integer({ min: -1, max: 1 }),
          )
          .map(([length, off]) => Math.max(1, Math.round(length / step) + off) * step),
      );
    const size = side.chain((width) => fc.tuple(fc.constant(width), partner(width)));
    const counts = { true: 0, false: 0 };
    await fc.assert(
      fc.asyncProperty(
        size,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async ([width, height], n, inSides) => {
          const isAllowed = allows(constraint, width, height, n);
          counts[`${isAllowed}`] += 1;
          const fields = inSides ? { width, height } : { size: `${width}x${height}` };
          expect(await statusOf(id, { ...fields, n })).toBe(isAllowed ? 200 : 400);
        },
      ),
      { numRuns: 150 },
    );
    expect(Math.min(counts.true, counts.false)).toBeGreaterThan(10);
  });

  it('[IMG-77] takes what lies at the limits of every descriptor, and nothing just outside', async () => {
    const seen: string[] = [];
    for (const [name, descriptor] of Object.entries(published[id] ?? {})) {
      const { inside, outside } = toSamples(name, descriptor, id);
      for (const fields of inside)
        expect([name, fields, await statusOf(id, fields)]).toEqual([name, fields, 200]);
      for (const fields of outside) {
        const { status, json } = await shell.post('', { model: id, prompt: 'A house', ...fields });
        expect([name, fields, status]).toEqual([name, fields, 400]);
        expect(json().error.message).toContain(name);
      }
      if (inside.length > 0) seen.push(name);
    }
    // A file of a form: with the edits.
    expect(Object.keys(published[id] ?? {}).filter((name) => !seen.includes(name))).toEqual(
      id === drawId ? [] : ['image'],
    );
  });

  it('[IMG-77] takes no parameter that is not published', async () => {
    const every = Object.keys({ ...published[drawId], ...published[editId] });
    const missing = every.filter((name) => published[id]?.[name] === undefined && name !== 'image');
    for (const name of missing) {
      const value = name === 'mask' ? { image_url: toDataUri(pngFile) } : [{ image_url: toDataUri(pngFile) }];
      const fields = name === 'input_references' ? toReferences(1) : { [name]: value };
      expect([name, await statusOf(id, fields)]).toEqual([name, 400]);
    }
  });
});

type Samples = { inside: object[]; outside: object[] };

function toSamples(name: string, descriptor: Descriptor, id: string): Samples {
  const small = { size: '256x256' };
  switch (descriptor.type) {
    case 'enum':
      if (name === 'aspect_ratio') return ofRatios(id);
      return {
        inside: descriptor.values.map((value) => ({
          ...(name === 'resolution' ? {} : small),
          [name]: value,
        })),
        outside: [{ ...small, [name]: `${descriptor.values[0]}x` }],
      };
    case 'string': {
      const { max_length: most } = descriptor;
      return {
        inside: [{ ...small, [name]: '🏠'.repeat(most) }],
        outside: [{ ...small, [name]: '🏠'.repeat(most + 1) }],
      };
    }
    case 'boolean':
      if (name === 'seed') return { inside: [{ ...small, seed: 1 }], outside: [{ seed: 1.5 }] };
      if (name === 'mask') return ofMask();
      return {
        inside: [true, false].map((value) => ({ ...small, [name]: value })),
        outside: [{ [name]: 1 }],
      };
    case 'constraint':
      return { inside: [{ [name]: shell.model(id).size.default }], outside: [{ [name]: '1x1' }] };
    case 'range':
      return ofRange(name, descriptor, id);
  }
}

function ofRange(
  name: string,
  { min, max, also = [] }: Extract<Descriptor, { type: 'range' }>,
  id: string,
): Samples {
  const small = { size: '256x256' };
  if (name === 'image') return { inside: [], outside: [] };
  if (name === 'images' || name === 'input_references') {
    const fields = (count: number) => (name === 'images' ? toImages(count) : toReferences(count));
    return { inside: [fields(min), fields(max)], outside: [fields(max + 1)] };
  }
  if (name === 'width' || name === 'height') {
    const other = name === 'width' ? 'height' : 'width';
    const { minArea, maxArea, multipleOf: step } = shell.model(id).size;
    // The shortest side has a partner that makes it large enough, the longest one that keeps it small enough.
    return {
      inside: [
        { [name]: min, [other]: Math.ceil(minArea / min / step) * step },
        { [name]: max, [other]: Math.floor(maxArea / max / step) * step },
      ],
      outside: [
        { [name]: min - step, [other]: Math.ceil(minArea / (min - step) / step) * step },
        { [name]: max + step, [other]: Math.floor(maxArea / (max + step) / step) * step },
      ],
    };
  }
  const nearest = name === 'guidance_scale' ? 0.001 : 1;
  return {
    inside: [min, max, ...also].map((value) => ({ ...small, [name]: value })),
    outside: [min - nearest, max + nearest]
      .filter((value) => !also.includes(value))
      .map((value) => ({ ...small, [name]: value })),
  };
}

/** A ratio need not be there at every resolution. */
function ofRatios(id: string): Samples {
  const { resolutions } = shell.model(id);
  return {
    inside: Object.entries(resolutions).flatMap(([resolution, sizes]) =>
      Object.keys(sizes).map((ratio) => ({ resolution, aspect_ratio: ratio })),
    ),
    outside: [{ aspect_ratio: '7:3' }],
  };
}

function ofMask(): Samples {
  const mask = { image_url: toDataUri(pngFile) };
  return { inside: [{ ...toImages(1), mask }], outside: [{ mask }] };
}

function toImages(count: number) {
  return {
    size: '256x256',
    images: Array.from({ length: count }, () => ({ image_url: toDataUri(pngFile) })),
  };
}

function toReferences(count: number) {
  const reference = { type: 'image_url', image_url: { url: toDataUri(pngFile) } };
  return { size: '256x256', input_references: Array.from({ length: count }, () => reference) };
}

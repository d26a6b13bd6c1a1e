import { describe, expect, it } from 'vitest';
import { createNearStudio, readPixels } from '../../../test/support/near-studio.ts';
import { toContent } from '../../lib/content.ts';
import { createLog } from '../../lib/log.ts';
import { createStudio } from '../../platform/media/studio.ts';
import type { ImageRequest } from '../contract/image.ts';
import type { Studio } from '../contract/studio.ts';
import { createSandboxImage } from './image.ts';

const { signal: never } = new AbortController();
const asked: ImageRequest = {
  model: 'm',
  prompt: 'a cat in a meadow',
  count: 1,
  width: 64,
  height: 48,
  seed: 7,
  outputFormat: 'png',
  background: 'auto',
  references: [],
};

const toPicture = (bytes: Buffer) => ({ content: toContent(bytes), mediaType: 'image/png' });

function open() {
  const studio = createNearStudio();
  const port = createSandboxImage(studio);
  const generate = (changes: Partial<ImageRequest> = {}, signal = never) =>
    port.generate({ ...asked, ...changes }, signal);
  const one = async (changes: Partial<ImageRequest> = {}): Promise<Buffer> =>
    (await generate(changes))[0]!.bytes;
  return { studio, generate, one };
}
const kindOf = (bytes: Buffer) =>
  bytes.subarray(1, 4).toString('latin1') === 'PNG'
    ? 'png'
    : bytes[0] === 0xff
      ? 'jpeg'
      : bytes.toString('latin1', 8, 12);

describe('the sandbox’s images', () => {
  it('[IMG-37] are the same bytes for the same request with a seed, and differ without one', async () => {
    const { one } = open();
    expect(await one()).toEqual(await one());
    const { seed: _, ...seedless } = asked;
    const studio = createNearStudio();
    const port = createSandboxImage(studio);
    const [[first], [second]] = [await port.generate(seedless, never), await port.generate(seedless, never)];
    expect(first?.bytes).not.toEqual(second?.bytes);
    for (const changes of [
      { seed: 8 },
      { seed: -8 },
      { seed: 2 ** 60 },
      { prompt: 'a dog' },
      { steps: 3 },
      { guidanceScale: 5 },
    ]) {
      expect(await one(changes)).not.toEqual(await one());
    }
  });

  it('[IMG-4] [IMG-10] [IMG-38] are as many as asked for, each of the exact size and format', async () => {
    const { generate } = open();
    for (const outputFormat of ['png', 'jpeg', 'webp'] as const) {
      const images = await generate({ count: 3, outputFormat });
      expect(images).toHaveLength(3);
      for (const { bytes, ...rest } of images) {
        expect(kindOf(bytes).toLowerCase()).toBe(outputFormat);
        expect(rest).toEqual({});
        const { width, height } = await readPixels(bytes);
        expect([width, height]).toEqual([64, 48]);
      }
      expect(images[0]?.bytes).not.toEqual(images[1]?.bytes);
    }
  });

  it('[IMG-40] hand the compression on', async () => {
    const { one } = open();
    const sizes = await Promise.all(
      [5, 60, 100].map(
        async (outputCompression) =>
          (await one({ outputFormat: 'jpeg', outputCompression, width: 256, height: 256 })).length,
      ),
    );
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(sizes[0]).toBeLessThan((sizes[2] ?? 0) / 3);
  });

  it('[IMG-48] tell how often they were refined: N - 1 times for N steps', async () => {
    const { studio, generate } = open();
    for (const steps of [1, 8, 50]) await generate({ steps });
    expect(studio.results.map((result) => (result as { updates: number }).updates)).toEqual([0, 7, 49]);
  });

  it('[IMG-12] [IMG-43] are transparent only when that was asked for', async () => {
    const { one } = open();
    const clear = async (bytes: Buffer) =>
      (await readPixels(bytes)).data.filter((value, at) => at % 4 === 3 && value === 0).length;
    expect(await clear(await one())).toBe(0);
    expect(await clear(await one({ background: 'opaque' }))).toBe(0);
    for (const outputFormat of ['png', 'webp'] as const) {
      expect(await clear(await one({ background: 'transparent', outputFormat }))).toBeGreaterThan(500);
    }
  });

  it('start from references and stay inside a mask', async () => {
    const { one, studio } = open();
    const house = await one({ prompt: 'a house in the hills' });
    const heart = await one({ prompt: 'a heart', background: 'transparent' });
    const [reference, clear] = [toPicture(house), toPicture(heart)];
    const before = (await readPixels(house)).data;
    const opening = (await readPixels(heart)).data;
    const after = (
      await readPixels(await one({ prompt: 'a robot in the desert', references: [reference], mask: clear }))
    ).data;
    let [kept, changed] = [0, 0];
    for (let at = 0; at < before.length; at += 4) {
      const isSame =
        before[at] === after[at] && before[at + 1] === after[at + 1] && before[at + 2] === after[at + 2];
      if (opening[at + 3] === 255) {
        expect(isSame).toBe(true);
        kept += 1;
      } else if (!isSame) changed += 1;
    }
    expect(kept).toBeGreaterThan(100);
    expect(changed).toBeGreaterThan(500);
    expect(studio.orders.at(-1)?.inputs).toEqual([reference.content, clear.content]);
  });

  it('fail as the model’s script says: before, after some pictures, or with no picture at all', async () => {
    const { generate, studio } = open();
    await expect(generate({ script: { failBefore: 'overload' } })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await expect(generate({ count: 3, script: { failAfterTokens: 2 } })).rejects.toMatchObject({
      kind: 'unreachable',
    });
    await expect(
      generate({ script: { failBefore: { kind: 'error', message: 'out of paint' } } }),
    ).rejects.toThrow('out of paint');
    expect(studio.orders).toHaveLength(0);
    expect(await generate({ script: { withoutImages: true } })).toEqual([]);
    expect(await generate({ count: 2, script: { failAfterTokens: 2 } })).toHaveLength(2);
  });

  it('wait as long as the script says, and not for a caller who left', async () => {
    const waits: { delayMs: number; callback: () => void }[] = [];
    const port = createSandboxImage(createNearStudio(), {
      now: () => 0,
      after(delayMs, callback) {
        waits.push({ delayMs, callback });
        return () => {};
      },
    });
    const script = { delayMs: 90_000 };
    const done = port.generate({ ...asked, script }, never);
    await Promise.resolve();
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([90_000]);
    waits[0]?.callback();
    expect(await done).toHaveLength(1);
    const controller = new AbortController();
    const left = port.generate({ ...asked, script }, controller.signal);
    await Promise.resolve();
    controller.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
  });

  it('hand the caller’s leaving and the studio’s failure on, and bound the studio’s work by the size', async () => {
    const controller = new AbortController();
    const { generate, studio } = open();
    controller.abort(new Error('left'));
    await expect(generate({}, controller.signal)).rejects.toThrow('left');
    await generate({ width: 256, height: 256, count: 2 });
    const { maxBytes = 0, maxCpuMs = 0, isAwaited } = studio.orders.at(-1) ?? {};
    expect(isAwaited).toBe(true);
    expect(maxBytes).toBeGreaterThan(256 * 256 * 2 * 4);
    expect(maxBytes).toBeLessThan(2 ** 21);
    expect(maxCpuMs).toBeGreaterThan(1_000);
    const broken: Studio = {
      // biome-ignore lint/correctness/useYield: it fails before it yields
      async *render() {
        throw new Error('the studio is closed');
      },
    };
    await expect(createSandboxImage(broken).generate(asked, never)).rejects.toThrow('the studio is closed');
  });

  it('[IMG-37] come out of the studio’s own process, the same as ever', async () => {
    const studio = createStudio({ log: createLog('silent') });
    try {
      const port = createSandboxImage(studio);
      const [first, second] = await port.generate({ ...asked, count: 2 }, never);
      const again = await port.generate({ ...asked, count: 2 }, never);
      expect(again).toEqual([first, second]);
      const { data } = await readPixels(first!.bytes);
      expect(data).toEqual((await readPixels((await open().generate({ count: 2 }))[0]!.bytes)).data);
      const mask = toPicture(await open().one({ background: 'transparent', prompt: 'a heart' }));
      const reference = toPicture(second!.bytes);
      expect(await port.generate({ ...asked, references: [reference], mask }, never)).toHaveLength(1);
    } finally {
      await studio.close();
    }
  });
});

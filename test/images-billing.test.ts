/** What images cost: the pixels that were returned, and nothing else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import {
  createImagesShell,
  draws,
  editId,
  type ImagesShell,
  pngFile,
  toDataUri,
} from './support/images-shell.ts';
import { toPng } from './support/tiny-png.ts';

let shell: ImagesShell;
beforeEach(() => {
  shell = createImagesShell();
});
afterEach(() => {
  expect(shell.held()).toBe(0);
});

const usage = async (body: object, path = '') => (await shell.post(path, body)).json().usage;
const images = [{ image_url: toDataUri(pngFile) }];

describe('images', () => {
  it('[BILL-6] are billed by the megapixel, of all that were returned', async () => {
    expect((await usage({ size: '1024x1024' })).megapixels).toBe(1.048576);
    expect((await usage({ size: '512x256', n: 3 })).megapixels).toBe(0.393216);
    shell.generate = async () => [{ bytes: toPng({ width: 100, height: 50 }) }];
    expect((await usage({ size: '1024x1024' })).megapixels).toBe(0.005);
    expect(shell.rows.map(({ quantities }) => quantities)).toEqual([
      { megapixels: 1.048576 },
      { megapixels: 0.393216 },
      { megapixels: 0.005 },
    ]);
  });

  it('[BILL-6] are billed by their steps too, where the model says so', async () => {
    const scaled = async (body: object) =>
      (await usage({ model: 'scaled', size: '1024x1024', ...body })).megapixels;
    expect(await scaled({ steps: 20 })).toBe(1.048576);
    expect(await scaled({ steps: 50 })).toBe(2.62144);
    expect(await scaled({})).toBe(0.524288);
    expect(await scaled({ provider: { options: { num_inference_steps: 40 } }, n: 2 })).toBe(4.194304);
    expect((await usage({ size: '1024x1024', steps: 50 })).megapixels).toBe(1.048576);
  });

  it('[BILL-7] cost the megapixels at the price of the model, or nothing', async () => {
    expect((await usage({ size: '1024x1024' })).cost).toBe(0.004194304);
    expect((await usage({ size: '1024x1024', model: 'scaled', steps: 50 })).cost).toBe(0.01048576);
    expect((await usage({ size: '1024x1024', model: 'free' })).cost).toBe(0);
    expect(shell.rows.map(({ costPicoUsd }) => costPicoUsd)).toEqual([4_194_304_000n, 10_485_760_000n, 0n]);
  });

  it('[BILL-8] that were sent along, and masks, cost nothing', async () => {
    const body = { model: editId, size: '512x512' };
    const alone = await usage(body);
    expect(await usage({ ...body, images: [...images, ...images], mask: images[0] })).toEqual(alone);
  });

  it('[BILL-9] that were not made cost nothing', async () => {
    const refusals: (() => Promise<unknown>)[] = [
      () => shell.post('', { size: '1x1' }),
      () => shell.post('', { model: editId, images: [{ image_url: 'https://127.0.0.1/' }] }),
      () => shell.post('', { model: editId, images: [{ image_url: toDataUri(Buffer.from('text')) }] }),
    ];
    for (const failure of [
      async () => [],
      async () => [{ bytes: Buffer.from('no picture') }],
      async () => {
        throw new GatewayError('timeout', 'The engine is silent');
      },
    ]) {
      for (const stream of [false, true]) {
        refusals.push(() => {
          shell.generate = failure;
          return shell.post('', { stream });
        });
      }
    }
    refusals.push(() => {
      // The second of two is broken: all of it has failed.
      shell.generate = async (request) => [draws(request)[0]!, { bytes: Buffer.from('no picture') }];
      return shell.post('', { n: 2 });
    });
    for (const refuse of refusals) await refuse();
    expect(shell.rows).toEqual([]);
  });

  it('[BILL-9] that could not be kept for their links cost nothing', async () => {
    const objects = {
      passingKey: () => 'images/x',
      put: async () => {
        throw new GatewayError('internal', 'The disk is full');
      },
    };
    shell = createImagesShell({ objects: objects as never });
    expect((await shell.post('/generations', {})).status).toBe(500);
    expect(shell.rows).toEqual([]);
  });

  it('[BILL-10] that are edited cost as much as others of their size', async () => {
    const body = { model: editId, size: '768x512', n: 2 };
    const edited = await usage({ ...body, images }, '/edits');
    expect(edited).toEqual(await usage(body, '/generations'));
    expect(shell.rows.map(({ operation, modelId }) => [operation, modelId])).toEqual([
      ['images', editId],
      ['images', editId],
    ]);
  });
});

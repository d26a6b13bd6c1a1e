import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PackDeclaration } from '../packs/types.ts';
import { createFinder } from './files.ts';

const pack: PackDeclaration = {
  name: 'small',
  runtime: 'onnx',
  licence: 'MIT',
  tarballs: [],
  files: [],
  options: { pooling: 'mean' },
};

const find = createFinder({
  packs: {
    find: (name) => (name === 'small' ? pack : undefined),
    require: async () => ({ model: '/data/models/small/model.onnx' }),
  },
  hub: { require: async () => '/data/models/by-address/x/some.gguf' },
});

describe('the files of a model', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-files-'));
    await writeFile(join(folder, 'one.gguf'), 'GGUF');
    await mkdir(join(folder, 'exported', 'onnx'), { recursive: true });
    await writeFile(join(folder, 'exported', 'onnx', 'model.onnx'), '');
    await writeFile(join(folder, 'exported', 'onnx', 'model_quantized.onnx'), '');
    await mkdir(join(folder, 'empty'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are those of a pack, with its options and what helps when they are damaged', async () => {
    const found = await find('small');
    expect(found).toMatchObject({ name: 'small', files: { model: '/data/models/small/model.onnx' } });
    expect(found.options).toEqual({ pooling: 'mean' });
    expect(found.remedy).toContain('roundhouse models remove small');
  });

  it('are a file on this machine, named by its path or its address', async () => {
    const path = join(folder, 'one.gguf');
    const expected = { name: 'one.gguf', files: { model: path }, options: {} };
    expect(await find(`file:${path}`)).toEqual(expected);
    expect(await find(pathToFileURL(path).href)).toEqual(expected);
    expect(await find(`file:${relative(process.cwd(), path)}`)).toEqual(expected);
  });

  it('are a folder on this machine, with the smaller model in it', async () => {
    const { name, files } = await find(`file:${join(folder, 'exported')}`);
    expect(name).toBe('exported');
    expect(files).toEqual({ model: join(folder, 'exported', 'onnx', 'model_quantized.onnx') });
  });

  it('are a file that was fetched from a hub', async () => {
    const { name, files, remedy } = await find('https://hub.example/some.gguf');
    expect([name, files['model']]).toEqual(['some.gguf', '/data/models/by-address/x/some.gguf']);
    expect(remedy).toContain('deleting models/by-address/x in the data folder');
  });

  it('that are not there are named without their path, and no retry helps', async () => {
    for (const address of [
      `file:${join(folder, 'none.gguf')}`,
      `file:${join(folder, 'empty')}`,
      'unheard-of',
    ]) {
      const failure = await find(address).catch((error: unknown) => error as Error);
      expect(failure).toMatchObject({ kind: 'internal', permanent: true });
      expect((failure as Error).message).toMatch(/none\.gguf|empty|unheard-of/);
      expect((failure as Error).message).not.toContain(folder);
    }
  });
});

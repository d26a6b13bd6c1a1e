import { copyFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pullTimeoutMs } from '../../../test/support/packs.ts';
import { openTextModels, type TextModels } from '../../../test/support/text-models.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { EmbeddingInput, EmbeddingPort, EmbeddingRequest } from '../contract/embedding.ts';
import { createEmbeddingPort } from './embedding.ts';
import type { ModelFiles, ModelHost, Task } from './host/index.ts';
import type { EmbedInput, EmbedOutput } from './onnx/types.ts';
import { dot } from './onnx/vectors.ts';

const minilm = 'all-minilm-l6-v2';
const bge = 'bge-small-en-v1.5';
const { signal } = new AbortController();

let models: TextModels;
let port: EmbeddingPort;

beforeAll(async () => {
  models = await openTextModels(minilm, bge);
  port = createEmbeddingPort(models);
}, pullTimeoutMs);
afterAll(() => models?.close());

const ask = (
  inputs: readonly EmbeddingInput[],
  fields: Partial<EmbeddingRequest> = {},
): EmbeddingRequest => ({
  model: minilm,
  inputs,
  maxTokens: 256,
  ...fields,
});
const embed = (inputs: readonly EmbeddingInput[], fields?: Partial<EmbeddingRequest>) =>
  port.embed(ask(inputs, fields), signal);

async function cosine(model: string, a: string, b: string): Promise<number> {
  const { vectors } = await embed([a, b], { model });
  return dot(vectors[0] as Float32Array, vectors[1] as Float32Array);
}

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

const related = [
  ['How do I reset my password?', 'I forgot my password and need a new one.'],
  ['A cat sits on the mat.', 'The kitten is lying on a rug.'],
] as const;
const unrelated = [
  ['How do I reset my password?', 'The volcano erupted in the early morning.'],
  ['A cat sits on the mat.', 'Interest rates rose by half a per cent.'],
] as const;

describe('a pair of texts', () => {
  it('is near to each other when they are related, and far when not, on all-minilm-l6-v2', async () => {
    for (const [a, b] of related) expect(await cosine(minilm, a, b)).toBeGreaterThan(0.5);
    for (const [a, b] of unrelated) expect(await cosine(minilm, a, b)).toBeLessThan(0.25);
  });

  it('is so on bge-small-en-v1.5 with its CLS pooling', async () => {
    for (const [a, b] of related) expect(await cosine(bge, a, b)).toBeGreaterThan(0.7);
    for (const [a, b] of unrelated) expect(await cosine(bge, a, b)).toBeLessThan(0.55);
  });
});

describe('vectors', () => {
  it('have 384 numbers and length 1', async () => {
    const { vectors } = await embed(['one', 'another', '']);
    for (const vector of vectors) {
      expect(vector).toHaveLength(384);
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  it('[EMB-8] come in the order of their inputs, however these are split', async () => {
    const texts = Array.from({ length: 150 }, (_, i) => `Text ${i}: ${'word '.repeat((i * 37) % 60)}`);
    const { vectors } = await embed(texts);
    for (const index of [0, 1, 63, 64, 149]) {
      const alone = await embed([texts[index] as string]);
      expect(dot(vectors[index] as Float32Array, alone.vectors[0] as Float32Array)).toBeCloseTo(1, 5);
    }
  });

  it('do not change with their neighbours on a quantized model', async () => {
    const alone = await embed(['A cat sits on the mat.']);
    const among = await embed([
      'Quantum chromodynamics describes the strong interaction.',
      'A cat sits on the mat.',
    ]);
    expect(among.vectors[1]).toEqual(alone.vectors[0]);
  });

  it('may be shorter, and have length 1 then too', async () => {
    const [vector] = (await embed(['short'], { dimensions: 64 })).vectors as [Float32Array];
    const [whole] = (await embed(['short'])).vectors as [Float32Array];
    expect(vector).toHaveLength(64);
    expect(dot(vector, vector)).toBeCloseTo(1, 5);
    expect((vector[1] as number) / (vector[0] as number)).toBeCloseTo(
      (whole[1] as number) / (whole[0] as number),
      4,
    );
  });

  it('cannot be longer than the model makes them', async () => {
    expect(await failureOf(embed(['x'], { dimensions: 385 }))).toMatchObject({
      kind: 'invalid_request',
      param: 'dimensions',
    });
  });
});

describe('a batch', () => {
  it('gives every text nearly the vector that it has alone, padded or not', async () => {
    const texts = ['Short.', 'A sentence of some more words than the first.', 'Middle one here.', 'Short!'];
    const files = await models.resolve(minilm);
    const batching = createEmbeddingPort({
      host: models.host,
      resolve: async () => ({ ...files, options: { ...files.options, batch: true } }),
    });
    const { vectors, promptTokens } = await batching.embed(ask(texts), signal);
    const apart = await embed(texts);
    expect(promptTokens).toBe(apart.promptTokens);
    vectors.forEach((vector, i) => {
      expect(dot(vector, apart.vectors[i] as Float32Array)).toBeGreaterThan(0.97);
      expect(vector).not.toEqual(apart.vectors[i]);
    });
  });
});

describe('tokens', () => {
  it('[EMB-20] are counted as the model reads them, with its marks', async () => {
    expect((await embed(['hello world'])).promptTokens).toBe(4);
    expect((await embed(['hello world', 'hello'])).promptTokens).toBe(7);
    expect((await embed([''])).promptTokens).toBe(2);
  });

  it('[EMB-19] beyond the maximum are cut off', async () => {
    const start = 'engine '.repeat(30).trim();
    const long = `${start} ${'volcano '.repeat(400_000)}`;
    const cut = await embed([long], { maxTokens: 32 });
    expect(cut.promptTokens).toBe(32);
    expect(cut.vectors).toEqual((await embed([start])).vectors);
    expect((await embed([long], { maxTokens: 100_000 })).promptTokens).toBe(512);
  });

  it('[EMB-4] may be the input, with or without the marks', async () => {
    const text = await embed(['hello world']);
    const bare = await embed([[7592, 2088]]);
    const marked = await embed([[101, 7592, 2088, 102]]);
    expect(bare).toEqual(text);
    expect(marked).toEqual(text);
  });

  it('that the model does not know are refused with their place', async () => {
    const failure = await failureOf(embed([[7592], [7592, 30_522]]));
    expect(failure).toMatchObject({ kind: 'invalid_request', param: 'input' });
    expect(failure.message).toContain('input[1]: 30522');
    const late = await failureOf(embed([...Array.from({ length: 100 }, () => [7592]), [30_522]]));
    expect(late.message).toContain('input[100]: 30522');
  });
});

describe('many inputs', () => {
  it('are handed over in tasks of bounded work, whose rest is not refused', async () => {
    const tasks: Task[] = [];
    const host: ModelHost = {
      async run<T>(task: Task) {
        tasks.push(task);
        const { inputs } = task.input as EmbedInput;
        const output: EmbedOutput = {
          vectors: Float32Array.from(inputs, (input) => Number.parseInt(input as string, 10)),
          dimensions: 1,
          tokens: inputs.length,
        };
        return output as T;
      },
      start: () => ({ abort() {} }),
      close: async () => {},
    };
    const files: ModelFiles = { name: 'x', files: {}, options: {} };
    const sliced = createEmbeddingPort({ host, resolve: async () => files });
    const texts = Array.from({ length: 300 }, (_, i) => `${i} ${i < 200 ? '' : 'word '.repeat(100)}`);
    const { vectors, promptTokens } = await sliced.embed(ask(texts), signal);
    expect(vectors.map(([value]) => value)).toEqual(texts.map((_, i) => i));
    expect(promptTokens).toBe(300);
    const inputs = tasks.map(({ input }) => input as EmbedInput);
    expect(inputs.slice(0, 4).map((input) => input.inputs.length)).toEqual([64, 64, 64, 24]);
    expect(inputs.slice(0, 3).map(({ firstIndex }) => firstIndex)).toEqual([0, 64, 128]);
    expect(tasks.map(({ isContinued }) => isContinued)).toEqual(tasks.map((_, i) => i > 0));
    await sliced.embed(ask([texts[299]!.repeat(1_000), 'a']), signal);
    const last = tasks.at(-1)?.input as EmbedInput;
    expect(last.inputs).toHaveLength(2);
  });

  it('of one caller leave room for another, however many calls they are', async () => {
    const cancel = new AbortController();
    const text = 'The quick brown fox jumps over the lazy dog near the river bank. '.repeat(18);
    const inputs = Array.from({ length: 2_048 }, (_, i) => `${i} ${text}`);
    const all = Array.from({ length: 8 }, () =>
      port.embed(ask(inputs), cancel.signal).catch(() => 'cancelled'),
    );
    expect((await embed(['hello'])).vectors).toHaveLength(1);
    cancel.abort();
    expect(await Promise.all(all)).toEqual(Array(8).fill('cancelled'));
    await models.host.drained();
  });
});

describe('2,048 long inputs', () => {
  const many = Array.from(
    { length: 2_048 },
    (_, i) => `${i} ${'a rather long text about engines '.repeat(90)}`,
  );

  it('let a short request pass, and stop when they are cancelled', async () => {
    const cancel = new AbortController();
    let isDone = false;
    const long = port.embed(ask(many, { maxTokens: 512 }), cancel.signal).finally(() => {
      isDone = true;
    });
    const ended = long.catch((error: unknown) => error);
    await embed(['a short one']);
    expect(isDone).toBe(false);
    cancel.abort(new Error('the client left'));
    expect(await ended).toMatchObject({ message: 'the client left' });
    // All of it would take longer than a test may.
    await models.host.drained();
  });
});

describe('a folder that the configuration names', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-onnx-'));
    const { files } = await models.resolve(bge);
    await mkdir(join(folder, 'onnx'));
    await copyFile(files['model'] as string, join(folder, 'onnx', 'model.onnx'));
    await copyFile(files['tokenizer'] as string, join(folder, 'tokenizer.json'));
    await copyFile(files['config'] as string, join(folder, 'config.json'));
    await mkdir(join(folder, '1_Pooling'));
    await writeFile(join(folder, '1_Pooling', 'config.json'), '{"pooling_mode_cls_token":true}');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const of = (files: ModelFiles) => createEmbeddingPort({ host: models.host, resolve: async () => files });
  const named = (name: string): ModelFiles => ({
    name,
    files: { model: join(folder, 'onnx', 'model.onnx') },
    options: {},
  });

  it('gives the vectors that the pack of the same model gives', async () => {
    const own = await of(named('my-bge')).embed(ask(['hello world']), signal);
    expect(own).toEqual(await embed(['hello world'], { model: bge }));
  });

  it('says which model is damaged when its weights are cut short', async () => {
    await copyFile(join(folder, 'onnx', 'model.onnx'), join(folder, 'onnx', 'cut.onnx'));
    await truncate(join(folder, 'onnx', 'cut.onnx'), 5_000_000);
    const files = { ...named('my-cut'), files: { model: join(folder, 'onnx', 'cut.onnx') } };
    const failure = await failureOf(of(files).embed(ask(['hello']), signal));
    expect(failure).toMatchObject({ kind: 'internal', permanent: true });
    expect(failure.message).toContain('my-cut');
    expect(failure.message).not.toContain(folder);
  });

  it('says what is missing when there is no tokenizer', async () => {
    const alone = join(folder, 'alone');
    await mkdir(alone);
    await copyFile(join(folder, 'onnx', 'model.onnx'), join(alone, 'model.onnx'));
    const files = { ...named('my-half'), files: { model: join(alone, 'model.onnx') } };
    const failure = await failureOf(of(files).embed(ask(['hello']), signal));
    expect(failure.message).toBe('The model my-half cannot be loaded: tokenizer.json is missing');
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTextModel } from './model-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-model-'));
  await put('model.onnx', 'weights');
  await put('tokenizer.json', {});
});
afterEach(() => rm(folder, { recursive: true }));

async function put(path: string, content: unknown): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}

const read = (options: Record<string, unknown> = {}) =>
  readTextModel({ name: 'mine', files: { model: join(folder, 'model.onnx') }, options });

describe('pooling', () => {
  it('is mean where nothing says otherwise', async () => {
    expect(await read()).toMatchObject({ pooling: 'mean' });
  });

  it('is what 1_Pooling/config.json says, unless the options know better', async () => {
    await put('1_Pooling/config.json', { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false });
    expect(await read()).toMatchObject({ pooling: 'cls' });
    expect(await read({ pooling: 'last' })).toMatchObject({ pooling: 'last' });
  });

  it('that nobody knows is refused by name', async () => {
    await put('1_Pooling/config.json', { pooling_mode_weightedmean_tokens: true });
    await expect(read()).rejects.toThrow('1_Pooling/config.json asks for pooling_mode_weightedmean_tokens');
    await expect(read({ pooling: 'sum' })).rejects.toThrow('pooling is sum');
  });
});

describe('the length that a model reads', () => {
  it('is the shortest that any of its files names', async () => {
    expect((await read()).maxTokens).toBe(Number.POSITIVE_INFINITY);
    await put('config.json', { max_position_embeddings: 512, model_type: 'bert', pad_token_id: 0 });
    await put('tokenizer_config.json', { model_max_length: 1e30 });
    expect((await read()).maxTokens).toBe(512);
    await put('sentence_bert_config.json', { max_seq_length: 256 });
    expect((await read()).maxTokens).toBe(256);
  });

  it('is two less than the positions of a RoBERTa', async () => {
    await put('config.json', { max_position_embeddings: 514, model_type: 'xlm-roberta', pad_token_id: 1 });
    expect((await read()).maxTokens).toBe(512);
  });
});

describe('a model', () => {
  it('takes batches unless it quantizes as it runs', async () => {
    expect((await read()).canBatch).toBe(true);
    // Across the edge of what is read at once.
    await put('model.onnx', `${'x'.repeat((1 << 20) - 5)}DynamicQuantizeLinear`);
    expect((await read()).canBatch).toBe(false);
    expect((await read({ batch: true })).canBatch).toBe(true);
  });

  it('with layers behind its pooling is refused', async () => {
    await put('modules.json', [{ type: 'sentence_transformers.models.Transformer' }]);
    await read();
    await put('modules.json', [{ type: 'sentence_transformers.models.Dense' }]);
    await expect(read()).rejects.toThrow('sentence_transformers.models.Dense, which is not supported');
  });

  it('whose file is no JSON is refused by the name of the file', async () => {
    await put('config.json', '{');
    await expect(read()).rejects.toMatchObject({
      kind: 'internal',
      permanent: true,
      message: 'The model mine cannot be loaded: config.json is not JSON',
    });
  });
});

/**
 * What a folder with an ONNX text model says about itself: a pack names its files and options, and the rest is
 * read beside them, as sentence-transformers lays it out.
 */
import { open, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GatewayError } from '../../../lib/errors.ts';
import type { ModelFiles } from '../host/types.ts';
import { type Pooling, poolings } from './pooling.ts';

export interface TextModel {
  readonly name: string;
  readonly model: string;
  readonly tokenizerJson: object;
  readonly tokenizerConfig: object;
  readonly pooling: Pooling;
  /** The most tokens that the model reads, its marks included. */
  readonly maxTokens: number;
  readonly vocabularySize: number | undefined;
  readonly padId: number;
  /** Whether several texts may go through the model together. */
  readonly canBatch: boolean;
}

type Settings = Readonly<Record<string, unknown>>;

export async function readTextModel({ name, files, options }: ModelFiles): Promise<TextModel> {
  const { model } = files;
  if (model === undefined) throw unusable(name, 'no file of it is an ONNX model');
  const beside = dirname(model);
  // Exporters put the model into a folder of its own, and its tokenizer one above.
  const folder = basename(beside) === 'onnx' ? dirname(beside) : beside;
  const settings = (file: string) => readSettings(name, join(folder, file));

  const tokenizerJson = await readSettings(name, files.tokenizer ?? join(folder, 'tokenizer.json'));
  if (tokenizerJson === undefined) throw unusable(name, 'tokenizer.json is missing');
  const tokenizerConfig =
    (files.tokenizerConfig === undefined
      ? await settings('tokenizer_config.json')
      : await readSettings(name, files.tokenizerConfig)) ?? {};
  const config =
    (files.config === undefined ? await settings('config.json') : await readSettings(name, files.config)) ??
    {};
  const sentences = (await settings('sentence_bert_config.json')) ?? {};
  await refuseOtherModules(name, join(folder, 'modules.json'));

  return {
    name,
    model,
    tokenizerJson,
    tokenizerConfig,
    pooling: toPooling(name, options.pooling) ?? readPooling(name, await settings('1_Pooling/config.json')),
    maxTokens: Math.min(
      toPositions(config),
      toLength(sentences.max_seq_length),
      toLength(tokenizerConfig.model_max_length),
      toLength(options.maxTokens),
    ),
    vocabularySize: typeof config.vocab_size === 'number' ? config.vocab_size : undefined,
    padId: typeof config.pad_token_id === 'number' ? config.pad_token_id : 0,
    canBatch: typeof options.batch === 'boolean' ? options.batch : !(await isDynamicallyQuantized(model)),
  };
}

async function readSettings(name: string, path: string): Promise<Settings | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Settings;
  } catch (cause) {
    throw unusable(name, `${basename(path)} is not JSON`, cause);
  }
}

/** Positions that RoBERTa and its kin have, but cannot use: they count from after the padding token. */
function toPositions({ max_position_embeddings, model_type, pad_token_id }: Settings): number {
  const positions = toLength(max_position_embeddings);
  const isOffset = typeof model_type === 'string' && /roberta|camembert|mpnet/.test(model_type);
  return isOffset && typeof pad_token_id === 'number' ? positions - pad_token_id - 1 : positions;
}

/** A tokenizer without a limit says 1e30. */
function toLength(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : Number.POSITIVE_INFINITY;
}

function toPooling(name: string, value: unknown): Pooling | undefined {
  if (value === undefined) return undefined;
  const pooling = poolings.find((each) => each === value);
  if (pooling === undefined) {
    throw unusable(name, `pooling is ${String(value)}, and can be ${poolings.join(', ')}`);
  }
  return pooling;
}

const poolingFlags: Readonly<Record<string, Pooling>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'last',
};

/** As sentence-transformers writes it: one flag per mode, several of which would be put one after the other. */
function readPooling(name: string, config: Settings | undefined): Pooling {
  if (config === undefined) return 'mean';
  const set = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  const [flag] = set;
  const pooling = flag === undefined ? undefined : poolingFlags[flag];
  if (set.length !== 1 || pooling === undefined) {
    throw unusable(name, `1_Pooling/config.json asks for ${set.join(' and ') || 'no pooling'}`);
  }
  return pooling;
}

/** A model with a dense layer behind its pooling would give wrong vectors without a word. */
async function refuseOtherModules(name: string, path: string): Promise<void> {
  const modules = (await readSettings(name, path)) ?? [];
  if (!Array.isArray(modules)) throw unusable(name, 'modules.json is not a list');
  for (const { type } of modules as { type?: unknown }[]) {
    if (!/\.(Transformer|Pooling|Normalize)$/.test(String(type))) {
      throw unusable(name, `modules.json names ${String(type)}, which is not supported`);
    }
  }
}

const quantizingOperator = 'DynamicQuantizeLinear';

/**
 * Such a model scales its numbers by the largest in the whole batch, so a text's vector changes with its
 * neighbours: all-MiniLM's has a cosine of 0.995 to itself beside one other text.
 */
async function isDynamicallyQuantized(model: string): Promise<boolean> {
  const file = await open(model);
  try {
    let end = '';
    for await (const bytes of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      const text = end + (bytes as Buffer).toString('latin1');
      if (text.includes(quantizingOperator)) return true;
      end = text.slice(-quantizingOperator.length);
    }
    return false;
  } finally {
    await file.close();
  }
}

export function unusable(name: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('internal', `The model ${name} cannot be loaded: ${reason}`, {
    permanent: true,
    cause,
  });
}

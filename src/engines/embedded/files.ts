/**
 * Finds the files of a model by what the catalogue says the engine calls it: the name of a pack, `file:` and a
 * path on this machine (a GGUF file, or a folder with an ONNX model), or the address of a GGUF file on a hub.
 */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve as toAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../lib/errors.ts';
import type { Packs } from '../packs/types.ts';
import type { ModelFiles } from './host/types.ts';
import type { HubFiles } from './hub.ts';

export interface FinderParts {
  readonly packs: Pick<Packs, 'find' | 'require'>;
  readonly hub: Pick<HubFiles, 'require'>;
}

/** Rejects with what is in the way: the model is being fetched, or is not there. */
export type FindFiles = (model: string) => Promise<ModelFiles>;

export function createFinder({ packs, hub }: FinderParts): FindFiles {
  return async (model) => {
    if (model.startsWith('file:')) return findLocal(model);
    if (/^https?:/.test(model)) {
      const path = await hub.require(model);
      return {
        name: basename(path),
        files: { model: path },
        options: {},
        remedy: `On the gateway's machine, deleting models/by-address/${basename(dirname(path))} in the data folder makes way for a fresh copy`,
      };
    }
    const pack = packs.find(model);
    if (pack === undefined) throw unknown(model);
    return {
      name: model,
      files: await packs.require(model),
      options: pack.options ?? {},
      remedy: `On the gateway's machine, "roundhouse models remove ${model}" makes way for a fresh copy`,
    };
  };
}

/** Where exporters put the model in a folder, the smaller one first. */
const onnxPlaces = [
  'model.onnx',
  'model_quantized.onnx',
  'onnx/model_quantized.onnx',
  'onnx/model_int8.onnx',
  'onnx/model.onnx',
];

async function findLocal(address: string): Promise<ModelFiles> {
  const path = toPath(address);
  const name = basename(path);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw absent(name);
  if (!found.isDirectory()) return { name, files: { model: path }, options: {} };
  const names = await readdir(path, { recursive: true });
  const model =
    onnxPlaces.find((place) => names.includes(place)) ?? names.find((each) => each.endsWith('.gguf'));
  if (model === undefined) throw absent(name);
  return { name, files: { model: join(path, model) }, options: {} };
}

function toPath(address: string): string {
  return address.startsWith('file:///') ? fileURLToPath(address) : toAbsolute(address.slice('file:'.length));
}

/** Clients hear no paths. */
function absent(name: string): GatewayError {
  const message = `The model ${name} is not where the configuration says: there is no GGUF file or ONNX folder`;
  return new GatewayError('internal', message, { permanent: true });
}

function unknown(model: string): GatewayError {
  const message = `The embedded engine has no model ${model}: "roundhouse models list" shows what there is`;
  return new GatewayError('internal', message, { permanent: true });
}

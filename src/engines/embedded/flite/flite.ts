/** Flite in memory: the compiled module, started anew for every piece, so that nothing of one is left in the next. */
import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../../lib/errors.ts';
import { speechSampleRate } from '../../contract/speech.ts';
import type { LoadedModel, ModelFiles, Runtime } from '../host/types.ts';
import { resample, toInt16, trimSilence } from '../speech/sound.ts';
import type { SpeakInput } from '../speech/types.ts';
import { createMemorySystem, ProgramExit } from './system.ts';
import { parseWav } from './wav.ts';

/** For any other name it takes its first voice without a word. */
const voices = ['slt', 'rms', 'awb', 'kal16'];

export function createFliteRuntime(): Runtime {
  return {
    async load({ name, files }: ModelFiles): Promise<LoadedModel> {
      assert(files.model !== undefined, 'the pack has the program');
      const module = await WebAssembly.compile(await readFile(files.model));
      return {
        concurrency: 1,
        async run({ kind, input }) {
          if (kind !== 'speak') throw new GatewayError('internal', `The model ${name} does not do ${kind}`);
          return speak(module, input as SpeakInput);
        },
        dispose: async () => {},
      };
    },
  };
}

async function speak(module: WebAssembly.Module, { text, voice, ending }: SpeakInput): Promise<Int16Array> {
  if (!voices.includes(voice))
    throw new GatewayError('invalid_request', `voice: the model has no voice ${voice}`, { param: 'voice' });
  const said = toAscii(text);
  if (!/[A-Za-z0-9]/.test(said)) return new Int16Array();
  const system = createMemorySystem(['flite', '-voice', voice, '-t', said, '-o', '/speech.wav']);
  const instance = await WebAssembly.instantiate(module, system.imports);
  const { memory, _start } = instance.exports as { memory: WebAssembly.Memory; _start: () => void };
  system.attach(memory);
  try {
    _start();
  } catch (error) {
    if (!(error instanceof ProgramExit) || error.code !== 0) throw failed(system.complaints(), error);
  }
  const wav = parseWav(system.output());
  if (wav === undefined) throw failed(system.complaints());
  return toInt16(trimSilence(resample(wav.samples, wav.sampleRate, speechSampleRate), ending));
}

/** It reads ASCII: accents are dropped, typographic marks become plain ones, the rest is left out. */
function toAscii(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[“”«»„]/g, '"')
    .replace(/[–—]/g, ', ')
    .replace(/…/g, '.')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}

function failed(complaints: string, cause?: unknown): GatewayError {
  return new GatewayError('internal', 'The model flite cannot say this text', {
    cause: cause ?? new Error(complaints),
  });
}

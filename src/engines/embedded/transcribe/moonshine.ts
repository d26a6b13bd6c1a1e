/** Moonshine, in English: it hears the samples themselves, and takes as long as they are. */
import { readFile } from 'node:fs/promises';
import { Tensor } from 'onnxruntime-node';
import type { LoadedModel, ModelFiles } from '../host/types.ts';
import { unusable } from '../onnx/model-files.ts';
import { type Decode, readLlamaVocabulary } from './llama-vocabulary.ts';
import { Decoding, loadSessions, type SpeechSessions } from './speech-decoder.ts';
import type { TranscribeInput, TranscribeOutput } from './types.ts';
import { better, isLost, toTemperatures, type Writing, write } from './writing.ts';

const startToken = 1;
const endToken = 2;
const sampleRate = 16_000;
/** Nobody speaks faster; and no more than the decoder has places for. */
const tokensPerSecond = 6.5;
const mostTokens = 192;
/** The encoder's filters need as much to begin with. */
const fewestSamples = sampleRate / 4;

export async function loadMoonshine({ name, files }: ModelFiles, threads: number): Promise<LoadedModel> {
  if (files['vocabulary'] === undefined) throw unusable(name, 'its vocabulary is missing');
  const decode = readLlamaVocabulary(await readFile(files['vocabulary'], 'utf8'));
  if (decode === undefined) throw unusable(name, 'its vocabulary cannot be read');
  const sessions = await loadSessions(name, files, threads);
  return {
    concurrency: 1,
    run: (task, emit, signal) => transcribe(sessions, decode, task.input as TranscribeInput, emit, signal),
    async dispose() {
      await sessions.encoder.release();
      await sessions.decoder.release();
    },
  };
}

async function transcribe(
  { encoder, decoder }: SpeechSessions,
  decode: Decode,
  { samples, temperature = 0 }: TranscribeInput,
  emit: (part: unknown) => void,
  signal: AbortSignal,
): Promise<TranscribeOutput> {
  const sound = new Float32Array(Math.max(samples.length, fewestSamples));
  for (let i = 0; i < samples.length; i++) sound[i] = samples[i]! / 32_768;
  const outputs = await encoder.run({ input_values: new Tensor('float32', sound, [1, sound.length]) });
  const heard = outputs['last_hidden_state'] as Tensor;
  try {
    let best: Writing | undefined;
    for (const each of toTemperatures(temperature)) {
      const decoding = new Decoding(decoder, heard);
      try {
        const parts = {
          decoding,
          start: [startToken],
          endToken,
          mostTokens: Math.min(mostTokens, Math.ceil((sound.length / sampleRate) * tokensPerSecond)),
          temperature: each,
          onStep: () => emit('step'),
        };
        const writing = await write(parts, signal);
        best = best === undefined ? writing : better(best, writing);
        if (!isLost(writing)) break;
      } finally {
        decoding.dispose();
      }
    }
    return { text: decode(best?.tokens ?? []).trim(), language: 'en' };
  } finally {
    heard.dispose();
  }
}

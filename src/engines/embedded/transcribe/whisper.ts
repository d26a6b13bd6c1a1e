/** Whisper, in many languages: 30 seconds at a time, guided by what was said before. */
import { readFile } from 'node:fs/promises';
import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { GatewayError } from '../../../lib/errors.ts';
import type { LoadedModel, ModelFiles } from '../host/types.ts';
import { unusable } from '../onnx/model-files.ts';
import { createLogMel, melBands, melFrames } from './log-mel.ts';
import { probabilityOf } from './sampling.ts';
import { Decoding, loadSessions, type SpeechSessions } from './speech-decoder.ts';
import type { TranscribeInput, TranscribeOutput } from './types.ts';
import { readWhisperTokens, type WhisperTokens } from './whisper-tokens.ts';
import { better, isLost, toTemperatures, type Writing, write } from './writing.ts';

/** Half of what the decoder reads is for what was said before, half for the transcript, as it was trained. */
const mostPromptTokens = 223;
const mostTokens = 224;
/** Above this the model thinks that nobody spoke; together with a guess, nothing was said. */
const noSpeechThreshold = 0.6;

export async function loadWhisper({ name, files }: ModelFiles, threads: number): Promise<LoadedModel> {
  const [tokenizer, tokenizerConfig, generation] = await Promise.all(
    ['tokenizer', 'tokenizerConfig', 'generation'].map((role) => readSettings(name, files[role])),
  );
  const tokens = readWhisperTokens(
    name,
    tokenizer as object,
    tokenizerConfig as object,
    generation as object,
  );
  const sessions = await loadSessions(name, files, threads);
  const whisper = new Whisper(sessions, tokens);
  return {
    // One at a time takes all threads; a stretch is short, and the next request's turn comes after it.
    concurrency: 1,
    run: (task, emit, signal) => whisper.transcribe(task.input as TranscribeInput, emit, signal),
    async dispose() {
      await sessions.encoder.release();
      await sessions.decoder.release();
    },
  };
}

async function readSettings(name: string, path: string | undefined): Promise<unknown> {
  if (path === undefined) throw unusable(name, 'a file of its tokenizer is missing');
  return JSON.parse(await readFile(path, 'utf8'));
}

class Whisper {
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;
  readonly #tokens: WhisperTokens;
  readonly #logMel = createLogMel();

  constructor({ encoder, decoder }: SpeechSessions, tokens: WhisperTokens) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#tokens = tokens;
  }

  async transcribe(
    { samples, language, prompt = '', temperature = 0 }: TranscribeInput,
    emit: (part: unknown) => void,
    signal: AbortSignal,
  ): Promise<TranscribeOutput> {
    const heard = await this.#hear(samples);
    try {
      emit('heard');
      const spoken = language === undefined ? await this.#detect(heard, signal) : this.#find(language);
      const { tokens, isSilent } = await this.#write(heard, spoken, prompt, temperature, signal, emit);
      const code = language ?? this.#tokens.languageTokens.get(spoken);
      const text = isSilent ? '' : this.#tokens.decode(tokens).trim();
      return { text, ...(code === undefined ? {} : { language: code }) };
    } finally {
      heard.dispose();
    }
  }

  async #hear(samples: Int16Array): Promise<Tensor> {
    const features = new Tensor('float32', this.#logMel(samples), [1, melBands, melFrames]);
    // By name: the file also gives every attention, a hundred megabytes that nobody reads.
    const outputs = await this.#encoder.run({ input_features: features }, ['last_hidden_state']);
    return outputs['last_hidden_state'] as Tensor;
  }

  #find(language: string): number {
    const token = this.#tokens.languages.get(language);
    if (token !== undefined) return token;
    throw new GatewayError('invalid_request', `language: the model does not know ${language}`, {
      param: 'language',
    });
  }

  /** The likeliest language behind the very first mark. */
  async #detect(heard: Tensor, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const decoding = new Decoding(this.#decoder, heard);
    try {
      const scores = await decoding.step([this.#tokens.start]);
      let [best = this.#tokens.start] = this.#tokens.languageTokens.keys();
      for (const token of this.#tokens.languageTokens.keys())
        if (scores[token]! > scores[best]!) best = token;
      return best;
    } finally {
      decoding.dispose();
    }
  }

  async #write(
    heard: Tensor,
    language: number,
    prompt: string,
    temperature: number,
    signal: AbortSignal,
    emit: (part: unknown) => void,
  ): Promise<{ tokens: readonly number[]; isSilent: boolean }> {
    const { start, transcribe, noTimestamps } = this.#tokens;
    const marks = [start, language, transcribe, noTimestamps];
    const previous = this.#toPrevious(prompt);
    let best: Writing | undefined;
    let noSpeech = 0;
    for (const [attempt, each] of toTemperatures(temperature).entries()) {
      // What was said before can lead astray: after a failure the model listens without it.
      const isPrompted = attempt === 0;
      const writing = await this.#attempt(
        heard,
        isPrompted ? [...previous, ...marks] : marks,
        each,
        (share) => {
          noSpeech = share;
        },
        signal,
        emit,
      );
      best = best === undefined ? writing : better(best, writing);
      if (!isLost(writing)) break;
      // Another attempt would only guess again what nobody said.
      if (noSpeech > noSpeechThreshold) break;
    }
    const writing = best as Writing;
    return { tokens: writing.tokens, isSilent: noSpeech > noSpeechThreshold && isLost(writing) };
  }

  async #attempt(
    heard: Tensor,
    start: readonly number[],
    temperature: number,
    onNoSpeech: (share: number) => void,
    signal: AbortSignal,
    emit: (part: unknown) => void,
  ): Promise<Writing> {
    const { endOfText, never, neverFirst, noSpeech, start: startToken } = this.#tokens;
    const decoding = new Decoding(this.#decoder, heard);
    try {
      const parts = {
        decoding,
        start,
        endToken: endOfText,
        mostTokens,
        temperature,
        prepare(scores: Float32Array, count: number) {
          for (const token of never) scores[token] = Number.NEGATIVE_INFINITY;
          if (count === 0) for (const token of neverFirst) scores[token] = Number.NEGATIVE_INFINITY;
        },
        onStart(rows: Float32Array) {
          const width = rows.length / start.length;
          const row = start.indexOf(startToken);
          onNoSpeech(probabilityOf(rows.subarray(row * width, (row + 1) * width), noSpeech));
        },
        onStep: () => emit('step'),
      };
      return await write(parts, signal);
    } finally {
      decoding.dispose();
    }
  }

  #toPrevious(prompt: string): number[] {
    if (prompt === '') return [];
    const ids = this.#tokens.encode(` ${prompt}`).filter((id) => id < this.#tokens.endOfText);
    return [this.#tokens.startOfPrevious, ...ids.slice(-mostPromptTokens)];
  }
}

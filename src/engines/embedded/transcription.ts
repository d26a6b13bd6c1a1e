/** Transcription by a model of the process that runs speech recognition. */
import type { TranscriptionPort } from '../contract/transcription.ts';
import type { ModelFiles, ModelHost } from './host/types.ts';
import type { TranscribeInput, TranscribeOutput } from './transcribe/types.ts';

export interface TranscriptionPortParts {
  readonly host: ModelHost;
  /** The files of the model that a request names. */
  resolve(model: string): Promise<ModelFiles>;
}

export function createTranscriptionPort({ host, resolve }: TranscriptionPortParts): TranscriptionPort {
  return {
    async transcribe({ model, samples, language, prompt, temperature }, signal) {
      const input: TranscribeInput = {
        samples,
        ...(language === undefined ? {} : { language }),
        ...(prompt === undefined ? {} : { prompt }),
        ...(temperature === undefined ? {} : { temperature }),
      };
      const files = await resolve(model);
      return host.run<TranscribeOutput>({ model: files, kind: 'transcribe', input }, signal);
    },
  };
}

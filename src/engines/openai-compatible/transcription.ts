/** The transcription port: a stretch of speech as a WAV file in a form, and its text from whichever route there is. */
import {
  type TranscriptionPort,
  type TranscriptionRequest,
  type TranscriptionResult,
  transcriptionSampleRate,
} from '../contract/transcription.ts';
import { failures } from './failures.ts';
import type { TranscriptionQuirks } from './flavor.ts';
import { Form } from './form.ts';
import { toLanguageCode } from './languages.ts';
import type { Answer, FormQuestions } from './questions.ts';

export interface TranscriptionParts {
  questions: Pick<FormQuestions, 'postForm'>;
  quirks: TranscriptionQuirks;
}

export function createTranscriptionPort({ questions, quirks }: TranscriptionParts): TranscriptionPort {
  return {
    transcribe: (request, signal) =>
      questions.postForm(quirks.route, toForm(request, quirks), readTranscript, signal),
  };
}

function toForm(request: TranscriptionRequest, quirks: TranscriptionQuirks): Form {
  const { model, samples, prompt, temperature } = request;
  const fields = {
    model,
    ...quirks.fields(request),
    ...(prompt === undefined ? {} : { prompt }),
    ...(temperature === undefined ? {} : { temperature: String(temperature) }),
  };
  const bytes = toWav(samples);
  return new Form(fields, [{ field: 'file', filename: 'audio.wav', type: 'audio/wav', bytes }]);
}

export function readTranscript({ json }: Answer): TranscriptionResult {
  const { text, language } = json as { text?: unknown; language?: unknown };
  if (typeof text !== 'string') throw failures.unreadable(new Error('the answer has no text'));
  const code = typeof language === 'string' ? toLanguageCode(language) : undefined;
  return { text, ...(code === undefined ? {} : { language: code }) };
}

const headerBytes = 44;

/** 16 bit, mono. Every platform that we run on is little-endian, as WAV is. */
function toWav({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  const head = Buffer.alloc(headerBytes);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(headerBytes - 8 + byteLength, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // mono
  head.writeUInt32LE(transcriptionSampleRate, 24);
  head.writeUInt32LE(transcriptionSampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(byteLength, 40);
  return Buffer.concat([head, Buffer.from(buffer, byteOffset, byteLength)]);
}

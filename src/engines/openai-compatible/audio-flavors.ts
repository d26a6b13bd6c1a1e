/** Servers that speak (one of them draws and films too), and servers that transcribe. */
import type { SpeechRequest } from '../contract/speech.ts';
import type { Fields, Flavor } from './flavor.ts';
import { vllmOmniImages } from './image-quirks.ts';
import { generic, vllm } from './text-flavors.ts';
import { vllmOmniVideos } from './video-quirks.ts';

/** vLLM-Omni, which is a server of its own: one model that speaks, draws or films, beside vLLM's routes. */
export const vllmOmni: Flavor = {
  ...vllm,
  name: 'vllm-omni',
  serves: ['speech', 'chat', 'image', 'video'],
  image: vllmOmniImages,
  video: vllmOmniVideos,
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  transcription: undefined,
  speech: {
    makesVoices: true,
    fields: (request) => ({
      // Raw bytes are what `stream` alone gave at first, and what `stream_format` gives since that became events.
      stream: true,
      stream_format: 'audio',
      // Some models speak at 44.1 kHz.
      sample_rate: 24_000,
      ...given('language', request.language === undefined ? undefined : toLanguageName(request.language)),
      ...given('seed', request.seed),
      ...given('temperature', request.temperature),
      ...given('top_p', request.topP),
      ...given('top_k', request.topK),
      ...toMadeVoice(request),
    }),
  },
};

function toMadeVoice({ voice }: SpeechRequest): Fields {
  if (voice.type === 'builtin') return {};
  if (voice.type === 'design') return { task_type: 'VoiceDesign', instructions: voice.description };
  const clip = `data:audio/wav;base64,${voice.clip.toString('base64')}`;
  // Without a transcript only the timbre is taken; with one the manner too.
  return voice.transcript === undefined
    ? { task_type: 'Base', ref_audio: clip, x_vector_only_mode: true }
    : { task_type: 'Base', ref_audio: clip, ref_text: voice.transcript };
}

const languageNames: Readonly<Record<string, string>> = {
  zh: 'Chinese',
  en: 'English',
  ja: 'Japanese',
  ko: 'Korean',
  de: 'German',
  fr: 'French',
  ru: 'Russian',
  pt: 'Portuguese',
  es: 'Spanish',
  it: 'Italian',
};

/** Qwen3-TTS knows languages by their English names. */
function toLanguageName(language: string): string {
  const name = languageNames[language.toLowerCase()] ?? language;
  return name.slice(0, 1).toUpperCase() + name.slice(1).toLowerCase();
}

/** Kokoro-FastAPI: one model, whose voices begin with the letter of their language. */
export const kokoroFastapi: Flavor = {
  ...generic,
  name: 'kokoro-fastapi',
  serves: ['speech'],
  image: undefined,
  video: undefined,
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  transcription: undefined,
  speech: {
    makesVoices: false,
    fields: ({ language }) => ({
      stream: true,
      ...given('lang_code', language === undefined ? undefined : toLanguageLetter(language)),
    }),
  },
  health: { at: 'root', path: '/health' },
};

const languageLetters: Readonly<Record<string, string>> = {
  es: 'e',
  spanish: 'e',
  fr: 'f',
  french: 'f',
  hi: 'h',
  hindi: 'h',
  it: 'i',
  italian: 'i',
  ja: 'j',
  japanese: 'j',
  pt: 'p',
  portuguese: 'p',
  zh: 'z',
  chinese: 'z',
};

/** English has two letters, and the voice tells which: it is left to the voice, like a language that is not known. */
function toLanguageLetter(language: string): string | undefined {
  return languageLetters[language.toLowerCase()];
}

/** Servers that transcribe and do nothing else. */
const ears = {
  ...generic,
  serves: ['transcription'],
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  speech: undefined,
  image: undefined,
  video: undefined,
  health: { at: 'root', path: '/health' },
} as const satisfies Omit<Flavor, 'name'>;

/** whisper.cpp's server: one model, on a route of its own, one request at a time. */
export const whisperCpp: Flavor = {
  ...ears,
  name: 'whisper.cpp',
  transcription: {
    route: { at: 'root', path: '/inference' },
    fields: ({ language }) => ({
      response_format: 'verbose_json',
      // It would listen a second time for them.
      no_language_probabilities: 'true',
      // Left out it means the language that the server was started with, which is English.
      language: language ?? 'auto',
    }),
  },
};

export const speaches: Flavor = {
  ...ears,
  name: 'speaches',
  transcription: {
    route: { at: 'api', path: '/audio/transcriptions' },
    fields: ({ language }) => ({
      response_format: 'verbose_json',
      ...(language === undefined ? {} : { language }),
      // Silence is left out before.
      vad_filter: 'false',
    }),
  },
};

function given(name: string, value: unknown): Fields {
  return value === undefined ? {} : { [name]: value };
}

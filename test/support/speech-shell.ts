/**
 * The speech routes over an engine and a media process that the test plays, and the gateway's own inference: what
 * is billed, and what is given back, is the real thing.
 */
import { speechRoutes } from '../../src/api/speech/index.ts';
import type { SpeechPort, SpeechRequest, SpeechSink } from '../../src/engines/contract/speech.ts';
import { createLog } from '../../src/lib/log.ts';
import type { LedgerRow } from '../../src/platform/billing/types.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import { createInference } from '../../src/platform/inference/index.ts';
import type { EncodeOptions, Media } from '../../src/platform/media/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

const speaker = {
  type: 'speech',
  engine: 'sandbox',
  maxPromptLength: 20,
  pricing: { completion: '0.0003' },
} as const;

export const speechModels: readonly Declaration[] = [
  {
    ...speaker,
    id: 'every',
    author: 'house',
    engineModel: 'Org/Every',
    voices: [{ id: 'vivian' }, { id: 'ryan' }],
    defaultVoice: 'ryan',
    design: true,
    clone: true,
    instructions: true,
  },
  { ...speaker, id: 'plain', voices: [{ id: 'solo' }], defaultVoice: 'solo' },
  { id: 'talker', type: 'chat', engine: 'sandbox', contextLength: 100 },
];

/** A request as the engine has it, and the engine's own voice. */
export interface Speaking {
  readonly request: SpeechRequest;
  readonly sink: SpeechSink;
  isAborted: boolean;
  isPaused: boolean;
}

/** `seconds` of a steady tone. */
export function tone(seconds: number, value = 1000): Buffer {
  const samples = new Int16Array(Math.round(seconds * 24_000)).fill(value);
  return Buffer.from(samples.buffer);
}

export interface SpeechShell extends Shell {
  post(body: object): Promise<TestAnswer>;
  readonly speakings: Speaking[];
  readonly rows: LedgerRow[];
  /** What the media process was asked to do. */
  readonly encoded: (EncodeOptions & { samples: number })[];
  readonly stretched: { samples: number; speed: number }[];
  readonly decoded: { bytes: Buffer; param: string; maxSeconds: number }[];
  /** Permits and engines that are held. */
  readonly held: () => number;
}

export function createSpeechShell(
  /** Absent: a second and a half of sound. */
  speak: (speaking: Speaking) => void = ({ sink }) => {
    sink.audio(tone(1));
    sink.audio(tone(0.5));
    sink.end();
  },
  /** What the clip decodes to. */
  clip: readonly Int16Array[] = [new Int16Array(24_000).fill(7), new Int16Array(24_000).fill(8)],
): SpeechShell {
  const speakings: Speaking[] = [];
  const rows: LedgerRow[] = [];
  const [encoded, stretched, decoded]: [
    SpeechShell['encoded'],
    SpeechShell['stretched'],
    SpeechShell['decoded'],
  ] = [[], [], []];
  let held = 0;
  const port: SpeechPort = {
    speak(request, sink) {
      const speaking: Speaking = { request, sink, isAborted: false, isPaused: false };
      speakings.push(speaking);
      process.nextTick(() => speak(speaking));
      return {
        abort() {
          speaking.isAborted = true;
        },
        pause() {
          speaking.isPaused = true;
        },
        resume() {
          speaking.isPaused = false;
        },
      };
    },
  };
  const rate = { limit: 60, remaining: 59, resetMs: 1000 };
  const inference = createInference({
    admission: {
      enter: () => {
        held++;
        return { rate, release: () => void held-- };
      },
      rate: () => rate,
      close: async () => {},
    },
    billing: { record: (row) => void rows.push(row), settle: async () => {}, close: async () => {} },
    engines: {
      use(_names, _affinity, tried) {
        if (tried.length > 0) return undefined;
        held++;
        return {
          name: 'sandbox',
          engine: { kind: 'fake', speech: port, health: async () => ({ ok: true }), close: async () => {} },
          enter: () => undefined,
          release: () => void held--,
        };
      },
    } as Engines,
    limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 1 }),
    now: () => 1_000,
    log: createLog('silent'),
  });
  const media = {
    async encode(samples, options) {
      encoded.push({ ...options, samples: samples.length });
      return Buffer.from(`${options.format} of ${samples.length}`);
    },
    async stretch(samples, _rate, speed) {
      stretched.push({ samples: samples.length, speed });
      return new Int16Array(Math.round(samples.length / speed)).fill(5);
    },
    async *decode(bytes, { param, maxSeconds }) {
      decoded.push({ bytes, param, maxSeconds });
      yield* clip;
    },
  } as Partial<Media> as Media;
  const shell = createShell(speechRoutes, {
    platform: { catalog: createSampleCatalog({ models: speechModels }), inference, media },
  });
  return {
    ...shell,
    speakings,
    rows,
    encoded,
    stretched,
    decoded,
    held: () => held,
    post: (body) =>
      shell.send({
        method: 'POST',
        url: '/v1/audio/speech',
        payload: { model: 'every', input: 'Hello', ...body },
      }),
  };
}

export interface SpeechEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events whose shape is what they check
  data: any;
}

/** The events of a whole stream. */
export function toEvents(body: string): SpeechEvent[] {
  return body
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [first = '', second = ''] = block.split('\n');
      return { event: first.replace('event: ', ''), data: JSON.parse(second.replace('data: ', '')) };
    });
}

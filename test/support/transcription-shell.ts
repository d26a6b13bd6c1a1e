/**
 * The transcription route over the real pipeline, an engine and a decoder of the test's own. A "file" is a text in
 * which each letter is a second: `v` of voice, `-` of silence; `.` is a tenth of a second, and `!` where it cannot be
 * decoded any further.
 */
import { transcriptionRoutes } from '../../src/api/transcription/index.ts';
import type { Engine } from '../../src/engines/contract/engine.ts';
import type { TranscriptionRequest, TranscriptionResult } from '../../src/engines/contract/transcription.ts';
import { GatewayError } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import type { LedgerRow } from '../../src/platform/billing/types.ts';
import type { Declaration } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import { createInference } from '../../src/platform/inference/index.ts';
import type { DecodeOptions, Media } from '../../src/platform/media/types.ts';
import type { TestAnswer } from './inject.ts';
import { createSampleCatalog } from './sample-models.ts';
import { createShell, type Shell } from './shell.ts';

const models: readonly Declaration[] = [
  {
    id: 'ear',
    type: 'transcription',
    engine: 'sandbox',
    engineModel: 'org/ear',
    pricing: { prompt: '0.001' },
  },
  { id: 'english-ear', type: 'transcription', engine: 'sandbox', languages: ['en'] },
];

export type Hear = (request: TranscriptionRequest, signal: AbortSignal) => Promise<TranscriptionResult>;

export interface TranscriptionShell extends Shell {
  /** A JSON body with a recording, and whatever is changed in it; `undefined` leaves a field out. */
  post(recording: string, changes?: Record<string, unknown>): Promise<TestAnswer>;
  /** A form; `file` is a recording. */
  postForm(
    fields: Record<string, string>,
    file?: string | Buffer,
    extra?: { field: string; bytes: string },
  ): Promise<TestAnswer>;
  /** What the engine was asked. */
  readonly heard: TranscriptionRequest[];
  readonly decoded: DecodeOptions[];
  readonly rows: LedgerRow[];
  /** What the engine answers from now on. */
  hear: Hear;
  /** How many permits are out. */
  readonly permits: () => number;
  settled(): Promise<void>;
}

export function createTranscriptionShell(): TranscriptionShell {
  const heard: TranscriptionRequest[] = [];
  const decoded: DecodeOptions[] = [];
  const rows: LedgerRow[] = [];
  let permits = 0;
  const rate = { limit: 60, remaining: 59, resetMs: 1_000 };
  const engine = {
    kind: 'fake',
    transcription: {
      transcribe(request: TranscriptionRequest, signal: AbortSignal) {
        heard.push(request);
        return made.hear(request, signal);
      },
    },
  } as unknown as Engine;
  const inference = createInference({
    admission: {
      enter() {
        permits += 1;
        return { rate, release: () => void permits-- };
      },
      rate: () => rate,
      close: async () => {},
    },
    billing: { record: (row) => void rows.push(row), settle: async () => {}, close: async () => {} },
    engines: {
      use: (_names, _affinity, tried) =>
        tried.length > 0 ? undefined : { name: 'fake', engine, enter: () => undefined, release() {} },
    } as Engines,
    limitsOf: () => ({ requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 1_000 }),
    now: Date.now,
    log: createLog('silent'),
  });
  const media = {
    decode(bytes: Buffer, options: DecodeOptions) {
      decoded.push(options);
      return decode(bytes.toString('latin1'), options);
    },
  } as Pick<Media, 'decode'>;
  const platform = { catalog: createSampleCatalog({ models }), inference, media };
  const shell = createShell(transcriptionRoutes, { platform: platform as unknown as Partial<Platform> });
  const url = '/v1/audio/transcriptions';
  const made: TranscriptionShell = {
    ...shell,
    heard,
    decoded,
    rows,
    hear: async () => ({ text: `Stretch ${heard.length}.`, language: 'en' }),
    permits: () => permits,
    settled: () => inference.close(),
    post(recording, changes = {}) {
      const input = { data: Buffer.from(recording).toString('base64'), format: 'wav' };
      return shell.send({
        method: 'POST',
        url,
        payload: { model: 'ear', input_audio: input, ...changes },
      });
    },
    async postForm(fields, file, extra) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      if (file !== undefined) form.append('file', new Blob([file]), 'talk.wav');
      if (extra !== undefined) form.append(extra.field, new Blob([extra.bytes]), 'more.wav');
      const encoded = new Response(form);
      const payload = Buffer.from(await encoded.arrayBuffer());
      const type = encoded.headers.get('content-type') ?? '';
      return shell.send({ method: 'POST', url, payload, headers: { 'content-type': type } });
    },
  };
  return made;
}

const voice = Int16Array.from(
  { length: 16_000 },
  (_, i) => 6_000 * Math.sin((2 * Math.PI * 300 * i) / 16_000),
);
const silence = new Int16Array(16_000);

async function* decode(recording: string, { param, maxSeconds }: DecodeOptions) {
  for (let second = 0; second < recording.length; second++) {
    const kind = recording[second];
    if (kind === '!' || second >= maxSeconds) {
      const problem = kind === '!' ? 'cannot be decoded' : 'is longer than 4 hours';
      throw new GatewayError('invalid_request', `${param} ${problem}`, { param });
    }
    if (kind === '.') yield silence.subarray(0, 1_600);
    else yield kind === 'v' ? voice : silence;
  }
}

/** The events of a stream, each with its name. */
export function toEvents(body: string): { event: string; data: Record<string, unknown> }[] {
  return body
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, event = '', data = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(block) ?? [];
      return { event, data: JSON.parse(data) as Record<string, unknown> };
    });
}

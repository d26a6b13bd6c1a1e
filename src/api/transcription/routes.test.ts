import { afterEach, describe, expect, it } from 'vitest';
import {
  createTranscriptionShell,
  type TranscriptionShell,
  toEvents,
} from '../../../test/support/transcription-shell.ts';
import { GatewayError } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import { Transcription } from './schema.ts';

let shell: TranscriptionShell;
afterEach(() => {
  expect(shell.permits()).toBe(0);
});
const open = () => {
  shell = createTranscriptionShell();
  return shell;
};
const twoStretches = 'vvv---vvv---';
const param = (answer: { json(): { error: { message: string } } }) => answer.json().error.message;

describe('a whole transcription', () => {
  it('[STT-1] [STT-20] [STT-21] [STT-22] of a JSON body has text, language, duration and usage', async () => {
    const { post, rows } = open();
    const answer = await post(`${twoStretches}.`);
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      text: 'Stretch 1. Stretch 2.',
      task: 'transcribe',
      language: 'en',
      duration: 12.1,
      usage: { type: 'duration', seconds: 13, cost: 0.013 },
    });
    expect(createValidator(Transcription).check(answer.json())).toBe(true);
    expect(rows).toHaveLength(1);
  });

  it('[STT-2] of a form with a file is the same answer', async () => {
    const { post, postForm } = open();
    const whole = await post('vvvv');
    shell.heard.length = 0;
    const form = await postForm({ model: 'ear' }, 'vvvv');
    expect([form.status, form.json()]).toEqual([200, whole.json()]);
  });

  it('[STT-21] leaves the language out when the engine does not say it', async () => {
    const { post } = open();
    shell.hear = async () => ({ text: 'Hello' });
    expect(Object.keys((await post('vv')).json())).toEqual(['text', 'task', 'duration', 'usage']);
  });

  it('[STT-15] [STT-16] [STT-23] is JSON, or the bare transcript as text when that is asked for', async () => {
    const { post } = open();
    shell.hear = async () => ({ text: ' Grüße, "Welt" ' });
    expect((await post('vv', { response_format: null })).headers['content-type']).toContain(
      'application/json',
    );
    const { body, headers } = await post('vv', { response_format: 'text' });
    expect([body, headers['content-type']]).toEqual(['Grüße, "Welt"', 'text/plain; charset=utf-8']);
  });

  it('[BILL-23] bills the seconds of the audio, rounded up, silence included', async () => {
    const { post, rows } = open();
    expect((await post('----------.')).json()).toMatchObject({ text: '', usage: { seconds: 11 } });
    expect(rows).toMatchObject([
      {
        operation: 'transcription',
        modelId: 'ear',
        streamed: false,
        outcome: 'stop',
        quantities: { seconds: 11 },
        costPicoUsd: 11_000_000_000n,
      },
    ]);
  });

  it('has the rate-limit headers and the id of its generation', async () => {
    const { post } = open();
    expect((await post('v')).headers).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-generation-id': expect.stringMatching(/^gen_/),
    });
  });

  it.each([
    ['unreachable', 502],
    ['overloaded', 503],
    ['timeout', 504],
  ] as const)('fails with what the engine failed with (%s), and costs nothing', async (kind, status) => {
    const { post, rows } = open();
    shell.hear = async () => {
      if (shell.heard.length > 1) throw new GatewayError(kind, 'broken');
      return { text: 'One.' };
    };
    expect((await post(twoStretches)).status).toBe(status);
    expect(rows).toEqual([]);
  });
});

describe('a request', () => {
  it('[STT-3] that is neither JSON nor a form is refused', async () => {
    const { send } = open();
    const url = '/v1/audio/transcriptions';
    const headers = { 'content-type': 'audio/wav' };
    expect((await send({ method: 'POST', url, payload: 'RIFF', headers })).status).toBe(400);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send({ method: 'POST', url, payload: 'model=ear', headers: form })).status).toBe(400);
  });

  it('[STT-4] names its model, in both bodies', async () => {
    const { post, postForm } = open();
    for (const answer of [await post('v', { model: undefined }), await postForm({}, 'v')]) {
      expect(answer.status).toBe(400);
      expect(param(answer)).toMatch(/^model /);
    }
    expect((await post('v', { model: 'nobody' })).status).toBe(404);
  });

  it.each([
    ['input_audio', undefined],
    ['input_audio.data', { format: 'wav' }],
    ['input_audio.format', { data: 'AAAA' }],
  ])('[STT-5] has %s', async (path, input) => {
    const { post } = open();
    const answer = await post('', { input_audio: input });
    expect([answer.status, param(answer)]).toEqual([400, `${path} is required`]);
  });

  it.each(['data:audio/wav;base64,UklGRg==', 'https://example.com/talk.wav', 'not base64 at all!', ''])(
    '[STT-6] has raw base64, and not %j',
    async (data) => {
      const { post, heard } = open();
      const answer = await post('', { input_audio: { data, format: 'wav' } });
      expect(answer.status).toBe(400);
      expect(param(answer)).toContain('input_audio.data');
      expect(heard).toEqual([]);
    },
  );

  it('[STT-7] says one of seven formats', async () => {
    const { post } = open();
    const data = Buffer.from('vv').toString('base64');
    for (const format of ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac'])
      expect((await post('', { input_audio: { data, format } })).status).toBe(200);
    for (const format of ['aiff', 'WAV', '', null]) {
      const answer = await post('', { input_audio: { data, format } });
      expect([answer.status, param(answer)]).toEqual([400, expect.stringContaining('input_audio.format')]);
    }
  });

  it('[STT-8] has a file, in a form, and only one', async () => {
    const { postForm } = open();
    const none = await postForm({ model: 'ear' });
    expect([none.status, param(none)]).toEqual([400, 'file is required']);
    const more = await postForm({ model: 'ear' }, 'v', { field: 'file', bytes: 'v' });
    expect([more.status, param(more)]).toEqual([400, expect.stringContaining('file')]);
    const other = await postForm({ model: 'ear' }, 'v', { field: 'image', bytes: 'v' });
    expect([other.status, param(other)]).toEqual([400, expect.stringContaining('image')]);
  });

  it('[STT-9] has at most 25 MB of audio, in both bodies', async () => {
    const { post, postForm, heard } = open();
    const fits = `!${'-'.repeat(24_999_998)}`;
    const tooMuch = Buffer.alloc(26 * 1024 * 1024, '-');
    const answers = [
      await post('', { input_audio: { data: tooMuch.toString('base64'), format: 'wav' } }),
      await postForm({ model: 'ear' }, tooMuch),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(413);
      expect(param(answer)).toContain('25 MB');
    }
    // It cannot be decoded then, but is not too large.
    expect((await postForm({ model: 'ear' }, fits)).status).toBe(400);
    expect(heard).toEqual([]);
  });

  it('[STT-10] [STT-11] has audio that can be decoded and lasts at most four hours', async () => {
    const { post, postForm, decoded, rows } = open();
    for (const [answer, name] of [
      [await post('!'), 'input_audio.data'],
      [await postForm({ model: 'ear' }, 'vvv!'), 'file'],
      [await post('-'.repeat(4 * 3600 + 1)), 'input_audio.data'],
    ] as const) {
      expect(answer.status).toBe(400);
      expect(param(answer)).toMatch(new RegExp(`^${name} `));
    }
    expect(decoded[0]).toMatchObject({ sampleRate: 16_000, maxSeconds: 14_400 });
    expect((await post('-'.repeat(4 * 3600))).status).toBe(200);
    expect(rows).toHaveLength(1);
  });

  it('[STT-12] may name the language, which the engine is told', async () => {
    const { post, heard } = open();
    await post('vv', { language: 'fr' });
    await post('vv');
    await post('vv', { language: null });
    expect(heard.map(({ language }) => language)).toEqual(['fr', undefined, undefined]);
    for (const language of ['french', 'en-US', 'xx', '', 7]) {
      const answer = await post('vv', { language });
      expect([answer.status, param(answer)]).toEqual([400, expect.stringContaining('language')]);
    }
    const other = await post('vv', { model: 'english-ear', language: 'de' });
    expect([other.status, param(other)]).toEqual([400, expect.stringContaining('must be one of en')]);
  });

  it('[STT-13] may say how things are spelt, which the engine is told before every stretch', async () => {
    const { post, heard } = open();
    await post(twoStretches, { prompt: 'Roundhouse' });
    expect(heard.map(({ prompt }) => prompt)).toEqual(['Roundhouse', 'Roundhouse Stretch 1.']);
    expect(heard[0]?.model).toBe('org/ear');
  });

  it('[STT-14] may have a temperature from 0 to 1', async () => {
    const { post, heard } = open();
    for (const temperature of [0, 0.5, 1]) await post('vv', { temperature });
    expect(heard.map(({ temperature }) => temperature)).toEqual([0, 0.5, 1]);
    for (const temperature of [-0.1, 1.1, '0.5']) {
      const answer = await post('vv', { temperature });
      expect([answer.status, param(answer)]).toEqual([400, expect.stringContaining('temperature')]);
    }
  });

  it('[STT-17] has no format with timestamps', async () => {
    const { post, postForm } = open();
    for (const format of ['verbose_json', 'srt', 'vtt', 'diarized_json']) {
      for (const answer of [
        await post('vv', { response_format: format }),
        await postForm({ model: 'ear', response_format: format }, 'vv'),
      ])
        expect([answer.status, param(answer)]).toEqual([400, expect.stringContaining('response_format')]);
    }
  });

  it('[STT-18] does not ask for timestamps', async () => {
    const { post, postForm } = open();
    for (const answer of [
      await post('vv', { timestamp_granularities: ['word'] }),
      await postForm({ model: 'ear', 'timestamp_granularities[]': 'segment' }, 'vv'),
    ]) {
      expect([answer.status, param(answer)]).toEqual([
        400,
        expect.stringContaining('timestamp_granularities'),
      ]);
    }
    expect((await post('vv', { timestamp_granularities: null })).status).toBe(200);
  });

  it('[STT-19] has its numbers and switches as text, in a form', async () => {
    const { postForm, heard } = open();
    const fields = { model: 'ear', temperature: '0.25', stream: 'true', language: 'de', prompt: '12' };
    const { headers } = await postForm(fields, 'vv');
    expect(headers['content-type']).toContain('text/event-stream');
    expect(heard[0]).toMatchObject({ temperature: 0.25, language: 'de', prompt: '12' });
    for (const [field, text] of Object.entries({ temperature: 'warm', stream: 'maybe' })) {
      const answer = await postForm({ model: 'ear', [field]: text }, 'vv');
      expect([answer.status, param(answer)]).toEqual([400, expect.stringContaining(field)]);
    }
  });

  it('needs a key, and may hold what is ignored', async () => {
    const { send, post } = open();
    const answer = await send({ method: 'POST', url: '/v1/audio/transcriptions', payload: {}, key: null });
    expect(answer.status).toBe(401);
    const ignored = {
      user: 'u',
      session_id: 's',
      trace: {},
      provider: { order: [] },
      chunking_strategy: 'auto',
    };
    expect((await post('vv', ignored)).status).toBe(200);
  });
});

describe('a streamed transcription', () => {
  it('[STT-24] [STT-25] [STT-27] has deltas, then the whole text with the usage, and no [DONE]', async () => {
    const { post, rows } = open();
    const whole = await post(twoStretches);
    shell.heard.length = 0;
    const { status, headers, body } = await post(twoStretches, { stream: true });
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(toEvents(body)).toEqual([
      { event: 'transcript.text.delta', data: { type: 'transcript.text.delta', delta: 'Stretch 1.' } },
      { event: 'transcript.text.delta', data: { type: 'transcript.text.delta', delta: ' Stretch 2.' } },
      {
        event: 'transcript.text.done',
        data: {
          type: 'transcript.text.done',
          text: whole.json().text,
          usage: whole.json().usage,
        },
      },
    ]);
    expect(body).not.toContain('[DONE]');
    expect(rows[1]).toMatchObject({ streamed: true, outcome: 'stop', quantities: rows[0]?.quantities });
  });

  it('keeps every character of every script', async () => {
    const { post } = open();
    shell.hear = async () => ({ text: '日本語 “é” 🙂\u2028' });
    const events = toEvents((await post('vv', { stream: true })).body);
    expect(Buffer.from(String(events[0]?.data['delta']), 'utf8').toString()).toBe('日本語 “é” 🙂');
  });

  it('of silence has no delta', async () => {
    const { post } = open();
    const events = toEvents((await post('-----', { stream: true })).body);
    expect(events).toEqual([
      {
        event: 'transcript.text.done',
        data: {
          type: 'transcript.text.done',
          text: '',
          usage: { type: 'duration', seconds: 5, cost: 0.005 },
        },
      },
    ]);
  });

  it('that fails before its first text has its status', async () => {
    const { post, rows } = open();
    expect((await post('!', { stream: true })).status).toBe(400);
    shell.hear = async () => {
      throw new GatewayError('timeout', 'late');
    };
    expect((await post('vv', { stream: true })).status).toBe(504);
    expect(rows).toEqual([]);
  });

  it('[STT-26] that fails later ends with the error, and what was transcribed is billed', async () => {
    const { post, rows } = open();
    shell.hear = async () => {
      if (shell.heard.length > 1) throw new GatewayError('unreachable', 'The engine could not be reached');
      return { text: 'One.' };
    };
    const { status, body } = await post(twoStretches, { stream: true });
    expect(status).toBe(200);
    const events = toEvents(body);
    expect(events.map(({ event }) => event)).toEqual(['transcript.text.delta', 'transcript.text.error']);
    expect(events[1]?.data).toMatchObject({
      type: 'transcript.text.error',
      error: {
        code: 502,
        message: 'The engine could not be reached',
        metadata: { error_type: 'provider_unavailable' },
      },
    });
    // The pause after the first stretch had been heard too.
    expect(rows).toMatchObject([{ outcome: 'error', streamed: true, quantities: { seconds: 5 } }]);
  });

  it('[BILL-4] [BILL-28] whose reader leaves stops the engine, and what was transcribed is billed once', async () => {
    const { listen, close, rows, settled } = open();
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    shell.hear = (_, signal) => {
      if (shell.heard.length === 1) return Promise.resolve({ text: 'One.' });
      return new Promise((_done, reject) => {
        signal.addEventListener('abort', () => {
          resolve();
          reject(signal.reason);
        });
      });
    };
    const address = await listen();
    const controller = new AbortController();
    const input = { data: Buffer.from(twoStretches).toString('base64'), format: 'wav' };
    const response = await fetch(`${address}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: 'Bearer rh_test-key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'ear', input_audio: input, stream: true }),
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toContain('One.');
    controller.abort();
    await stopped;
    await close();
    await settled();
    expect(rows).toMatchObject([{ outcome: 'cancelled', quantities: { seconds: 5 } }]);
  });
});

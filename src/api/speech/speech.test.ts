import { once } from 'node:events';
import { request as send } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { shellKey } from '../../../test/support/shell.ts';
import {
  createSpeechShell,
  type Speaking,
  type SpeechShell,
  toEvents,
  tone,
} from '../../../test/support/speech-shell.ts';
import type { SpeechRequest } from '../../engines/contract/speech.ts';
import { GatewayError } from '../../lib/errors.ts';

const shell = createSpeechShell();
const { post, rows, speakings, encoded, stretched, decoded } = shell;
const clip = { type: 'input_audio', input_audio: { data: Buffer.from('RIFFclip').toString('base64') } };

/** Nothing is held after any request. */
afterEach(() => expect(shell.held()).toBe(0));

/** What reached the engine. */
async function asked(body: object): Promise<SpeechRequest> {
  const answer = await post(body);
  if (answer.status !== 200) throw new Error(answer.body);
  return speakings.at(-1)!.request;
}

/** The field that a 400 names, in its message and as `param`; nothing reached the engine. */
async function named(body: object): Promise<string> {
  const seen = speakings.length;
  const answer = await post(body);
  expect(answer.status).toBe(400);
  const { message, param } = answer.json().error;
  expect(message).toContain(param);
  expect(speakings).toHaveLength(seen);
  return param;
}

describe('the text', () => {
  test('[SPEECH-1] is answered by the sound itself', async () => {
    const answer = await post({});
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('audio/mpeg');
    expect(answer.body).toBe('mp3 of 36000');
    expect(speakings.at(-1)!.request).toEqual({
      model: 'Org/Every',
      input: 'Hello',
      voice: { type: 'builtin', id: 'ryan' },
      isStreamed: false,
    });
  });

  test('[SPEECH-2] model and input are required', async () => {
    expect(await named({ model: undefined })).toBe('model');
    expect(await named({ input: undefined })).toBe('input');
    expect(await named({ input: '' })).toBe('input');
    expect(await named({ input: ' \n ' })).toBe('input');
    expect((await post({ model: 'talker' })).status).toBe(404);
    expect((await post({ model: 'nobody' })).status).toBe(404);
  });

  test('[SPEECH-3] may have as many characters as the model says, and one more is a 400 naming input', async () => {
    expect((await asked({ input: 'x'.repeat(20) })).input).toHaveLength(20);
    expect(await named({ input: 'x'.repeat(21) })).toBe('input');
    // An emoji is one character, and two units of UTF-16.
    expect((await asked({ input: '😀'.repeat(20) })).input).toHaveLength(40);
    expect(await named({ input: '😀'.repeat(21) })).toBe('input');
  });
});

describe('the voice', () => {
  test('[SPEECH-4] is a built-in speaker by name or as an object', async () => {
    expect((await asked({ voice: 'vivian' })).voice).toEqual({ type: 'builtin', id: 'vivian' });
    expect((await asked({ voice: { id: 'vivian' } })).voice).toEqual({ type: 'builtin', id: 'vivian' });
  });

  test('[SPEECH-5] is the model’s default when it is omitted', async () => {
    expect((await asked({})).voice).toEqual({ type: 'builtin', id: 'ryan' });
    expect((await asked({ voice: null })).voice).toEqual({ type: 'builtin', id: 'ryan' });
  });

  test('[SPEECH-6] is cloned when it is omitted and a clip is sent', async () => {
    expect((await asked({ input_references: [clip] })).voice).toMatchObject({ type: 'clone' });
    expect((await asked({ input_references: [clip], voice: 'clone' })).voice).toMatchObject({
      type: 'clone',
    });
  });

  test('[SPEECH-7] is made from instructions when it is design', async () => {
    const request = await asked({ voice: 'design', instructions: 'An old sailor' });
    expect(request.voice).toEqual({ type: 'design', description: 'An old sailor' });
    expect(request).not.toHaveProperty('instructions');
    expect(await named({ voice: 'design' })).toBe('instructions');
  });

  test.each(['alloy', 'Vivian', { id: 'nobody' }, '', 7, {}])(
    '[SPEECH-8] that the model does not have, %j, is a 400 naming voice',
    async (voice) => expect(await named({ voice })).toMatch(/^voice/),
  );

  test('[SPEECH-9] that does not fit is a 400 naming voice', async () => {
    expect(await named({ model: 'plain', voice: 'design', instructions: 'x' })).toBe('voice');
    expect(await named({ model: 'plain', voice: 'clone', input_references: [clip] })).toBe('voice');
    expect(await named({ model: 'plain', input_references: [clip] })).toBe('voice');
    expect(await named({ voice: 'clone' })).toBe('voice');
    expect(await named({ voice: 'clone', input_references: [] })).toBe('voice');
    expect(await named({ voice: 'clone', input_references: [{ type: 'text', text: 'hi' }] })).toBe('voice');
    expect(await named({ voice: 'ryan', input_references: [clip] })).toBe('voice');
  });

  test('[SPEECH-10] has the style that instructions give', async () => {
    expect(await asked({ voice: 'ryan', instructions: 'Whisper' })).toMatchObject({
      voice: { type: 'builtin', id: 'ryan' },
      instructions: 'Whisper',
    });
    expect(await named({ model: 'plain', instructions: 'Whisper' })).toBe('instructions');
  });

  test('[SPEECH-11] takes no instructions when it is cloned', async () => {
    expect(await named({ input_references: [clip], instructions: 'x' })).toBe('instructions');
  });
});

describe('a clip', () => {
  test('[SPEECH-12] is decoded and reaches the engine as a WAV file of 24 kHz', async () => {
    const { voice } = await asked({ input_references: [clip] });
    if (voice.type !== 'clone') throw new Error('not cloned');
    expect(voice).not.toHaveProperty('transcript');
    expect(voice.clip).toHaveLength(44 + 2 * 48_000);
    expect(voice.clip.toString('latin1', 0, 4)).toBe('RIFF');
    expect(voice.clip.readUInt32LE(4)).toBe(voice.clip.length - 8);
    expect([voice.clip.readUInt32LE(24), voice.clip.readUInt32LE(40)]).toEqual([24_000, 96_000]);
    expect([voice.clip.readInt16LE(44), voice.clip.readInt16LE(44 + 96_000 - 2)]).toEqual([7, 8]);
    expect(decoded.at(-1)).toEqual({
      bytes: Buffer.from('RIFFclip'),
      param: 'input_references[0].input_audio.data',
      maxSeconds: 60,
    });
  });

  test('[SPEECH-12] may be a data URI, and is only one', async () => {
    const data = `data:audio/wav;base64,${clip.input_audio.data}`;
    await asked({ input_references: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] });
    expect(decoded.at(-1)?.bytes).toEqual(Buffer.from('RIFFclip'));
    expect(await named({ input_references: [clip, clip] })).toBe('input_references');
  });

  test.each([
    { type: 'input_audio', input_audio: { data: 'https://x.test/voice.wav' } },
    { type: 'input_audio', input_audio: { data: 'file:///etc/passwd' } },
    { type: 'input_audio', input_audio: { url: 'https://x.test/voice.wav' } },
    { type: 'audio_url', audio_url: { url: 'https://x.test/voice.wav' } },
    { type: 'input_audio', input_audio: { data: 'not base64!' } },
    { type: 'input_audio', input_audio: { data: '' } },
    { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,' } },
  ])('[SPEECH-13] %j is a 400', async (reference) => {
    expect(await named({ input_references: [reference] })).toMatch(/^input_references\[0\]/);
  });

  test('[SPEECH-14] may come with its transcript, before or after it', async () => {
    const text = { type: 'text', text: 'What I say' };
    for (const references of [
      [clip, text],
      [text, clip],
    ])
      expect((await asked({ input_references: references })).voice).toMatchObject({
        type: 'clone',
        transcript: 'What I say',
      });
    expect(decoded.at(-1)?.param).toBe('input_references[1].input_audio.data');
    expect(await named({ input_references: [clip, text, text] })).toBe('input_references');
  });

  test('of less than a second is a 400, and one that is too large a 413; neither is billed', async () => {
    const brief = createSpeechShell(undefined, [new Int16Array(23_999)]);
    const answer = await brief.post({ input_references: [clip] });
    expect([answer.status, answer.json().error.param]).toEqual([400, 'input_references[0].input_audio.data']);
    expect([brief.rows, brief.speakings, brief.held()]).toEqual([[], [], 0]);
    const huge = { type: 'input_audio', input_audio: { data: 'A'.repeat(20 * 1024 * 1024 + 8) } };
    expect((await post({ input_references: [huge] })).status).toBe(413);
  });
});

describe('settings', () => {
  test('[SPEECH-15] language is auto, a code or a name', async () => {
    for (const language of [undefined, null, 'auto', 'Auto'])
      expect(await asked({ language })).not.toHaveProperty('language');
    for (const language of ['de', 'German', 'zh'])
      expect(await asked({ language })).toMatchObject({ language });
    for (const language of ['', 7, '<script>']) expect(await named({ language })).toBe('language');
  });

  test('[SPEECH-22] seed is an integer', async () => {
    expect(await asked({ seed: 7 })).toMatchObject({ seed: 7 });
    for (const seed of [1.5, '7', true]) expect(await named({ seed })).toBe('seed');
  });

  test('[SPEECH-23] temperature is 0 to 2', async () => {
    for (const temperature of [0, 2]) expect(await asked({ temperature })).toMatchObject({ temperature });
    for (const temperature of [-0.1, 2.1, '1']) expect(await named({ temperature })).toBe('temperature');
  });

  test('[SPEECH-24] top_p is 0 to 1, and 0 reaches the engine as 0.000001', async () => {
    expect(await asked({ top_p: 1 })).toMatchObject({ topP: 1 });
    expect(await asked({ top_p: 0 })).toMatchObject({ topP: 0.000001 });
    for (const top_p of [-0.1, 1.1, '1']) expect(await named({ top_p })).toBe('top_p');
  });

  test('[SPEECH-25] top_k is at least -1', async () => {
    for (const top_k of [-1, 0, 50]) expect(await asked({ top_k })).toMatchObject({ topK: top_k });
    for (const top_k of [-2, 1.5, '1']) expect(await named({ top_k })).toBe('top_k');
  });

  test('[SPEECH-26] user, session_id, trace, provider and what is unknown change nothing', async () => {
    const plain = await asked({});
    const extra = { user: 7, session_id: {}, trace: [], provider: { order: ['x'] }, unknown: 1 };
    expect(await asked(extra)).toEqual(plain);
    for (const provider of ['x', 7, null, { options: 'x' }, { options: { openai: { speed: 'x' } } }])
      expect(await asked({ provider })).toEqual(plain);
  });

  test('[SPEECH-27] provider.options carries settings, flat or under the model’s provider; the top level wins', async () => {
    const options = { instructions: 'Sing', language: 'de', seed: 1, temperature: 0.5, top_p: 0, top_k: 3 };
    const expected = {
      instructions: 'Sing',
      language: 'de',
      seed: 1,
      temperature: 0.5,
      topP: 0.000001,
      topK: 3,
    };
    expect(await asked({ provider: { options } })).toMatchObject(expected);
    expect(await asked({ provider: { options: { house: options } } })).toMatchObject(expected);
    expect(await asked({ seed: 9, provider: { options } })).toMatchObject({ ...expected, seed: 9 });
    await asked({ provider: { options: { speed: 2 } } });
    expect(encoded.at(-1)).toMatchObject({ speed: 2 });
    expect(await named({ provider: { options: { speed: 9 } } })).toBe('provider.options.speed');
    expect(await named({ provider: { options: { house: { top_k: -2 } } } })).toBe(
      'provider.options.house.top_k',
    );
  });
});

describe('the sound', () => {
  test.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
  ])('[SPEECH-16] as %s is %s', async (response_format, type) => {
    const answer = await post({ response_format });
    expect(answer.headers['content-type']).toBe(type);
    expect(answer.body).toBe(`${response_format} of 36000`);
    expect(encoded.at(-1)).toMatchObject({ format: response_format, sampleRate: 24_000, speed: 1 });
  });

  test('[SPEECH-17] as pcm is the samples, labelled with their rate', async () => {
    const answer = await post({ response_format: 'pcm' });
    expect(answer.headers['content-type']).toBe('audio/pcm;rate=24000;channels=1');
    expect(answer.bytes).toEqual(tone(1.5));
  });

  test.each(['aac', 'MP3', '', 7])('[SPEECH-18] as %j is a 400 naming response_format', async (value) => {
    expect(await named({ response_format: value })).toBe('response_format');
  });

  test.each(['json', 'SSE', '', 7])('[SPEECH-19] stream_format %j is a 400 naming it', async (value) => {
    expect(await named({ stream_format: value })).toBe('stream_format');
    expect((await post({ stream_format: 'audio' })).headers['content-type']).toBe('audio/mpeg');
  });

  test('[SPEECH-20] speed is 0.25 to 4, and 1 unless it is said', async () => {
    for (const speed of [0.25, 4]) {
      await asked({ speed });
      expect(encoded.at(-1)).toMatchObject({ speed });
    }
    for (const speed of [0.24, 4.1, '1', true]) expect(await named({ speed })).toBe('speed');
    await asked({ speed: null });
    expect(encoded.at(-1)).toMatchObject({ speed: 1 });
  });

  test('[SPEECH-21] [SPEECH-36] pcm at speed 2 is half as long, in one piece, and says what it used', async () => {
    const answer = await post({ response_format: 'pcm', speed: 2 });
    expect(answer.bytes).toHaveLength(36_000);
    expect(stretched.at(-1)).toEqual({ samples: 36_000, speed: 2 });
    expect(answer.headers).toMatchObject({ 'x-usage-seconds': '2', 'x-usage-cost': '0.0006' });
  });

  test('[SPEECH-36] a plain answer says its seconds and its cost', async () => {
    const { headers } = await post({});
    expect(headers).toMatchObject({ 'x-usage-seconds': '2', 'x-usage-cost': '0.0006' });
    expect(headers['x-generation-id']).toBe(rows.at(-1)?.id);
    expect(headers).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
    });
  });

  test('[SPEECH-37] a raw stream says neither', async () => {
    const { headers } = await post({ response_format: 'pcm' });
    expect(headers).not.toHaveProperty('x-usage-seconds');
    expect(headers).not.toHaveProperty('x-usage-cost');
    expect(headers).toHaveProperty('x-generation-id');
  });

  test('[BILL-22] is billed by the seconds before its speed, rounded up', async () => {
    const quantities = async (body: object) => {
      await post(body);
      const { operation, outcome, quantities: used, costPicoUsd } = rows.at(-1)!;
      expect([operation, outcome, used, costPicoUsd]).toEqual([
        'speech',
        'stop',
        { seconds: 2 },
        600_000_000n,
      ]);
    };
    for (const speed of [0.25, 1, 4]) {
      await quantities({ speed });
      await quantities({ speed, response_format: 'pcm' });
      await quantities({ speed, stream_format: 'sse' });
    }
    expect(rows.slice(-3).map(({ streamed }) => streamed)).toEqual([false, false, true]);
  });
});

describe('events', () => {
  test('[SPEECH-29] [SPEECH-30] [SPEECH-32] [SPEECH-33] [SPEECH-35] pcm comes as it is made, then one done', async () => {
    const answer = await post({ response_format: 'pcm', stream_format: 'sse' });
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const events = toEvents(answer.body);
    expect(events.map(({ event }) => event)).toEqual([
      'speech.audio.delta',
      'speech.audio.delta',
      'speech.audio.done',
    ]);
    expect(events[0]?.data).toEqual({
      type: 'speech.audio.delta',
      audio: tone(1).toString('base64'),
      response_format: 'pcm',
    });
    expect(events[2]?.data).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 2, output_tokens: 50, total_tokens: 52, seconds: 2, cost: 0.0006 },
    });
    expect(answer.body).not.toContain('[DONE]');
  });

  test.each([{}, { response_format: 'wav' }, { response_format: 'pcm', speed: 2 }])(
    '[SPEECH-30] %j is one delta with all of it',
    async (body) => {
      const events = toEvents((await post({ ...body, stream_format: 'sse' })).body);
      expect(events.map(({ event }) => event)).toEqual(['speech.audio.delta', 'speech.audio.done']);
      const audio = Buffer.from(events[0]?.data.audio, 'base64');
      if ('speed' in body) expect(audio).toHaveLength(36_000);
      else expect(audio.toString()).toBe(`${body.response_format ?? 'mp3'} of 36000`);
      expect(events[0]?.data.response_format).toBe(body.response_format ?? 'mp3');
    },
  );

  test('[SPEECH-31] [SPEECH-34] a failure in the middle is told by an error event, and what was heard is billed', async () => {
    const broken = createSpeechShell(({ sink }) => {
      sink.audio(tone(1.2));
      sink.fail(new GatewayError('unreachable', 'The engine stopped'));
    });
    const answer = await broken.post({ response_format: 'pcm', stream_format: 'sse' });
    expect(answer.status).toBe(200);
    const events = toEvents(answer.body);
    expect(events.map(({ event }) => event)).toEqual(['speech.audio.delta', 'speech.audio.error']);
    expect(events[1]?.data).toEqual({
      type: 'speech.audio.error',
      error: {
        code: 502,
        message: 'The engine stopped',
        type: 'server_error',
        metadata: { error_type: 'provider_unavailable' },
      },
    });
    expect(broken.rows).toMatchObject([{ outcome: 'error', quantities: { seconds: 2 }, streamed: true }]);
    expect(broken.held()).toBe(0);
  });
});

describe('a failure before the first sound', () => {
  test.each([
    {},
    { response_format: 'pcm' },
    { stream_format: 'sse' },
    { response_format: 'pcm', stream_format: 'sse' },
  ])('has its real status with %j, and costs nothing', async (body) => {
    const broken = createSpeechShell(({ sink }) =>
      sink.fail(new GatewayError('overloaded', 'Busy', { retryAfterSeconds: 3 })),
    );
    const answer = await broken.post(body);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '3']);
    expect([broken.rows, broken.held()]).toEqual([[], 0]);
  });

  test('is also an engine that makes no sound', async () => {
    const mute = createSpeechShell(({ sink }) => sink.end());
    expect((await mute.post({})).status).toBe(502);
    expect((await mute.post({ response_format: 'pcm' })).status).toBe(502);
    expect(mute.rows).toEqual([]);
  });
});

describe('over a socket', () => {
  let live: SpeechShell | undefined;
  afterEach(async () => {
    await live?.close();
    expect(live?.held()).toBe(0);
  });

  async function open(body: object) {
    const begun = Promise.withResolvers<Speaking>();
    live = createSpeechShell((speaking) => begun.resolve(speaking));
    const address = await live.listen();
    const answer = send(`${address}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'every', input: 'Hello', ...body }),
    });
    return { speaking: await begun.promise, answer, shell: live };
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await turn();
  };

  test('[SPEECH-28] pcm arrives while the rest is not made yet', async () => {
    const { speaking, answer } = await open({ response_format: 'pcm' });
    speaking.sink.audio(tone(0.5));
    const { statusCode, body } = await answer;
    expect(statusCode).toBe(200);
    const [first] = (await once(body, 'data')) as [Buffer];
    expect(first.equals(tone(0.5).subarray(0, first.length))).toBe(true);
    speaking.sink.audio(tone(0.25, 9));
    speaking.sink.end();
    let rest = 0;
    for await (const chunk of body) rest += (chunk as Buffer).length;
    expect(first.length + rest).toBe(36_000);
    expect(speaking.request.isStreamed).toBe(true);
  });

  test.each([{ response_format: 'pcm' }, { response_format: 'pcm', stream_format: 'sse' }])(
    'a client that leaves %j stops the engine, and pays once for what it had',
    async (format) => {
      const { speaking, answer, shell: left } = await open(format);
      speaking.sink.audio(tone(1.5));
      const { body } = await answer;
      await once(body, 'data');
      body.on('error', () => {}).destroy();
      await until(() => speaking.isAborted && left.rows.length > 0);
      expect(left.rows).toMatchObject([{ outcome: 'cancelled', quantities: { seconds: 2 } }]);
    },
  );

  test('a client that leaves before a whole answer stops the engine, and pays nothing', async () => {
    const begun = Promise.withResolvers<Speaking>();
    const whole = createSpeechShell((speaking) => begun.resolve(speaking));
    live = whole;
    const address = await whole.listen();
    const leaving = new AbortController();
    const answer = send(`${address}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'every', input: 'Hello' }),
      signal: leaving.signal,
    });
    const speaking = await begun.promise;
    speaking.sink.audio(tone(1));
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => speaking.isAborted && whole.held() === 0);
    expect(whole.rows).toEqual([]);
  });

  test('a slow reader holds the engine back', async () => {
    const { speaking, answer } = await open({ response_format: 'pcm' });
    for (let second = 0; second < 1_000 && !speaking.isPaused; second++) {
      speaking.sink.audio(tone(1));
      await turn();
    }
    expect(speaking.isPaused).toBe(true);
    const { body } = await answer;
    body.on('data', () => {});
    await until(() => !speaking.isPaused);
    speaking.sink.end();
    await once(body, 'end');
  });

  test('a failure in the middle of a raw stream breaks it off, and what was heard is billed', async () => {
    const { speaking, answer, shell: broken } = await open({ response_format: 'pcm' });
    speaking.sink.audio(tone(1));
    const { body } = await answer;
    await once(body, 'data');
    speaking.sink.fail(new GatewayError('unreachable', 'The engine stopped'));
    const read = async () => {
      for await (const _ of body);
    };
    await expect(read()).rejects.toThrow();
    expect(broken.rows).toMatchObject([{ outcome: 'error', quantities: { seconds: 1 } }]);
  });
});

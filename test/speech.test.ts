/** Speech on real models, as a fresh machine has them: Kokoro and Flite speak, and Whisper writes down what it hears. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { type PackFolder, packFolder, pullTimeoutMs } from './support/packs.ts';

/** On a busy machine a second of speech may take several. */
const speechTimeoutMs = 240_000;
const sentence = 'The old library opens at nine, and every visitor gets a free map.';

describe('the models that the gateway runs itself', { timeout: speechTimeoutMs }, () => {
  let folder: PackFolder;
  let gateway: TestGateway;
  let base: string;

  beforeAll(async () => {
    folder = await packFolder('kokoro-82m', 'flite', 'whisper-base');
    gateway = await createTestGateway({ env: { ROUNDHOUSE_DATA: folder.dataFolder } });
    base = await gateway.listen();
  }, pullTimeoutMs);

  afterAll(async () => {
    await gateway?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  const post = (body: object, signal?: AbortSignal) =>
    fetch(`${base}/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'kokoro-82m', input: sentence, ...body }),
      ...(signal === undefined ? {} : { signal }),
    });

  async function say(body: object): Promise<Buffer> {
    const answer = await post(body);
    if (answer.status !== 200) throw new Error(await answer.text());
    return Buffer.from(await answer.arrayBuffer());
  }

  const toSamples = (pcm: Buffer) => new Int16Array(new Uint8Array(pcm).buffer);

  async function hear(audio: Buffer, format: string): Promise<string> {
    const form = new FormData();
    form.set('model', 'whisper-base');
    form.set('language', 'en');
    form.set('file', new Blob([new Uint8Array(audio)]), `speech.${format}`);
    const answer = await fetch(`${base}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    });
    if (answer.status !== 200) throw new Error(await answer.text());
    return ((await answer.json()) as { text: string }).text;
  }

  const toWords = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9 ]+/g, ' ')
      .trim()
      .split(/\s+/);

  /** Words added, left out or heard as others. */
  function wrongWords(said: string, heard: string): number {
    const [from, to] = [toWords(said), toWords(heard)];
    let row = to.map((_, index) => index + 1);
    for (const [i, word] of from.entries()) {
      let before = i;
      let left = i + 1;
      row = row.map((above, j) => {
        const distance = Math.min(left + 1, above + 1, before + (word === to[j] ? 0 : 1));
        before = above;
        left = distance;
        return distance;
      });
    }
    return row.at(-1) ?? from.length;
  }

  /** As a file: Whisper's route takes no bare samples. */
  function toWav(pcm: Buffer): Buffer {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0, 'latin1');
    head.writeUInt32LE(36 + pcm.length, 4);
    head.write('WAVEfmt ', 8, 'latin1');
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt32LE(24_000, 24);
    head.writeUInt32LE(48_000, 28);
    head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36, 'latin1');
    head.writeUInt32LE(pcm.length, 40);
    return Buffer.concat([head, pcm]);
  }

  // Each format, voice and speed once: what is said takes seconds, and so does hearing it.
  it.each([
    ['mp3', {}],
    ['opus', { voice: 'am_michael' }],
    ['flac', { voice: 'bf_emma', speed: 0.5 }],
    ['wav', { voice: 'bm_george' }],
    ['pcm', { speed: 2 }],
  ])('Kokoro is understood as %s with %j', async (format, more) => {
    const audio = await say({ response_format: format, ...more });
    const heard = await hear(format === 'pcm' ? toWav(audio) : audio, format === 'opus' ? 'ogg' : 'wav');
    expect(wrongWords(sentence, heard), heard).toBeLessThanOrEqual(1);
  });

  it('[SPEECH-28] Kokoro’s first words are heard long before the last ones are made', async () => {
    const startedAt = performance.now();
    const input = `${sentence} ${sentence} ${sentence}`;
    const answer = await post({ input, response_format: 'pcm' });
    let firstAt: number | undefined;
    const pieces: Buffer[] = [];
    for await (const piece of answer.body!) {
      firstAt ??= performance.now();
      pieces.push(Buffer.from(piece as Uint8Array));
    }
    const whole = performance.now() - startedAt;
    expect(firstAt! - startedAt).toBeLessThan(whole / 3);
    const seconds = Buffer.concat(pieces).length / 48_000;
    expect(seconds).toBeGreaterThan(9);
    expect(seconds).toBeLessThan(18);
  });

  it.each(['kokoro-82m', 'flite'])('%s is as loud as speech is, and never clips', async (model) => {
    const samples = toSamples(await say({ model, response_format: 'pcm' }));
    let [peak, square] = [0, 0];
    for (const sample of samples) {
      peak = Math.max(peak, Math.abs(sample));
      square += sample * sample;
    }
    const loudness = Math.sqrt(square / samples.length) / 32_768;
    expect(peak).toBeLessThan(32_767);
    expect(loudness).toBeGreaterThan(0.03);
    expect(loudness).toBeLessThan(0.3);
  });

  it('Flite is there at once and is understood, more or less', async () => {
    const answer = await post({ model: 'flite', response_format: 'wav' });
    expect(answer.headers.get('x-usage-seconds')).toMatch(/^[3-7]$/);
    expect(answer.headers.get('x-usage-cost')).toBe('0');
    const heard = await hear(Buffer.from(await answer.arrayBuffer()), 'wav');
    expect(wrongWords(sentence, heard), heard).toBeLessThanOrEqual(3);
  });

  it('say what they cannot: another language, another script', async () => {
    const param = async (body: object) => {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      return ((await answer.json()) as { error: { param: string } }).error.param;
    };
    expect(await param({ language: 'de' })).toBe('language');
    expect(await param({ input: '你好。' })).toBe('input');
    expect(await param({ voice: 'zf_xiaobei' })).toBe('voice');
  });

  it('a client that leaves stops the synthesis: the next one does not wait for it', async () => {
    const leaving = new AbortController();
    const long = `${sentence} `.repeat(40);
    const answer = await post({ input: long, response_format: 'pcm' }, leaving.signal);
    const reader = answer.body!.getReader();
    await reader.read();
    leaving.abort();
    await reader.read().catch(() => {});
    const startedAt = performance.now();
    await say({ input: 'Hello.', response_format: 'pcm' });
    const waited = performance.now() - startedAt;
    await say({ input: 'Hello.', response_format: 'pcm' });
    const alone = performance.now() - startedAt - waited;
    // One piece may have been under way; the other 39 sentences take minutes.
    expect(waited).toBeLessThan(alone + 30_000);
  });
});

/** A song while it is made, over a socket: whoever listens, and whenever, hears the same bytes from the first one on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import type { Pictures } from '../src/platform/pictures/types.ts';
import { createJobsEngine, type JobsEngine, makeSamples } from './support/jobs-engine.ts';
import { createJobsShell, type JobsShell } from './support/jobs-shell.ts';

let engine: JobsEngine;
let shell: JobsShell;
let media: Media;
let base: string;

beforeAll(async () => {
  media = createMedia({ log: createLog('silent') });
  engine = createJobsEngine(Buffer.alloc(0));
  engine.isHolding = true;
  shell = await createJobsShell({ engine, media, pictures: {} as Pictures });
  base = await shell.listen();
});
afterAll(async () => {
  await shell.close();
  await media.close();
});

const headerBytes = 44;
const make = (body: object = {}) => shell.create('/music', { duration: 5, ...body });
/** A song of the test in five parts of a second. */
const song = makeSamples(5);
const second = 32_000 * 4;
const part = (number: number) => song.subarray(number * second, (number + 1) * second);

class Listener {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #heard = Buffer.alloc(0);

  constructor(response: Response) {
    this.response = response;
    this.#reader = response.body!.getReader();
  }

  /** Reads until so many bytes are there. */
  async hear(bytes: number): Promise<Buffer> {
    while (this.#heard.length < bytes) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#heard = Buffer.concat([this.#heard, value]);
    }
    return this.#heard;
  }

  rest(): Promise<Buffer> {
    return this.hear(Number.POSITIVE_INFINITY);
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

async function listen(id: string, query = ''): Promise<Listener> {
  const headers = { authorization: `Bearer ${shell.keys.first}` };
  const response = await fetch(`${base}/music/${id}/stream${query}`, { headers });
  expect(response.status).toBe(200);
  return new Listener(response);
}

/** Compared as wholes: byte by byte takes seconds. */
function expectSame(heard: Buffer, played: Buffer): void {
  expect([heard.length, heard.equals(played)]).toEqual([played.length, true]);
}

const samplesOf = (heard: Buffer) => heard.subarray(headerBytes);
const statusOf = async (id: string, query = '') => (await shell.get(`/music/${id}/stream${query}`)).status;

describe('the stream', () => {
  it('[MUSIC-27] [MUSIC-28] [MUSIC-29] is WAV from the first byte, also before anything is rendered', async () => {
    const first = await make({ model: 'song-line' });
    const waiting = await make({ model: 'song-line', response_format: 'mp3' });
    await engine.playing(first.id);
    const listener = await listen(waiting.id);
    const { headers } = listener.response;
    expect(headers.get('content-type')).toBe('audio/wav');
    expect(headers.get('content-length')).toBeNull();
    expect(headers.get('transfer-encoding')).toBe('chunked');
    const header = await listener.hear(headerBytes);
    expect(header).toHaveLength(headerBytes);
    expect(header.toString('latin1', 0, 4) + header.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    const facts = {
      format: header.readUInt16LE(20),
      channels: header.readUInt16LE(22),
      sampleRate: header.readUInt32LE(24),
      bits: header.readUInt16LE(34),
      // [MUSIC-30]: five seconds are promised.
      riffBytes: header.readUInt32LE(4),
      dataBytes: header.readUInt32LE(40),
    };
    expect(facts).toEqual({
      format: 1,
      channels: 2,
      sampleRate: 32_000,
      bits: 16,
      riffBytes: 36 + 5 * second,
      dataBytes: 5 * second,
    });
    (await engine.playing(first.id)).fail(new GatewayError('invalid_request', 'no'));
    const playing = await engine.playing(waiting.id);
    await playing.play(part(0));
    expectSame(samplesOf(await listener.hear(headerBytes + second)), part(0));
    playing.finish();
    await listener.rest();
    expect((await shell.finished(waiting.id)).outputs[0]).toMatchObject({ format: 'mp3', duration: 1 });
  });

  it('[MUSIC-33] [MUSIC-36] is byte for byte the same for who joins at its start, in its middle and after its end', async () => {
    const { id } = await make();
    const early = await listen(id);
    const playing = await engine.playing(id);
    await playing.play(part(0));
    await playing.play(part(1));
    expect((await early.hear(headerBytes + second)).length).toBeGreaterThanOrEqual(headerBytes + second);
    const middle = await listen(id);
    await playing.play(part(2));
    await playing.play(part(3));
    await middle.hear(headerBytes + 3 * second);
    void playing.play(part(4));
    playing.finish();
    const job = await shell.finished(id);
    expect(job.status).toBe('completed');
    const late = await listen(id);
    const heard = await Promise.all([early.rest(), middle.rest(), late.rest()]);
    expectSame(samplesOf(heard[0]), song);
    expectSame(heard[1], heard[0]);
    expectSame(heard[2], heard[0]);
  });

  it('[MUSIC-30] promises the length that was asked for; the output has its own', async () => {
    const { id } = await make({ duration: 10, response_format: 'wav' });
    const playing = await engine.playing(id);
    void playing.play(part(0));
    void playing.play(part(1).subarray(0, second / 2));
    playing.finish();
    const job = await shell.finished(id);
    const heard = await (await listen(id)).rest();
    expect(heard.readUInt32LE(40)).toBe(10 * second);
    expect(heard.length).toBe(headerBytes + 1.5 * second);
    expect(job.outputs[0]).toMatchObject({ duration: 1.5, bytes: headerBytes + 1.5 * second });
    const file = (await shell.get(`/music/${id}/content`)).bytes;
    expect(file.readUInt32LE(40)).toBe(1.5 * second);
    expectSame(samplesOf(file), samplesOf(heard));
    // What was asked for is billed.
    expect(job.usage.billed_seconds).toBe(10);
  });

  it('[MUSIC-30] holds no more than it promises, whatever the engine plays', async () => {
    const { id } = await make({ response_format: 'wav' });
    const playing = await engine.playing(id);
    for (let number = 0; number < 6; number++) void playing.play(part(number % 5));
    playing.finish();
    const job = await shell.finished(id);
    expect((await (await listen(id)).rest()).length).toBe(headerBytes + 5 * second);
    expect(job.outputs[0].duration).toBe(5);
  });

  it('[MUSIC-31] [MUSIC-32] has one song for each index', async () => {
    const { id } = await make({ n: 2 });
    const playing = await engine.playing(id);
    void playing.play(part(0), 0);
    void playing.play(part(1), 1);
    void playing.play(part(2), 7);
    playing.finish();
    await shell.finished(id);
    expectSame(samplesOf(await (await listen(id)).rest()), part(0));
    expectSame(samplesOf(await (await listen(id, '?index=0')).rest()), part(0));
    expectSame(samplesOf(await (await listen(id, '?index=1')).rest()), part(1));
    expect(await statusOf(id, '?index=2')).toBe(404);
    for (const index of ['-1', '0.5', 'x', ''])
      expect([index, await statusOf(id, `?index=${index}`)]).toEqual([index, 400]);
    expect(await statusOf(`music_${'0'.repeat(24)}`)).toBe(404);
    expect(await statusOf('nothing')).toBe(404);
  });

  it('[MUSIC-32] [MUSIC-34] is kept ten minutes after its end; then it is a 409, and of an expired job a 404', async () => {
    const { id } = await make();
    const playing = await engine.playing(id);
    void playing.play(part(0));
    playing.finish();
    await shell.finished(id);
    shell.clock.advance(599_000);
    expect((await (await listen(id)).rest()).length).toBe(headerBytes + second);
    shell.clock.advance(2_000);
    const answer = await shell.get(`/music/${id}/stream`);
    expect(answer.status).toBe(409);
    expect(answer.headers).toMatchObject({ 'x-should-retry': 'false' });
    expect(answer.json().error.message).toMatch(/no longer kept: read the content instead$/);
    shell.clock.advance(24 * 3600_000);
    expect(await statusOf(id)).toBe(404);
  });

  it('[MUSIC-35] of a model that does not stream is a 409', async () => {
    const { id } = await make({ model: 'song-plain' });
    const answer = await shell.get(`/music/${id}/stream`);
    expect(answer.status).toBe(409);
    expect(answer.json().error.message).toBe(
      'The model song-plain does not stream: read the content instead',
    );
    (await engine.playing(id)).fail(new GatewayError('invalid_request', 'no'));
  });

  it.each(['cancelled', 'failed'] as const)(
    '[MUSIC-36] ends when the job is %s, and the job says so',
    async (ending) => {
      const { id } = await make();
      const playing = await engine.playing(id);
      const listener = await listen(id);
      await playing.play(part(0));
      await listener.hear(headerBytes + second);
      if (ending === 'cancelled') await shell.remove(`/music/${id}`);
      else playing.fail(new GatewayError('invalid_request', 'the lyrics cannot be sung'));
      expectSame(samplesOf(await listener.rest()), part(0));
      expect((await shell.finished(id)).status).toBe(ending);
      // Whoever comes now hears as much.
      expectSame(samplesOf(await (await listen(id)).rest()), part(0));
    },
  );

  it('[MUSIC-36] ends when a job is cancelled that nobody ever began', async () => {
    const first = await make({ model: 'song-line' });
    await engine.playing(first.id);
    const { id } = await make({ model: 'song-line' });
    const listener = await listen(id);
    await listener.hear(headerBytes);
    await shell.remove(`/music/${id}`);
    expect(await listener.rest()).toHaveLength(headerBytes);
    expect(await statusOf(id)).toBe(409);
    await shell.remove(`/music/${first.id}`);
  });

  it('[MUSIC-37] of a job that is tried again drops its listeners, and a new one hears it from its beginning', async () => {
    const { id } = await make();
    const first = await engine.playing(id);
    const before = await listen(id);
    await first.play(part(3));
    await before.hear(headerBytes + second);
    first.fail(new GatewayError('unreachable', 'the engine went away'));
    // Dropped: nothing more comes, and the job goes on.
    expectSame(samplesOf(await before.rest()), part(3));
    expect((await shell.finished(id)).status).toBe('in_progress');
    // Before the next attempt begins nothing of the last one is heard.
    const between = await listen(id);
    expect(await between.hear(headerBytes)).toHaveLength(headerBytes);
    shell.clock.advance(30_000);
    await shell.fire('claim');
    const playing = await engine.playing(id, 2);
    await playing.play(part(0));
    const after = await listen(id);
    void playing.play(part(1));
    playing.finish();
    expect((await shell.finished(id)).status).toBe('completed');
    const whole = Buffer.concat([part(0), part(1)]);
    for (const listener of [between, after]) expectSame(samplesOf(await listener.rest()), whole);
  });

  it('goes on for the others when one leaves', async () => {
    const { id } = await make();
    const playing = await engine.playing(id);
    const [leaving, staying] = [await listen(id), await listen(id)];
    await playing.play(part(0));
    await leaving.hear(headerBytes + second);
    await leaving.leave();
    void playing.play(part(1));
    playing.finish();
    expect((await staying.rest()).length).toBe(headerBytes + 2 * second);
    expect((await shell.finished(id)).status).toBe('completed');
  });
});

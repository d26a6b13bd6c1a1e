import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StubRequest } from '../../../test/support/render-stub.ts';
import type { Pixels } from '../../engines/contract/picture.ts';
import { createLog } from '../../lib/log.ts';
import { createMedia, createStudio, type Media, type RunningStudio, type StudioParts } from './index.ts';

const modules = new URL('../../../test/support/', import.meta.url);
const module = new URL('./render-stub.ts', modules);
const never = new AbortController().signal;
const log = createLog('silent');

let shared: RunningStudio;
let media: Media;
const opened: RunningStudio[] = [];

beforeAll(() => {
  shared = createStudio({ log, modules });
  media = createMedia({ log });
});

afterAll(async () => {
  const pids = shared.pids;
  await Promise.all([shared.close(), media.close()]);
  expect(pids.filter(isAlive)).toEqual([]);
});

afterEach(async () => {
  const pids = opened.flatMap((studio) => studio.pids);
  await Promise.all(opened.splice(0).map((studio) => studio.close()));
  // Nothing is left behind.
  expect(pids.filter(isAlive)).toEqual([]);
});

function open(limits: StudioParts['limits'] = {}): RunningStudio {
  const studio = createStudio({ log, modules, limits });
  opened.push(studio);
  return studio;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Extras {
  readonly inputs?: readonly Uint8Array[];
  readonly studio?: RunningStudio;
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  readonly maxCpuMs?: number;
  readonly isAwaited?: boolean;
}

function begin(request: StubRequest, extras: Extras = {}): AsyncGenerator<Uint8Array, unknown> {
  const { inputs = [], studio = shared, signal = never, maxBytes = 1e8, maxCpuMs = 60_000 } = extras;
  const { isAwaited = false } = extras;
  return studio.render({ module, request, inputs, maxBytes, maxCpuMs, isAwaited }, signal);
}

async function run<Result>(
  request: StubRequest,
  extras: Extras = {},
): Promise<{ bytes: Buffer; pieces: number; result: Result }> {
  const parts: Uint8Array[] = [];
  const rendering = begin(request, extras);
  for (;;) {
    const step = await rendering.next();
    if (step.done) return { bytes: Buffer.concat(parts), pieces: parts.length, result: step.value as Result };
    parts.push(step.value);
  }
}

async function film(request: Omit<StubRequest, 'act'> = {}): Promise<Buffer> {
  return (await run({ act: 'film', ...request })).bytes;
}

describe('a studio', () => {
  it('hands over a request and files, and gives back what was put out and returned', async () => {
    const inputs = [Buffer.alloc(3_000_000, 'a'), Buffer.alloc(0), Buffer.from('b')];
    const request = { act: 'echo', when: new Date(0), more: new Map([['a', [1n]]]) };
    const { bytes, pieces, result } = await run(request, { inputs });
    expect(bytes.equals(Buffer.concat(inputs))).toBe(true);
    expect(result).toEqual(request);
    // A mebibyte at a time, and what is smaller as it was put out.
    expect(pieces).toBe(4);
  });

  it('loads no module but those of engines', async () => {
    const studio = createStudio({ log });
    await expect(run({ act: 'echo' }, { studio })).rejects.toThrow('a render is a file of an engine');
    expect(studio.pids).toEqual([]);
    await studio.close();
  });

  it('has walls: a render opens no file and no connection', async () => {
    const path = new URL('../../../README.md', import.meta.url).pathname;
    const { result } = await run({ act: 'burgle', path });
    expect(result).toEqual({ file: 'ERR_ACCESS_DENIED', socket: 'EMFILE' });
  });

  it('does not put what a client waits for behind what jobs have ordered', async () => {
    const studio = open({ processes: 1 });
    const long = begin({ act: 'pieces' }, { studio });
    await long.next();
    const { result } = await run({ act: 'echo' }, { studio, isAwaited: true });
    expect(result).toEqual({ act: 'echo' });
    expect(studio.pids).toHaveLength(2);
    await long.return(undefined);
  });

  it('makes nothing that is not taken, but for two pieces ahead', async () => {
    const rendering = begin({ act: 'pieces' });
    const take = async () => {
      const piece = Buffer.from((await rendering.next()).value as Uint8Array);
      return { number: piece.readUInt32LE(), madeAt: piece.readDoubleLE(8) };
    };
    for (let number = 0; number < 20; number++) expect((await take()).number).toBe(number);
    // In this time it would make thousands.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const resumedAt = Date.now();
    const ahead = [await take(), await take(), await take(), await take()];
    expect(ahead.filter(({ madeAt }) => madeAt < resumedAt).length).toBeLessThanOrEqual(2);
    await rendering.return(undefined);
  });

  it('works on two orders at once, and has the third wait', async () => {
    const studio = open();
    const leaving = new AbortController();
    const busy = [0, 1].map(() => begin({ act: 'wait' }, { studio, signal: leaving.signal }));
    const pids = await Promise.all(busy.map(async (each) => String((await each.next()).value)));
    expect(new Set(pids).size).toBe(2);
    let isDone = false;
    const third = run({ act: 'echo' }, { studio }).then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isDone).toBe(false);
    expect(studio.pids).toHaveLength(2);
    leaving.abort(new Error('left'));
    await third;
    for (const each of busy) await expect(each.next()).rejects.toThrow('left');
  });

  it('lets an order that is given up out of the line', async () => {
    const studio = open({ processes: 1 });
    const busy = begin({ act: 'wait' }, { studio });
    await busy.next();
    const leaving = new AbortController();
    const waiting = run({ act: 'echo' }, { studio, signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await busy.return(undefined);
  });

  it('stops a film in the middle when the signal comes, and its process goes on to the next', async () => {
    const studio = open({ processes: 1 });
    const leaving = new AbortController();
    const rendering = begin({ act: 'endless film' }, { studio, signal: leaving.signal });
    await rendering.next();
    const pids = studio.pids;
    const next = rendering.next();
    leaving.abort(new Error('left'));
    await expect(next).rejects.toThrow('left');
    expect((await run({ act: 'film', frames: 2 }, { studio })).bytes.length).toBeGreaterThan(1_000);
    expect(studio.pids).toEqual(pids);
  });

  it('ends within two seconds what does not listen', async () => {
    const studio = open();
    const leaving = new AbortController();
    const rendering = begin({ act: 'deaf' }, { studio, signal: leaving.signal });
    const pid = Number(Buffer.from((await rendering.next()).value as Uint8Array).toString());
    leaving.abort(new Error('left'));
    await expect(rendering.next()).rejects.toThrow('left');
    const started = performance.now();
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  it.each([
    ['mistake', 'internal'],
    ['function', 'internal'],
    ['abort', 'internal'],
    ['spin', 'internal'],
    ['grow', 'internal'],
    ['outside', 'unreachable'],
  ])('says that a render failed which does %s (%s), and does the next', async (act, kind) => {
    const studio = open({ memoryMb: 300, processes: 1 });
    const maxCpuMs = act === 'spin' ? 1_000 : 60_000;
    await expect(run({ act }, { studio, maxCpuMs })).rejects.toMatchObject({
      name: 'GatewayError',
      kind,
      permanent: false,
    });
    const { result } = await run({ act: 'echo' }, { studio });
    expect(result).toEqual({ act: 'echo' });
  });

  it('says that it cannot be done here where a package is missing, and tells the operator which', async () => {
    const lines: string[] = [];
    const studio = createStudio({ log: createLog('error', { write: (line) => lines.push(line) }), modules });
    opened.push(studio);
    await expect(run({ act: 'missing' }, { studio })).rejects.toMatchObject({
      kind: 'unreachable',
      permanent: true,
      message: 'This cannot be rendered on this installation',
    });
    expect(lines.join('')).toContain('FFmpeg cannot be loaded');
  });

  it('fails what puts out more than it may', async () => {
    const inputs = [Buffer.alloc(600), Buffer.alloc(401)];
    await expect(run({ act: 'echo' }, { inputs, maxBytes: 1_000 })).rejects.toMatchObject({
      kind: 'internal',
    });
    expect((await run({ act: 'echo' }, { inputs, maxBytes: 1_001 })).bytes).toHaveLength(1_001);
  });

  it('ends what is under way when it closes', async () => {
    const studio = open();
    const rendering = begin({ act: 'wait' }, { studio });
    await rendering.next();
    const pids = studio.pids;
    const failed = expect(rendering.next()).rejects.toMatchObject({ kind: 'unreachable' });
    await studio.close();
    await failed;
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('a film', () => {
  it('is H.264 and stereo AAC in an MP4: exact in size, rate and length', async () => {
    const bytes = await film({ sampleRate: 48_000 });
    expect(await media.probeFilm(bytes, 'video', never)).toEqual({
      container: 'mp4',
      durationSeconds: 1,
      audio: { codec: 'aac', sampleRate: 48_000, channels: 2 },
      video: { codec: 'h264', width: 320, height: 192, fps: 24 },
    });
  });

  it('has its index in front of its pictures, and the same film is the same file', async () => {
    const [bytes, again] = await Promise.all([film({ sampleRate: 48_000 }), film({ sampleRate: 48_000 })]);
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const at = (type: string) => bytes.indexOf(type, 0, 'latin1');
    expect(at('moov')).toBeGreaterThan(0);
    expect(at('moov')).toBeLessThan(at('mdat'));
    expect(bytes.equals(again)).toBe(true);
  });

  it('is enlarged by a whole factor', async () => {
    const { video } = await media.probeFilm(await film({ upscale: 2, frames: 3 }), 'video', never);
    expect(video).toMatchObject({ width: 640, height: 384, fps: 24 });
  });

  it('has no sound track when it is silent', async () => {
    const { audio, durationSeconds } = await media.probeFilm(await film({ frames: 30 }), 'video', never);
    expect(audio).toBeUndefined();
    expect(durationSeconds).toBeCloseTo(30 / 24, 5);
  });

  it.each([0, 0.4, 1.25, 3])(
    'has sound exactly as long as its pictures, where %d s were handed over',
    async (soundSeconds) => {
      const bytes = await film({ frames: 30, sampleRate: 48_000, soundSeconds });
      const wav = await media.cut(
        bytes,
        { startSeconds: 0, endSeconds: 60, maxSeconds: 60, sampleRate: 48_000, channels: 2, param: 'x' },
        never,
      );
      expect((wav.length - 44) / 4 / 48_000).toBeCloseTo(30 / 24, 3);
      const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, (wav.length - 44) / 2);
      expect(loudnessOf(samples.subarray(0, 9_600)) > 4_000).toBe(soundSeconds > 0);
      expect(loudnessOf(samples.subarray(-9_600)) > 4_000).toBe(soundSeconds > 1.2);
    },
  );

  it('gives its pictures back: from a place in it, at another rate, smaller', async () => {
    const { result } = await run<{ width: number; height: number; length: number; colour: number[] }[]>(
      { act: 'read film' },
      { inputs: [await film({ sampleRate: 48_000 })] },
    );
    // Half a second of twelve a second: every other one from the twelfth on.
    expect(result).toHaveLength(6);
    for (const [index, picture] of result.entries()) {
      expect(picture).toMatchObject({ width: 160, height: 96, length: 160 * 96 * 4 });
      const expected = [200, (12 + index * 2) * 8, 40, 255];
      for (const [channel, value] of picture.colour.entries())
        expect(Math.abs(value - expected[channel]!)).toBeLessThan(8);
    }
  });

  it('is seen as the camera was held', async () => {
    const bytes = await film({ frames: 24 });
    // A quarter turn, in the matrix of its track's header (ISO 14496-12, section 8.3.2).
    const matrix = bytes.indexOf('tkhd', 0, 'latin1') + 4 + 40;
    [0, 0x10000, 0, -0x10000, 0].forEach((value, index) => {
      bytes.writeInt32BE(value, matrix + index * 4);
    });
    expect((await media.probeFilm(bytes, 'video', never)).video).toMatchObject({ width: 192, height: 320 });
    const { result } = await run<Pixels[]>({ act: 'read film' }, { inputs: [bytes] });
    expect(result[0]).toMatchObject({ width: 96, height: 160 });
  });

  it('gives its sound back, in stereo and no more than asked', async () => {
    const { bytes, result } = await run(
      { act: 'read sound' },
      { inputs: [await film({ sampleRate: 48_000 })] },
    );
    expect(result).toBe(0.75 * 16_000 * 2);
    const samples = new Int16Array(Uint8Array.from(bytes).buffer);
    const crossings = [0, 1].map((channel) => {
      const one = samples.filter((_, index) => index % 2 === channel).subarray(1_600, 9_600);
      return one.filter((value, index) => index > 0 && one[index - 1]! < 0 && value >= 0).length;
    });
    expect(crossings[0]).toBeCloseTo(220, -1);
    expect(crossings[1]).toBeCloseTo(440, -1);
  });

  it('that is none, or breaks, is the fault of who sent it', async () => {
    const whole = await film();
    const broken = Buffer.concat([whole.subarray(0, 3_000), Buffer.alloc(whole.length - 3_000)]);
    broken.fill(0xff, whole.indexOf('mdat', 0, 'latin1') + 4);
    for (const bytes of [Buffer.from('hello'), whole.subarray(0, 100), broken])
      await expect(run({ act: 'read film' }, { inputs: [bytes] })).rejects.toMatchObject({
        kind: 'invalid_request',
      });
  });

  const hasFfprobe = spawnSync('ffprobe', ['-version']).status === 0;
  it.skipIf(!hasFfprobe)('is what FFmpeg says that it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'roundhouse-film-'));
    try {
      const path = join(folder, 'film.mp4');
      writeFileSync(path, await film({ sampleRate: 48_000 }));
      const args = ['-v', 'error', '-count_frames', '-show_streams', '-of', 'json', path];
      const { streams } = JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' }));
      expect(streams).toMatchObject([
        {
          codec_name: 'h264',
          profile: 'High',
          pix_fmt: 'yuv420p',
          r_frame_rate: '24/1',
          nb_read_frames: '24',
        },
        { codec_name: 'aac', channels: 2, sample_rate: '48000' },
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a picture', () => {
  it('is written as png, jpeg and webp, and read back', async () => {
    const { result } = await run<{ bytes: Uint8Array; mediaType: string; back: Pixels }[]>({
      act: 'pictures',
    });
    const [png, jpeg, webp] = result;
    expect(result.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/jpeg', 'image/webp']);
    expect([...png!.back.data]).toEqual([255, 0, 0, 255, 0, 0, 255, 0]);
    // Clear becomes white where there is no clear.
    expect(jpeg!.back.data[3]).toBe(255);
    expect(jpeg!.back.data[7]).toBe(255);
    expect(jpeg!.back.data[5]).toBeGreaterThan(200);
    expect(webp!.back.data[7]).toBe(0);
    for (const { back } of result) expect(back).toMatchObject({ width: 2, height: 1 });
  });

  it('is turned upright', async () => {
    const [, jpeg] = (await run<{ bytes: Uint8Array }[]>({ act: 'pictures' })).result;
    // "Rotate by a quarter": tag 0x0112 of an Exif segment with one entry.
    const exif = Buffer.from(
      '457869660000' + '4d4d002a00000008' + '0001' + '011200030000000100060000' + '00000000',
      'hex',
    );
    const length = Buffer.alloc(2);
    length.writeUInt16BE(exif.length + 2);
    const turned = Buffer.concat([
      jpeg!.bytes.subarray(0, 2),
      Buffer.from([0xff, 0xe1]),
      length,
      exif,
      jpeg!.bytes.subarray(2),
    ]);
    const { result } = await run<Pixels[]>({ act: 'read pictures' }, { inputs: [turned] });
    expect(result[0]).toMatchObject({ width: 1, height: 2 });
  });

  it('that is none is the fault of who sent it', async () => {
    for (const bytes of [Buffer.from('hello'), Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')])
      await expect(run({ act: 'read pictures' }, { inputs: [bytes] })).rejects.toMatchObject({
        kind: 'invalid_request',
        message: 'A file that was sent cannot be decoded as a picture',
      });
  });
});

function loudnessOf(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
}

/** A module for a studio that draws a small film and plays a tone, or misbehaves as it is told. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Stage } from '../../src/engines/contract/studio.ts';
import { Missing } from '../../src/platform/media/program/problem.ts';

export interface StubRequest {
  readonly act: string;
  readonly frames?: number;
  readonly upscale?: number;
  readonly sampleRate?: number;
  /** Of the sound that is handed over, whatever the film lasts. */
  readonly soundSeconds?: number;
  readonly path?: string;
}

export const width = 320;
export const height = 192;
export const fps = 24;

/** Every picture is of one colour, with a white square that wanders to the right. */
export function drawFrame(number: number): Uint8Array {
  const pixels = new Uint8Array(width * height * 4);
  for (let at = 0; at < pixels.length; at += 4) {
    const x = (at / 4) % width;
    const y = Math.floor(at / 4 / width);
    const isSquare = x >= number * 10 && x < number * 10 + 40 && y >= 80 && y < 120;
    pixels[at] = isSquare ? 255 : 200;
    pixels[at + 1] = isSquare ? 255 : number * 8;
    pixels[at + 2] = isSquare ? 255 : 40;
    pixels[at + 3] = 255;
  }
  return pixels;
}

export function makeTone(seconds: number, sampleRate: number): Int16Array {
  return Int16Array.from(
    { length: Math.round(seconds * sampleRate) * 2 },
    (_, i) => 8_000 * Math.sin((2 * Math.PI * (i % 2 === 0 ? 440 : 880) * Math.floor(i / 2)) / sampleRate),
  );
}

export async function render(
  request: StubRequest,
  inputs: readonly Buffer[],
  stage: Stage,
): Promise<unknown> {
  const { tools } = stage;
  const { frames = 24, upscale = 1, sampleRate, soundSeconds = frames / fps } = request;
  switch (request.act) {
    case 'film': {
      const film = tools.createFilm({
        width,
        height,
        fps,
        upscale,
        ...(sampleRate === undefined ? {} : { sampleRate }),
      });
      if (sampleRate !== undefined) await film.sound(makeTone(soundSeconds, sampleRate));
      for (let number = 0; number < frames; number++) await film.frame(drawFrame(number));
      await stage.emit(await film.finish());
      return { frames };
    }
    case 'endless film': {
      const film = tools.createFilm({ width, height, fps, upscale: 1 });
      await stage.emit(Buffer.from('begun'));
      for (let number = 0; ; number++) await film.frame(drawFrame(number % 24));
    }
    case 'read film': {
      const pictures = [];
      const reading = { startSeconds: 0.5, fps: 12, maxFrames: 100, maxSide: 160 };
      for await (const { width, height, data } of tools.readFilm(inputs[0]!, reading)) {
        const at = (Math.floor(height / 4) * width + 1) * 4;
        pictures.push({ width, height, length: data.length, colour: [...data.subarray(at, at + 4)] });
      }
      return pictures;
    }
    case 'read sound': {
      const samples = await tools.readSound(inputs[0]!, { sampleRate: 16_000, maxSeconds: 0.75 });
      await stage.emit(new Uint8Array(samples.buffer));
      return samples.length;
    }
    case 'pictures': {
      const files = [];
      const square = { width: 2, height: 1, data: new Uint8Array([255, 0, 0, 255, 0, 0, 255, 0]) };
      for (const format of ['png', 'jpeg', 'webp'] as const) {
        const file = await tools.writePicture(square, { format, compression: 100 });
        files.push({ ...file, back: await tools.readPicture(file.bytes) });
      }
      return files;
    }
    case 'read pictures':
      return Promise.all(inputs.map((bytes) => tools.readPicture(bytes, 64)));
    case 'echo':
      for (const input of inputs) await stage.emit(input);
      return request;
    case 'pieces':
      for (let number = 0; ; number++) {
        const piece = Buffer.alloc(1_000);
        piece.writeUInt32LE(number);
        piece.writeDoubleLE(Date.now(), 8);
        await stage.emit(piece);
        await setImmediate();
      }
    case 'wait':
      await stage.emit(Buffer.from(String(process.pid)));
      for (;;) {
        stage.throwIfStopped();
        await setImmediate();
      }
    case 'deaf':
      await stage.emit(Buffer.from(String(process.pid)));
      for (;;);
    case 'mistake':
      throw new Error('a mistake');
    case 'missing':
      throw new Missing('FFmpeg cannot be loaded');
    case 'function':
      return () => 'not to be cloned';
    case 'abort':
      return process.abort();
    case 'outside':
      process.kill(process.pid, 'SIGKILL');
      return setImmediate();
    case 'spin':
      for (;;) {
        for (let i = 0; i < 1e6; i++);
        await setImmediate();
      }
    case 'grow':
      for (const kept: Buffer[] = []; ; ) {
        kept.push(Buffer.alloc(4e6, 1));
        await setImmediate();
      }
    case 'burgle':
      return { file: attempt(() => readFileSync(request.path!)), socket: await dial() };
    default:
      throw new Error(`no act ${request.act}`);
  }
}

function attempt(open: () => unknown): string {
  try {
    return `opened ${open()}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function dial(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(9, '127.0.0.1', () => resolve('connected'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

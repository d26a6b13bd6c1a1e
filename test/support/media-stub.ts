/** A media program without FFmpeg whose jobs misbehave as they are told, for tests of the processes themselves. */
import { Problem } from '../../src/platform/media/program/problem.ts';
import type { Jobs } from '../../src/platform/media/program/protocol.ts';
import { serve } from '../../src/platform/media/program/serve.ts';

const keep: Buffer[] = [];
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The input says what to do; the answer goes where the container's name would stand. */
const probe: Jobs['probe'] = async (input, _options, output) => {
  const answer = (container: string) => ({
    container,
    durationSeconds: 0,
    audio: undefined,
    video: undefined,
  });
  switch (input.toString()) {
    case 'abort':
      process.abort();
      break;
    case 'outside':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'exit':
      process.exit(3);
      break;
    case 'hang':
      for (;;);
    case 'spin':
      for (;;) {
        for (let i = 0; i < 1e6; i++);
        await turn();
      }
    case 'grow':
      for (;;) {
        keep.push(Buffer.alloc(4e6, 1));
        await turn();
      }
    case 'problem':
      throw new Problem('is not to my liking');
    case 'mistake':
      throw new Error('a mistake');
    case 'wait':
      for (;;) {
        output.throwIfStopped();
        await turn();
      }
    case 'deaf':
      await new Promise(() => setInterval(() => {}, 1000));
      break;
    case 'environment':
      return answer(JSON.stringify(process.env));
  }
  return answer(String(input.length));
};

/** Pieces without end, each with its number and the time at which it was made. */
const decode: Jobs['decode'] = async (_input, _options, output) => {
  for (let number = 0; ; number++) {
    const piece = Buffer.alloc(1_000);
    piece.writeUInt32LE(number);
    piece.writeDoubleLE(Date.now(), 8);
    await output.emit(piece);
    await turn();
  }
};

await serve(async () => ({ probe, decode }));

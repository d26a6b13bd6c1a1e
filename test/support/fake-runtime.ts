/**
 * A model program without a model, for tests of the host and of the chat port: what it does is told in the
 * task's kind, and for chat in the words of the last message.
 */
import { serve } from '../../src/engines/embedded/host/serve.ts';
import type { LoadedModel, ModelFiles, Task } from '../../src/engines/embedded/host/types.ts';
import { GatewayError } from '../../src/lib/errors.ts';
import { answerFakeChat, countFakeTokens } from './fake-chat.ts';

const hoard: Buffer[] = [];
let loads = 0;

const forever = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const alive = setInterval(() => {}, 1_000);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      reject(signal.reason);
    });
  });

async function load({ name, options }: ModelFiles): Promise<LoadedModel> {
  loads += 1;
  if (name === 'damaged') throw new Error('bad magic in /srv/models/damaged/model.gguf');
  if (name === 'never') await new Promise(() => {});
  if (typeof options['loadMs'] === 'number')
    await new Promise((resolve) => setTimeout(resolve, options['loadMs'] as number));
  if (typeof options['loadMb'] === 'number') hoard.push(Buffer.alloc(options['loadMb'] * 1024 * 1024, 1));
  return {
    concurrency: typeof options['concurrency'] === 'number' ? options['concurrency'] : 1,
    quick: ['count'],
    run,
    dispose: async () => {},
  };
}

async function run(
  { kind, input }: Omit<Task, 'model'>,
  emit: (part: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> {
  switch (kind) {
    case 'echo':
      return input;
    case 'who':
      return { pid: process.pid, loads, environment: Object.keys(process.env) };
    case 'parts':
      for (let part = 1; part <= (input as number); part++) emit(part);
      return 'all';
    case 'crash':
      emit('last words');
      await new Promise((resolve) => setImmediate(resolve));
      return process.kill(process.pid, 'SIGKILL');
    case 'throw':
      throw new Error('secret of /srv/models');
    case 'refuse':
      throw new GatewayError('invalid_request', 'too long', { param: 'messages' });
    case 'wait':
      emit('waiting');
      return forever(signal);
    case 'tick': {
      const ticking = setInterval(() => emit('tick'), 5);
      return forever(signal).finally(() => clearInterval(ticking));
    }
    case 'deaf':
      emit('waiting');
      return new Promise(() => {});
    case 'block':
      emit('blocked');
      await new Promise((resolve) => setTimeout(resolve, 20));
      for (;;) Math.random();
    case 'grow':
      hoard.push(Buffer.alloc((input as number) * 1024 * 1024, 1));
      return process.pid;
    case 'chat':
      return answerFakeChat(input, emit, signal);
    case 'count':
      return countFakeTokens(input);
    default:
      throw new Error(`unknown kind ${kind}`);
  }
}

serve(() => ({ load }));

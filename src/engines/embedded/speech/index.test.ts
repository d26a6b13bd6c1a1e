import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../lib/errors.ts';
import type { SpeechRequest } from '../../contract/speech.ts';
import type { ModelFiles, ModelHost, Task } from '../host/types.ts';
import { createSpeechPort } from './index.ts';
import type { SpeakInput } from './types.ts';

const files: ModelFiles = { name: 'kokoro', files: {}, options: {} };

/** A host whose answers the test gives. */
function setUp(resolve: (model: string) => Promise<ModelFiles> = async () => files) {
  const tasks: { input: SpeakInput; signal: AbortSignal; done(samples: Int16Array | Error): void }[] = [];
  const host = {
    run: (task: Task, signal: AbortSignal) =>
      new Promise((give, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const done = (samples: Int16Array | Error) =>
          samples instanceof Error ? reject(samples) : give(samples);
        tasks.push({ input: task.input as SpeakInput, signal, done });
      }),
  } as unknown as ModelHost;
  const port = createSpeechPort({ hostOf: () => host, resolve });
  const heard: string[] = [];
  const speak = (changes: Partial<SpeechRequest> = {}) =>
    port.speak(
      {
        model: 'k',
        input: 'One here. Two there. Three.',
        voice: { type: 'builtin', id: 'af_heart' },
        ...changes,
      },
      {
        audio: (pcm) => void heard.push(`audio ${pcm.length}`),
        end: () => void heard.push('end'),
        fail: ({ kind, param }) => void heard.push(`fail ${kind} ${param ?? ''}`.trim()),
      },
    );
  return { tasks, heard, speak };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const samples = (length: number) => new Int16Array(length).fill(1);

describe('a text', () => {
  it('is spoken piece by piece: the first is heard before the second is begun', async () => {
    const { tasks, heard, speak } = setUp();
    speak();
    await turn();
    expect(tasks.map(({ input }) => input)).toEqual([
      { text: 'One here.', voice: 'af_heart', ending: 'sentence' },
    ]);
    tasks[0]!.done(samples(10));
    await turn();
    expect(heard).toEqual(['audio 20']);
    tasks[1]!.done(samples(20));
    await turn();
    tasks[2]!.done(samples(30));
    await turn();
    expect(heard).toEqual(['audio 20', 'audio 40', 'audio 60', 'end']);
  });

  it('begins with a short piece when it is listened to already', async () => {
    const { tasks, speak } = setUp();
    const input = 'The quick brown fox jumps over the lazy dog.';
    speak({ input });
    speak({ input, isStreamed: true });
    await turn();
    expect(tasks.map((task) => task.input.text)).toEqual([input, 'The quick brown']);
  });

  it('waits while the reader is slow', async () => {
    const { tasks, speak } = setUp();
    const run = speak();
    await turn();
    run.pause();
    tasks[0]!.done(samples(10));
    await turn();
    expect(tasks).toHaveLength(1);
    run.resume();
    await turn();
    expect(tasks).toHaveLength(2);
    run.abort();
  });

  it('stops at once when the reader leaves, and nothing more is heard', async () => {
    const { tasks, heard, speak } = setUp();
    const run = speak();
    await turn();
    run.abort();
    expect(tasks[0]!.signal.aborted).toBe(true);
    tasks[0]!.done(samples(10));
    await turn();
    expect([heard, tasks.length]).toEqual([[], 1]);
  });

  it('fails as the process does, also in the middle', async () => {
    const { tasks, heard, speak } = setUp();
    speak();
    await turn();
    tasks[0]!.done(samples(10));
    await turn();
    tasks[1]!.done(new GatewayError('unreachable', 'gone'));
    await turn();
    expect(heard).toEqual(['audio 20', 'fail unreachable']);
  });

  it('fails while its model is being fetched', async () => {
    const { heard, speak } = setUp(async () => {
      throw new GatewayError('overloaded', 'It is being fetched');
    });
    speak();
    await turn();
    expect(heard).toEqual(['fail overloaded']);
  });
});

describe('what cannot be spoken', () => {
  it.each([
    [{ voice: { type: 'design', description: 'x' } } as const, 'voice'],
    [{ voice: { type: 'clone', clip: Buffer.from('') } } as const, 'voice'],
    [{ language: 'de' }, 'language'],
    [{ language: 'German' }, 'language'],
    [{ input: '… !' }, 'input'],
  ])('%j is refused by its name', async (changes, param) => {
    const { heard, speak } = setUp();
    speak(changes);
    await turn();
    expect(heard).toEqual([`fail invalid_request ${param}`]);
  });

  it.each(['en', 'EN', 'en-US', 'English', 'en_GB'])('the language %s is English', async (language) => {
    const { tasks, speak } = setUp();
    speak({ language });
    await turn();
    expect(tasks).toHaveLength(1);
  });

  it('in part is left out; in whole it is refused', async () => {
    const { tasks, heard, speak } = setUp();
    speak({ input: '你好。 Hello.' });
    await turn();
    tasks[0]!.done(samples(0));
    await turn();
    tasks[1]!.done(samples(5));
    await turn();
    speak({ input: '你好。' });
    await turn();
    tasks[2]!.done(samples(0));
    await turn();
    expect(heard).toEqual(['audio 10', 'end', 'fail invalid_request input']);
  });
});

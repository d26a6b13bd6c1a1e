/** What the gateway is kept busy with beside the load: its own models, and what it does with files itself. */
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

export const workNames = ['text', 'audio', 'images'] as const;
export type WorkName = (typeof workNames)[number];

/** Sends a request to the gateway and answers when it was taken; throws when it was refused. */
export type Post = (path: string, body: object | FormData) => Promise<Response>;
/** Tells what was done, by name. */
export type Count = (what: string, amount: number) => void;

export interface Work {
  /** Weights that it needs. */
  readonly packs: readonly string[];
  /** The most that it may add to the p99 of a request beside it. */
  readonly budgetMs: number;
  /** Each of them is repeated until the end, all at once. */
  tasks(post: Post, count: Count): readonly (() => Promise<void>)[];
}

const embeddingInputs = 2_048;
const editsAtOnce = 8;
const editMegabytes = 20;

export const works: Readonly<Record<WorkName, Work>> = {
  text: {
    packs: ['tinyllama-1.1b-chat', 'all-minilm-l6-v2'],
    budgetMs: 10,
    tasks: (post, count) => [
      async () => {
        const messages = [{ role: 'user', content: 'Tell me a long story about a roundhouse.' }];
        const body = { model: 'tinyllama-1.1b-chat', messages, stream: true, max_tokens: 400 };
        for await (const _ of (await post('/chat/completions', body)).body ?? []) count('tokens', 1);
      },
      async () => {
        const input = Array.from(
          { length: embeddingInputs },
          (_, index) => `Locomotive number ${index} turns on the table.`,
        );
        const body = { model: 'all-minilm-l6-v2', input, encoding_format: 'base64' };
        await (await post('/embeddings', body)).arrayBuffer();
        count('embeddings', embeddingInputs);
      },
    ],
  },
  audio: {
    packs: ['kokoro-82m', 'whisper-base'],
    budgetMs: 10,
    tasks(post, count) {
      const input =
        'The turntable was built in eighteen ninety. It carries engines of a hundred tons. Two people can turn it by hand.';
      const speak = async () =>
        (await post('/audio/speech', { model: 'kokoro-82m', input, response_format: 'wav' })).arrayBuffer();
      let spoken: Promise<ArrayBuffer> | undefined;
      return [
        async () => {
          count('seconds spoken', Math.round((await speak()).byteLength / 48_000));
        },
        async () => {
          spoken ??= speak();
          const form = new FormData();
          form.set('model', 'whisper-base');
          form.set('file', new Blob([await spoken]), 'speech.wav');
          await (await post('/audio/transcriptions', form)).arrayBuffer();
          count('seconds heard', Math.round((await spoken).byteLength / 48_000));
        },
      ];
    },
  },
  images: {
    packs: [],
    budgetMs: 20,
    tasks(post, count) {
      const picture = new Blob([noisePng(editMegabytes * 1e6)]);
      const edit = async () => {
        const form = new FormData();
        form.set('model', 'sandbox-image-edit');
        form.set('prompt', 'A lighthouse at dusk');
        form.set('size', '512x512');
        form.set('response_format', 'b64_json');
        form.set('image', picture, 'noise.png');
        await (await post('/images/edits', form)).arrayBuffer();
        count(`edits of ${editMegabytes} MB`, 1);
      };
      return Array.from({ length: editsAtOnce }, () => edit);
    },
  },
};

/** A picture that does not get smaller: a little under so many bytes. */
function noisePng(bytes: number): Uint8Array<ArrayBuffer> {
  const side = Math.floor(Math.sqrt((bytes * 0.98) / 3));
  const rows = Buffer.alloc(side * (side * 3 + 1));
  for (let row = 0; row < side; row++) randomBytes(side * 3).copy(rows, row * (side * 3 + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(rows, { level: 0 })),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

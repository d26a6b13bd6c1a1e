/**
 * `node benchmarks/micro.ts`: what one chunk of a stream costs in the event reader and the chat renderer, in
 * this process, without sockets. Budget: 1.5 µs a chunk.
 */
import { ChatRenderer } from '../src/api/chat/stream.ts';
import { ChatEventReader } from '../src/engines/openai-compatible/sse.ts';
import type { StreamOut } from '../src/http/reply.ts';
import { quantile } from './measure.ts';
import { cjkPieces, plainPieces, toEvents } from './traffic.ts';

const rounds = 40;
const streamsPerRound = 200;

/** Takes the bytes as a socket would: they are written to memory once. */
class MemoryOut implements StreamOut {
  readonly #memory = Buffer.allocUnsafe(1024 * 1024);
  readonly isStarted = true;
  written = 0;

  write(bytes: string): void {
    this.written += this.#memory.write(bytes, 0, 'latin1');
  }

  end(bytes: string): void {
    this.write(bytes);
  }

  onPressure(): void {}
}

const out = new MemoryOut();
const shape = { id: 'chatcmpl-0123456789abcdef01234567', created: 1_763_164_800, model: 'qwen3-8b', n: 1 };

type Read = (reads: readonly Buffer[]) => void;

const throughTheGateway: Read = (reads) => {
  const renderer = new ChatRenderer(out, { ...shape, includeUsage: false });
  const reader = new ChatEventReader(renderer, { n: 1 });
  for (const read of reads) {
    reader.push(read);
    if (!reader.isOver) renderer.flush();
  }
};

/** What the learned templates save: every chunk parsed, rebuilt and written again. */
const parsedAndWritten: Read = (reads) => {
  let rest = '';
  for (const read of reads) {
    const events = (rest + read.toString('utf8')).split('\n\n');
    rest = events.pop() ?? '';
    let bytes = '';
    for (const event of events) {
      const data = event.slice('data: '.length);
      bytes +=
        data === '[DONE]'
          ? 'data: [DONE]\n\n'
          : `data: ${JSON.stringify({ ...JSON.parse(data), ...shape })}\n\n`;
    }
    out.write(Buffer.from(bytes).toString('latin1'));
  }
};

function nsPerChunk(read: Read, reads: readonly Buffer[], chunks: number): number {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = process.hrtime.bigint();
    for (let i = 0; i < streamsPerRound; i++) read(reads);
    samples.push(Number(process.hrtime.bigint() - startedAt) / (streamsPerRound * chunks));
  }
  // The first rounds are the compiler's.
  return quantile(samples.slice(rounds / 4), 0.25);
}

console.log('ns per chunk                    1 chunk per read   all in one read');
for (const [name, pieces] of [
  ['plain text', plainPieces],
  ['CJK text', cjkPieces],
] as const) {
  const events = toEvents(pieces).map((event) => Buffer.from(event));
  for (const [what, read] of [
    ['reader and renderer', throughTheGateway],
    ['parse and stringify', parsedAndWritten],
  ] as const) {
    const single = nsPerChunk(read, events, events.length);
    const joined = nsPerChunk(read, [Buffer.concat(events)], events.length);
    const label = `${what}, ${name}`;
    console.log(`${label.padEnd(32)}${single.toFixed(0).padStart(16)}${joined.toFixed(0).padStart(18)}`);
  }
}

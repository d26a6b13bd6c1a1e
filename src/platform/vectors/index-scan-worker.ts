/** The thread of `index-scan.ts`: reads vectors, keeps them, and compares them with a question's. */
import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import type { Database, SqlValue } from '../../storage/database.ts';
import { openPostgres } from '../../storage/postgres.ts';
import { rangeOf } from './store-rows.ts';

export interface ScanRequest {
  readonly id: number;
  readonly collectionNumber: number;
  readonly vector: Float32Array;
  readonly limit: number;
  /** Which files are looked into: a condition on `f`. */
  readonly files: { readonly text: string; readonly values: readonly SqlValue[] };
}

export interface ScanReply {
  readonly id: number;
  readonly found?: { number: number; similarity: number }[];
  readonly failure?: string;
}

/** The vectors of a collection, one after the other. */
interface Kept {
  version: number;
  removals: number;
  dimensions: number;
  count: number;
  numbers: Float64Array;
  files: Float64Array;
  values: Float32Array;
  /** Where each number stands. */
  places: Map<number, number>;
}

interface Row {
  number: number;
  file_no: number;
  embedding: Uint8Array;
}

const port = parentPort;
assert(port !== null, 'this file runs as a worker thread');
const rowsPerPage = 2_000;
function createScanner({ url, maxBytes }: { url: string; maxBytes: number }) {
  /** The least recently used comes first. */
  const kept = new Map<number, Kept>();
  let opened: Promise<Database> | undefined;

  function database(): Promise<Database> {
    opened ??= openPostgres({ url, maxConnections: 1 }).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  async function search({
    collectionNumber,
    vector,
    limit,
    files,
  }: ScanRequest): Promise<ScanReply['found']> {
    const sql = await database();
    const [collection] = await sql.query<{ version: number; removals: number; item_count: number }>(
      'select version, removals, item_count from vector_collections where number = $1',
      [collectionNumber],
    );
    if (collection === undefined) return [];
    const rows = await sql.query<{ number: number }>(
      `select f.number from vector_files f where ${files.text}`,
      files.values,
    );
    const inFiles = new Set(rows.map(({ number }) => number));
    const best = createBest(limit);
    const bytes = collection.item_count * (vector.byteLength + 16);
    if (bytes > maxBytes) {
      // Too large to keep: page by page, every time.
      kept.delete(collectionNumber);
      for await (const page of pagesOf(sql, collectionNumber, -1)) {
        for (const { number, file_no, embedding } of page) {
          if (inFiles.has(file_no)) best.offer(number, dot(vector, toFloats(embedding), 0));
        }
      }
      return best.sorted();
    }
    const current = await upToDate(sql, collectionNumber, collection, vector.length);
    makeRoom(collectionNumber);
    const { numbers, files: fileNumbers, values, count, dimensions } = current;
    for (let place = 0, offset = 0; place < count; place++, offset += dimensions) {
      if (inFiles.has(fileNumbers[place] as number))
        best.offer(numbers[place] as number, dot(vector, values, offset));
    }
    return best.sorted();
  }

  async function upToDate(
    sql: Database,
    collectionNumber: number,
    { version, removals, item_count }: { version: number; removals: number; item_count: number },
    dimensions: number,
  ): Promise<Kept> {
    let entry = kept.get(collectionNumber);
    if (entry?.dimensions !== dimensions) entry = empty(dimensions, item_count);
    if (entry.version !== version) {
      for await (const page of pagesOf(sql, collectionNumber, entry.version))
        for (const row of page) put(entry, row);
      entry.version = version;
    }
    // A file that has gone is left out by its number; single items are looked for. So is what a purge has left behind.
    if (entry.removals !== removals || entry.count > item_count * 1.5 + 1_000) {
      const rows = await sql.query<{ number: number }>(
        'select number from vector_embeddings where number between $1 and $2',
        rangeOf(collectionNumber),
      );
      keepOnly(entry, new Set(rows.map(({ number }) => number)));
      entry.removals = removals;
    }
    kept.delete(collectionNumber);
    kept.set(collectionNumber, entry);
    return entry;
  }

  /** Those that were asked longest ago go first; the one that is asked now stays. */
  function makeRoom(current: number): void {
    let bytes = 0;
    for (const { numbers, values } of kept.values()) bytes += values.byteLength + numbers.byteLength * 2;
    for (const [number, { numbers, values }] of kept) {
      if (bytes <= maxBytes || number === current) return;
      kept.delete(number);
      bytes -= values.byteLength + numbers.byteLength * 2;
    }
  }

  return {
    search,
    async close(): Promise<void> {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** What was written after a version, in the order of their numbers. */
async function* pagesOf(sql: Database, collectionNumber: number, version: number): AsyncGenerator<Row[]> {
  const [first, last] = rangeOf(collectionNumber);
  let from = first;
  for (;;) {
    const page = await sql.query<Row>(
      `select number, file_no, embedding from vector_embeddings where number between $1 and $2 and version > $3
       order by number limit $4`,
      [from, last, version, rowsPerPage],
    );
    yield page;
    if (page.length < rowsPerPage) return;
    from = (page.at(-1)?.number ?? last) + 1;
  }
}

function empty(dimensions: number, room: number): Kept {
  return {
    version: -1,
    removals: -1,
    dimensions,
    count: 0,
    numbers: new Float64Array(room),
    files: new Float64Array(room),
    values: new Float32Array(room * dimensions),
    places: new Map(),
  };
}

function put(entry: Kept, { number, file_no, embedding }: Row): void {
  const floats = toFloats(embedding);
  if (floats.length !== entry.dimensions) return;
  const place = entry.places.get(number) ?? entry.count++;
  if (place >= entry.numbers.length) grow(entry);
  entry.places.set(number, place);
  entry.numbers[place] = number;
  entry.files[place] = file_no;
  entry.values.set(floats, place * entry.dimensions);
}

function grow(entry: Kept): void {
  const room = Math.ceil(entry.numbers.length * 1.25) + 64;
  const { numbers, files, values } = entry;
  entry.numbers = new Float64Array(room);
  entry.numbers.set(numbers);
  entry.files = new Float64Array(room);
  entry.files.set(files);
  entry.values = new Float32Array(room * entry.dimensions);
  entry.values.set(values);
}

function keepOnly(entry: Kept, numbers: ReadonlySet<number>): void {
  const { dimensions } = entry;
  let end = 0;
  entry.places.clear();
  for (let place = 0; place < entry.count; place++) {
    const number = entry.numbers[place] as number;
    if (!numbers.has(number)) continue;
    entry.numbers[end] = number;
    entry.files[end] = entry.files[place] as number;
    entry.values.copyWithin(end * dimensions, place * dimensions, (place + 1) * dimensions);
    entry.places.set(number, end);
    end++;
  }
  entry.count = end;
}

/** Four sums side by side, which the processor adds at once. */
function dot(question: Float32Array, values: Float32Array, offset: number): number {
  const { length } = question;
  const whole = length - (length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let place = 0; place < whole; place += 4) {
    const at = offset + place;
    a += (question[place] as number) * (values[at] as number);
    b += (question[place + 1] as number) * (values[at + 1] as number);
    c += (question[place + 2] as number) * (values[at + 2] as number);
    d += (question[place + 3] as number) * (values[at + 3] as number);
  }
  for (let place = whole; place < length; place++)
    a += (question[place] as number) * (values[offset + place] as number);
  return a + b + c + d;
}

/** The best so many, found without sorting the rest. */
function createBest(limit: number) {
  let best: { number: number; similarity: number }[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  const inOrder = () =>
    best.sort((one, other) => other.similarity - one.similarity || one.number - other.number).slice(0, limit);
  return {
    offer(number: number, similarity: number): void {
      if (similarity < worst) return;
      best.push({ number, similarity });
      if (best.length < limit * 2) return;
      best = inOrder();
      worst = best.at(-1)?.similarity ?? worst;
    },
    sorted: () => inOrder(),
  };
}

function toFloats(bytes: Uint8Array): Float32Array {
  // A view needs a place that four divides.
  return bytes.byteOffset % 4 === 0
    ? new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
    : new Float32Array(new Uint8Array(bytes).buffer);
}

/** One after the other: they share what is kept. */
function serve(scanner: ReturnType<typeof createScanner>): void {
  let last: Promise<void> = Promise.resolve();

  async function answer(request: ScanRequest): Promise<void> {
    try {
      port?.postMessage({ id: request.id, found: (await scanner.search(request)) ?? [] } satisfies ScanReply);
    } catch (error) {
      port?.postMessage({ id: request.id, failure: (error as Error).message } satisfies ScanReply);
    }
  }

  port?.on('message', (message: ScanRequest | 'close') => {
    last = last.then(async () => {
      if (message !== 'close') return answer(message);
      await scanner.close();
      port.close();
    });
  });
}

serve(createScanner(workerData as { url: string; maxBytes: number }));

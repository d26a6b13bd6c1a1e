import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openDatabase } from '../src/storage/index.ts';
import { createTestPlace } from './support/database.ts';
import { makePdf } from './support/documents.ts';
import { createVectorPlatform, owner } from './support/vector-platform.ts';

const program = fileURLToPath(new URL('./support/ingest-child.ts', import.meta.url));
/** Longer than a lease. */
const restartMs = 40_000;

const words = 'the committee will meet in the old library on monday morning and read what was written'.split(
  ' ',
);
const pages = Array.from({ length: 500 }, (_, page) =>
  Array.from({ length: 30 }, (_, line) =>
    Array.from({ length: 8 }, (_, place) => `${words[(page + line * 8 + place) % words.length]}${page}`).join(
      ' ',
    ),
  ),
);
/** One line below the other: what stands beyond the edge of a page is not read. */
const nextLine = ') Tj 0 -14 Td (';

interface Progress {
  readonly status: string;
  readonly cut: number;
  readonly embedded: number;
}

/** Runs a process on the place until `isEnough`, kills it there, and answers how far it was. */
async function work(
  place: { folder: string; env: Record<string, string> },
  run: number,
  isEnough: (progress: Progress) => boolean,
): Promise<Progress> {
  const args = [program, place.folder, String(run * restartMs), ...Object.values(place.env)];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    for await (const line of createInterface(child.stdout)) {
      const [status = '', cut, embedded] = line.split(' ');
      const progress = { status, cut: Number(cut), embedded: Number(embedded) };
      if (isEnough(progress)) return progress;
    }
    throw new Error('the process ended before it was killed');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Adds the file without working at it. */
async function upload(place: { folder: string; env: Record<string, string> }): Promise<void> {
  const database = await openDatabase({ databaseUrl: place.env['DATABASE_URL'], folder: place.folder });
  const platform = await createVectorPlatform({
    database,
    folder: place.folder,
    limits: { lanes: [] },
    embedding: { embed: () => Promise.reject(new Error('not asked')) },
  });
  await platform.add(
    await platform.createCollection(),
    'minutes.pdf',
    makePdf(pages.map((lines) => lines.join(nextLine))),
  );
  await platform.close();
  await database.close();
}

async function result(place: { folder: string; env: Record<string, string> }) {
  const database = await openDatabase({ databaseUrl: place.env['DATABASE_URL'], folder: place.folder });
  try {
    const items = await database.query<{ id: string; position: number; description: string; text: string }>(
      'select id, position, description, text from vector_items where is_ready = 1 order by position',
    );
    const [file] = await database.query('select status, item_count, chunks_cut, is_cut from vector_files');
    const [vectors] = await database.query('select count(*) as count from vector_embeddings');
    const [bills] = await database.query(
      'select count(*) as count, sum(prompt_tokens) as tokens, sum(cost_pico) as cost from ledger where subscription_id = $1',
      [owner],
    );
    const [sums] = await database.query(
      'select sum(requests) as count, sum(prompt_tokens) as tokens from usage_days',
    );
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    return { items: items.map(({ id: _, ...item }) => item), file, vectors, bills, sums };
  } finally {
    await database.close();
  }
}

it('kill -9 during the ingest of a 500-page PDF: after the restart it completes, with no duplicate and no missing chunk, and is billed once', async () => {
  const calm = await createTestPlace();
  const killed = await createTestPlace();
  try {
    await upload(calm);
    await work(calm, 1, ({ status }) => status === 'completed');
    const expected = await result(calm);
    const total = expected.items.length;
    expect(total).toBeGreaterThan(200);
    expect(expected.items.map(({ position }) => position)).toEqual(
      Array.from({ length: total }, (_, n) => n),
    );
    // Every word of every page stands somewhere.
    const found = new Set(expected.items.flatMap(({ text }) => text.split(/\s+/)));
    expect(
      pages
        .flat()
        .flatMap((line) => line.split(' '))
        .filter((word) => !found.has(word)),
    ).toEqual([]);

    await upload(killed);
    const stops: ((progress: Progress) => boolean)[] = [
      ({ cut }) => cut > 0,
      ({ cut }) => cut > total / 2,
      ({ embedded }) => embedded > 0,
      ({ embedded }) => embedded > total / 2,
    ];
    let before = { cut: 0, embedded: 0 };
    for (const [run, isEnough] of stops.entries()) {
      const progress = await work(killed, run + 1, isEnough);
      expect(progress.status).toBe('in_progress');
      // It went on where it was.
      expect(progress.cut).toBeGreaterThanOrEqual(before.cut);
      expect(progress.embedded).toBeGreaterThanOrEqual(before.embedded);
      before = progress;
    }
    expect(before.embedded).toBeLessThan(total);
    await work(killed, stops.length + 1, ({ status }) => status === 'completed');
    expect(await result(killed)).toEqual(expected);
  } finally {
    await calm.close();
    await killed.close();
  }
}, 120_000);

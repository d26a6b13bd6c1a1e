/** A process of its own that works at the files of its database until it is killed, and says how far it has come. */
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '../../src/storage/index.ts';
import { embedWords } from './vector-house.ts';
import { createVectorPlatform } from './vector-platform.ts';

const [folder, aheadMs = '0', databaseUrl] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: ingest-child.ts <folder> [ms ahead] [database url]');
const database = await openDatabase({ databaseUrl, folder });
const platform = await createVectorPlatform({
  database,
  folder,
  // A clock that is ahead: the lease of the process before it is over.
  now: () => Date.now() + Number(aheadMs),
  embedding: {
    async embed({ inputs }) {
      // As a model takes its time, so that there is a middle to be killed in.
      await wait(15);
      const texts = inputs as readonly string[];
      const promptTokens = texts.reduce((sum, text) => sum + text.length, 0);
      return { vectors: texts.map((text) => embedWords(text)), promptTokens };
    },
  },
});
let said = '';
for (let isDone = false; !isDone; ) {
  const [file] = await database.query<{ status: string; cut: number; embedded: number }>(
    'select status, chunks_cut as cut, chunks_embedded as embedded from vector_files',
  );
  const state = `${file?.status} ${file?.cut} ${file?.embedded}\n`;
  // In the pipe before it goes on.
  if (state !== said) await new Promise((written) => process.stdout.write(state, written));
  said = state;
  isDone = file?.status === 'completed' || file?.status === 'failed';
  await wait(2);
}
await platform.close();
await database.close();

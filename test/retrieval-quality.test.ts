import { afterAll, beforeAll, expect, it } from 'vitest';
import { embeddedModels } from '../src/config/embedded-models.ts';
import { createEmbeddingPort } from '../src/engines/embedded/embedding.ts';
import type { Hit } from '../src/platform/vectors/index.ts';
import { loadCorpus, type Question, questions } from './support/corpus.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { pullTimeoutMs } from './support/packs.ts';
import { openTextModels, type TextModels } from './support/text-models.ts';
import { toTestOperation } from './support/vector-house.ts';
import { createVectorPlatform, owner, type VectorPlatform } from './support/vector-platform.ts';

const modelId = 'bge-small-en-v1.5';
let models: TextModels;
let place: TestDatabase;
let platform: VectorPlatform;
let collectionId: string;

/** Embedding the corpus takes about half a minute of one core. */
const ingestTimeoutMs = 240_000;

beforeAll(async () => {
  models = await openTextModels(modelId);
  place = await createTestDatabase();
  const declared = embeddedModels.find((model) => model.id === modelId);
  if (declared?.type !== 'embedding') throw new Error(`${modelId} is not declared`);
  const { id, contextLength, dimensions, queryInstruction } = declared;
  const instruction = queryInstruction === undefined ? {} : { queryInstruction };
  platform = await createVectorPlatform({
    database: place.database,
    folder: place.folder,
    embedding: createEmbeddingPort(models),
    model: { id, engineModel: id, contextLength, dimensions, ...instruction },
  });
  collectionId = await platform.createCollection();
  const files = await loadCorpus();
  const added = await Promise.all(
    files.map(({ filename, bytes }) => platform.add(collectionId, filename, bytes)),
  );
  for (const file of added) expect((await platform.ended(file)).lastError).toBeUndefined();
}, pullTimeoutMs + ingestTimeoutMs);

afterAll(async () => {
  await platform?.close();
  await place?.close();
  await models?.close();
});

function isAnswer({ item }: Hit, { answers }: Question): boolean {
  const headings = item.description.split(' › ');
  return answers.some(({ filename, heading }) => item.filename === filename && headings.includes(heading));
}

async function search(text: string, limit: number): Promise<readonly Hit[]> {
  const answer = await platform.vectors.search(toTestOperation(owner), collectionId, { text, limit });
  return answer?.hits ?? [];
}

it('every section that answers a question is in the collection', async () => {
  const known = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await platform.vectors.listItems(owner, collectionId, { limit: 100, order: 'asc', after });
    for (const { filename, description } of page?.entries ?? [])
      for (const heading of description.split(' › ')) known.add(`${filename} › ${heading}`);
    if (page?.hasMore !== true) break;
    after = page.entries.at(-1)?.id;
  }
  const wanted = questions.flatMap(({ answers }) =>
    answers.map(({ filename, heading }) => `${filename} › ${heading}`),
  );
  expect(wanted.filter((section) => !known.has(section))).toEqual([]);
});

it('the right section is among the first five for at least nine of ten questions about the project’s own documentation', async () => {
  expect(questions).toHaveLength(40);
  const missed: string[] = [];
  for (const question of questions) {
    const hits = await search(question.text, 5);
    if (hits.some((hit) => isAnswer(hit, question))) continue;
    missed.push([question.text, ...hits.map(({ item }) => `    ${item.description}`)].join('\n'));
  }
  expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(4);
}, 60_000);

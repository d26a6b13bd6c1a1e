/** The project's own documentation as a corpus for retrieval, and questions whose answers stand in known sections of it. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface CorpusFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** A section is named by its heading, what stands before the first one by the file; any of them answers the question. */
export interface Question {
  readonly text: string;
  readonly answers: readonly { readonly filename: string; readonly heading: string }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

export async function loadCorpus(): Promise<CorpusFile[]> {
  const docs = await readdir(join(root, 'docs'), { recursive: true });
  const paths = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].concat(
    docs
      .filter((path) => path.endsWith('.md'))
      .map((path) => join('docs', path))
      .sort(),
  );
  return Promise.all(
    paths.map(async (path) => ({ filename: basename(path), bytes: await readFile(join(root, path)) })),
  );
}

function ask(text: string, ...answers: (readonly [filename: string, heading: string])[]): Question {
  return { text, answers: answers.map(([filename, heading]) => ({ filename: `${filename}.md`, heading })) };
}

const billing = 'limits-and-billing';

/** Asked as people ask, not in the words of the text. */
export const questions: readonly Question[] = [
  ask('How long does a request wait in line before it is refused?', [billing, 'Limits']),
  ask('Which response headers show how many requests I have left this minute?', [billing, 'Limits']),
  ask('Why must prices be written in quotes in the configuration?', [billing, 'Prices']),
  ask(
    'Am I charged when I disconnect in the middle of a streamed answer?',
    [billing, 'What is billed'],
    ['ARCHITECTURE', 'What happens when something fails'],
  ),
  ask('How can a customer see what was spent this month?', [billing, 'See usage']),
  ask(
    'Where are ledger rows kept while the database is down?',
    [billing, 'Where it is kept'],
    ['0009-the-journal-of-the-ledger', 'Decision'],
    ['0009-the-journal-of-the-ledger', 'Consequences'],
  ),
  ask('How do I verify the signature of a webhook?', ['webhooks', 'What a receiver does']),
  ask('How often is a failed webhook delivery sent again, and after how long?', ['webhooks', 'Retries']),
  ask('How do I rotate the webhook secret without downtime?', ['webhooks', 'The secret']),
  ask('How can webhooks reach a receiver in my private network?', ['webhooks', 'Where it may go']),
  ask('Which model packs are there and how large are they?', ['models', 'Real models on this machine']),
  ask('How do I install models on a machine that has no internet?', ['models', 'Machines without a network']),
  ask('Download packs through a corporate proxy', ['models', 'Private registries, proxies, certificates']),
  ask('How do I connect Ollama?', ['engines', 'Ollama']),
  ask('Which flags does llama-server need?', ['engines', 'llama.cpp']),
  ask('When is a failing engine set aside, and when is it trusted again?', ['engines', 'Breaker']),
  ask('Can several servers serve the same model, and what if one of them fails?', [
    'engines',
    'Several engines',
  ]),
  ask(
    'How long does the gateway wait for a silent engine?',
    ['engines', 'Timeouts'],
    ['rules', 'STREAM · Chat streaming'],
  ),
  ask('How can I clone a voice from a recording?', ['audio', 'Speech']),
  ask('Which audio formats can be transcribed, and how large may the file be?', ['audio', 'Transcription']),
  ask('How are recordings of several hours transcribed?', ['audio', 'How long recordings are heard']),
  ask('How do I use the Anthropic SDK with the gateway?', ['sdks', 'Anthropic']),
  ask('Do follow-up turns work in the Responses API with previous_response_id?', ['sdks', 'Responses API']),
  ask(
    'How do I simulate an engine that breaks off in the middle of an answer?',
    ['failure-drills', 'A set of drills'],
    ['failure-drills', 'The script'],
  ),
  ask(
    'Is anything lost when the process is killed with kill -9?',
    ['failure-drills', 'kill -9'],
    ['ARCHITECTURE', 'What happens when something fails'],
    [billing, 'Where it is kept'],
  ),
  ask('Which HTTP status means that the engine did not answer in time?', ['errors', 'The table']),
  ask(
    'What does a failure in the middle of a stream look like to the client?',
    ['errors', 'In a stream'],
    ['ARCHITECTURE', 'What happens when something fails'],
  ),
  ask('How do I add a new route?', ['CONTRIBUTING', 'Add a route']),
  ask('How do I change the database schema?', ['CONTRIBUTING', 'Add a migration']),
  ask('Run the test suite against PostgreSQL', ['CONTRIBUTING', 'Run on PostgreSQL and Redis']),
  ask('Which folders may import which other folders?', ['ARCHITECTURE', 'Who may import whom']),
  ask(
    'What happens to a video job when the worker that renders it dies?',
    ['ARCHITECTURE', 'A job'],
    ['0020-jobs', 'What happens on a crash'],
  ),
  ask(
    'Why was SQLite chosen and not PGlite?',
    ['0003-sqlite-and-postgresql', 'Context'],
    ['0003-sqlite-and-postgresql', 'Decision'],
  ),
  ask(
    'Why does the project have its own logger instead of pino?',
    ['0013-our-own-log', 'Context'],
    ['0013-our-own-log', 'Decision'],
  ),
  ask(
    'Why is Fastify not used?',
    ['0002-node-http-and-our-own-route-table', 'Context'],
    ['0002-node-http-and-our-own-route-table', 'Decision'],
  ),
  ask(
    'Can a client make the gateway fetch an address inside my network?',
    ['0011-one-egress-door', 'Context'],
    ['0011-one-egress-door', 'Decision'],
    ['0011-one-egress-door', 'Consequences'],
  ),
  ask(
    'What does the gateway read again on SIGHUP?',
    ['ARCHITECTURE', 'Start and stop'],
    ['engines', 'engines'],
  ),
  ask(
    'How is the gateway kept safe from a malicious picture?',
    ['0018-pictures', 'Context'],
    ['0018-pictures', 'Decision'],
    ['ARCHITECTURE', 'Processes'],
  ),
  ask('How large may a file be that is uploaded to a vector store?', ['rules', 'VEC · Vector store']),
  ask('Which environment variable sets the API key of the first start?', ['README', 'Environment']),
];

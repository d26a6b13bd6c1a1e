/** What the models that the gateway runs itself cost the requests that go to engines elsewhere: their latency. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Percentiles } from './load.ts';
import { checkedOrder, type Plan, type Progress, toLower } from './measure.ts';
import type { Bench } from './processes.ts';

export interface BesideResult {
  perSecond: number;
  alone: Percentiles;
  beside: Percentiles;
  added: Percentiles;
  /** What the models did meanwhile. */
  tokens: number;
  embeddings: number;
}

/** A rate that leaves the processor idle most of the time: what is added then is not a line. */
const perSecond = 100;
const roundMs = 6_000;
const embeddingInputs = 2_048;

export async function measureBeside(bench: Bench, plan: Plan, tell: Progress): Promise<BesideResult> {
  const order = { ...(await checkedOrder(bench, bench.gateway, 'json', plan)), connections: 32 };
  await bench.load({ ...order, maxRequests: 5_000, durationMs: 30_000 });
  const measure = async (rounds: number, name: string) => {
    const samples: Percentiles[] = [];
    for (let round = 1; round <= rounds; round++) {
      const { wholeMs } = await bench.load({ ...order, perSecond, durationMs: roundMs });
      samples.push(wholeMs);
      tell(`${name} ${round}/${rounds}: p50 ${wholeMs.p50.toFixed(2)} ms, p99 ${wholeMs.p99.toFixed(2)} ms`);
    }
    return toLower(samples);
  };
  const alone = await measure(plan.latencyRounds, 'alone');
  const work = startWork(bench);
  try {
    await work.isBusy;
    const beside = await measure(plan.latencyRounds, 'beside models at work');
    const added = { p50: beside.p50 - alone.p50, p99: beside.p99 - alone.p99 };
    return { perSecond, alone, beside, added, ...work.done };
  } finally {
    await work.stop();
  }
}

/** A chat and a large batch of embeddings, one after the other, until it is stopped. */
function startWork({ gateway, key }: Bench) {
  const stopped = new AbortController();
  const done = { tokens: 0, embeddings: 0 };
  const post = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${gateway.port}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: stopped.signal,
    });
  const chat = async (onToken: () => void) => {
    const messages = [{ role: 'user', content: 'Tell me a long story about a roundhouse.' }];
    const answer = await post('/chat/completions', {
      model: 'tinyllama-1.1b-chat',
      messages,
      stream: true,
      max_tokens: 400,
    });
    if (!answer.ok) throw new Error(await answer.text());
    for await (const _ of answer.body ?? []) {
      done.tokens += 1;
      onToken();
    }
  };
  const embed = async () => {
    const input = Array.from(
      { length: embeddingInputs },
      (_, index) => `Locomotive number ${index} turns on the table.`,
    );
    const answer = await post('/embeddings', { model: 'all-minilm-l6-v2', input, encoding_format: 'base64' });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.arrayBuffer();
    done.embeddings += embeddingInputs;
  };
  const begun = Promise.withResolvers<void>();
  const again = async (work: () => Promise<void>) => {
    while (!stopped.signal.aborted) await work();
  };
  const all = Promise.all([again(() => chat(begun.resolve)), again(embed)]).catch((error: Error) => {
    if (!stopped.signal.aborted) begun.reject(error);
  });
  return {
    done,
    // Both have loaded their models when the first token is there, and some embedding is under way.
    isBusy: begun.promise.then(() => sleep(2_000)),
    async stop() {
      stopped.abort();
      await all;
    },
  };
}

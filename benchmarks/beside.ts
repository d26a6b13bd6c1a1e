/** What the gateway's own heavy work costs the requests that go to engines elsewhere: their latency. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Post, type WorkName, works } from './beside-work.ts';
import type { Percentiles } from './load.ts';
import { checkedOrder, type Plan, type Progress, toLower } from './measure.ts';
import type { Bench } from './processes.ts';

export interface BesideResult {
  work: WorkName;
  perSecond: number;
  alone: Percentiles;
  beside: Percentiles;
  added: Percentiles;
  /** What was done meanwhile, by name. */
  done: Readonly<Record<string, number>>;
}

/** A rate that leaves the processor idle most of the time: what is added then is not a line. */
const perSecond = 100;
const rounds = 4;
const roundMs = 6_000;
const settleMs = 2_000;

export async function measureBeside(
  bench: Bench,
  plan: Plan,
  work: WorkName,
  tell: Progress,
): Promise<BesideResult> {
  const order = { ...(await checkedOrder(bench, bench.gateway, 'json', plan)), connections: 32 };
  await bench.load({ ...order, maxRequests: 5_000, durationMs: 30_000 });
  const measure = async (name: string) => {
    const samples: Percentiles[] = [];
    for (let round = 1; round <= rounds; round++) {
      const { wholeMs } = await bench.load({ ...order, perSecond, durationMs: roundMs });
      samples.push(wholeMs);
      tell(`${name} ${round}/${rounds}: p50 ${wholeMs.p50.toFixed(2)} ms, p99 ${wholeMs.p99.toFixed(2)} ms`);
    }
    return toLower(samples);
  };
  const alone = await measure('alone');
  const running = startWork(bench, work);
  try {
    await running.isBusy;
    const beside = await measure(`beside ${work}`);
    const added = { p50: beside.p50 - alone.p50, p99: beside.p99 - alone.p99 };
    return { work, perSecond, alone, beside, added, done: running.done };
  } finally {
    await running.stop();
  }
}

function startWork({ gateway, key }: Bench, work: WorkName) {
  const stopped = new AbortController();
  const done: Record<string, number> = {};
  const begun = Promise.withResolvers<void>();
  const post: Post = async (path, body) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
      signal: stopped.signal,
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  };
  const count = (what: string, amount: number) => {
    done[what] = (done[what] ?? 0) + amount;
    // Models are loaded and processes started: from here on it is work.
    begun.resolve();
  };
  const again = async (task: () => Promise<void>) => {
    while (!stopped.signal.aborted) await task();
  };
  const all = Promise.all(works[work].tasks(post, count).map(again)).catch((error: Error) => {
    if (!stopped.signal.aborted) begun.reject(error);
  });
  return {
    done,
    isBusy: begun.promise.then(() => sleep(settleMs)),
    async stop() {
      stopped.abort();
      await all;
    },
  };
}

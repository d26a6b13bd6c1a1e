/**
 * The measurements. What is compared takes turns in short rounds, so that whatever else the machine does meets
 * both of a pair; the ratio is the median of the pairs' ratios.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, Percentiles } from './load.ts';
import type { Bench, Server } from './processes.ts';
import { cpuMs, residentMb, settled } from './resources.ts';
import { type FormatName, formatNames, type ScenarioName, tokensPerStream, toRequest } from './traffic.ts';

export interface Plan {
  scenarios: readonly ScenarioName[];
  rounds: number;
  /** Of a round of whole answers; see `roundLength`. */
  roundMs: number;
  /** Of the requests that warm both up: a share of `warmUpRequests`. */
  warmUpShare: number;
  /** Rounds of the latency measurement, of either. */
  latencyRounds: number;
  latencyMs: number;
}

export interface Cost {
  /** CPU time of the whole process per request. */
  cpuUs: number;
  perSecond: number;
}

/** Of the rounds' ratios the median, and the half of them around it. */
export interface Ratio {
  median: number;
  low: number;
  high: number;
}

export interface ScenarioResult {
  scenario: ScenarioName;
  floor: Cost;
  gateway: Cost;
  ratio: Ratio;
  /** Requests per second of load and engine alone: well above the others, or they are what is measured. */
  loadAlonePerSecond: number;
}

export interface LatencyResult {
  scenario: ScenarioName;
  /** Half of what the gateway can do. */
  perSecond: number;
  floor: Percentiles;
  gateway: Percentiles;
  added: Percentiles;
}

const connections: Record<ScenarioName, number> = { json: 16, burst: 16, paced: 32 };
/** Counted in requests, because the compiler counts so: on a busy machine it takes longer. */
const warmUpRequests: Record<ScenarioName, number> = { json: 16_000, burst: 8_000, paced: 400 };
/** A paced stream takes a quarter of a second itself: its rounds are longer. */
const roundLength: Record<ScenarioName, number> = { json: 1, burst: 1, paced: 3 };
const longestWarmUpMs = 30_000;
/** Enough that a request of the open loop seldom waits for a connection. */
const openConnections = 64;

export type Progress = (message: string) => void;

export async function measureCost(
  bench: Bench,
  scenario: ScenarioName,
  plan: Plan,
  tell: Progress,
): Promise<ScenarioResult> {
  const { floor, gateway, engine } = bench;
  const orders = new Map<Server, LoadOrder>();
  for (const server of [floor, gateway, engine])
    orders.set(server, await checkedOrder(bench, server, scenario, plan));
  const maxRequests = Math.ceil(warmUpRequests[scenario] * plan.warmUpShare);
  for (const order of orders.values())
    await bench.load({ ...order, maxRequests, durationMs: longestWarmUpMs });
  const alone = await bench.load({ ...orders.get(engine)!, durationMs: plan.roundMs / 2 });

  const costs = { floor: [] as Cost[], gateway: [] as Cost[] };
  for (let round = 1; round <= plan.rounds; round++) {
    costs.floor.push(await costOf(bench, floor, orders.get(floor)!));
    costs.gateway.push(await costOf(bench, gateway, orders.get(gateway)!));
    const [below, above] = [costs.floor.at(-1)!.cpuUs, costs.gateway.at(-1)!.cpuUs];
    tell(`${scenario} ${round}/${plan.rounds}: floor ${below.toFixed(0)} µs, gateway ${above.toFixed(0)} µs`);
  }
  return {
    scenario,
    floor: toMedian(costs.floor),
    gateway: toMedian(costs.gateway),
    ratio: toRatio(costs.gateway, costs.floor),
    loadAlonePerSecond: (alone.requests / alone.durationMs) * 1000,
  };
}

export interface FormatResult {
  format: FormatName;
  cost: Cost;
  /** To the same stream as chat completions. */
  ratio: Ratio;
}

/** The same streamed answer in every format, from the gateway alone. */
export async function measureFormats(bench: Bench, plan: Plan, tell: Progress): Promise<FormatResult[]> {
  const { gateway } = bench;
  const costs = new Map<FormatName, Cost[]>(formatNames.map((format) => [format, []]));
  const orders = new Map<FormatName, LoadOrder>();
  const maxRequests = Math.ceil(warmUpRequests.burst * plan.warmUpShare);
  for (const format of formatNames) {
    const order = await checkedOrder(bench, gateway, 'burst', plan, format);
    orders.set(format, order);
    await bench.load({ ...order, maxRequests, durationMs: longestWarmUpMs });
  }
  for (let round = 1; round <= plan.rounds; round++) {
    for (const format of formatNames)
      costs.get(format)!.push(await costOf(bench, gateway, orders.get(format)!));
    const told = formatNames.map((format) => `${format} ${costs.get(format)!.at(-1)!.cpuUs.toFixed(0)} µs`);
    tell(`formats ${round}/${plan.rounds}: ${told.join(', ')}`);
  }
  return formatNames.map((format) => {
    const own = costs.get(format)!;
    return { format, cost: toMedian(own), ratio: toRatio(own, costs.get('chat')!) };
  });
}

const responseDelta = /"type":"response.output_text.delta"/g;
const textDelta: Readonly<Record<FormatName, RegExp>> = {
  chat: /"delta":\{"content":"[^"]/g,
  messages: /"type":"text_delta"/g,
  responses: responseDelta,
  'responses unstored': responseDelta,
};
const streamEnd: Readonly<Record<FormatName, string>> = {
  chat: 'data: [DONE]',
  messages: 'event: message_stop',
  responses: 'event: response.completed',
  'responses unstored': 'event: response.completed',
};

/** Asks once and looks at the answer: nothing is worth measuring that answers wrongly. */
export async function checkedOrder(
  bench: Bench,
  server: Server,
  scenario: ScenarioName,
  plan: Plan,
  format: FormatName = 'chat',
): Promise<LoadOrder> {
  const order: LoadOrder = {
    port: server.port,
    request: toRequest(scenario, server.port, bench.key, format),
    connections: connections[scenario],
    durationMs: plan.roundMs * roundLength[scenario],
    maxRequests: Number.MAX_SAFE_INTEGER,
    leastBytes: 0,
  };
  const { answer } = await bench.load({ ...order, connections: 1, maxRequests: 1 });
  const tokens = answer.match(textDelta[format])?.length ?? 0;
  const isWhole =
    scenario === 'json'
      ? /"content":" The gateway/.test(answer) && /"completion_tokens":100\b/.test(answer)
      : tokens === tokensPerStream &&
        answer.includes(streamEnd[format]) &&
        /"(completion|output)_tokens":100\b/.test(answer);
  if (!isWhole)
    throw new Error(`${server.name} does not answer ${scenario} as it should:\n${answer.slice(0, 2_000)}`);
  // Not all of it: how a stream is cut into HTTP chunks changes its length.
  return { ...order, leastBytes: answer.length * 0.9 };
}

async function costOf(bench: Bench, { pid }: Server, order: LoadOrder): Promise<Cost> {
  const before = cpuMs(pid);
  const { requests, durationMs } = await bench.load(order);
  await settled(pid);
  return { cpuUs: ((cpuMs(pid) - before) * 1000) / requests, perSecond: (requests / durationMs) * 1000 };
}

function toMedian(costs: readonly Cost[]): Cost {
  return {
    cpuUs: quantile(
      costs.map(({ cpuUs }) => cpuUs),
      0.5,
    ),
    perSecond: quantile(
      costs.map(({ perSecond }) => perSecond),
      0.5,
    ),
  };
}

/** Round by round: both of a pair met the same weather. */
function toRatio(costs: readonly Cost[], base: readonly Cost[]): Ratio {
  const ratios = costs.map(({ cpuUs }, i) => cpuUs / base[i]!.cpuUs);
  return { median: quantile(ratios, 0.5), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

/** Between the two values next to it. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? 0;
  return low + (high - low) * (place - Math.floor(place));
}

/** The same rate for both, half of what the gateway can do. Streams: until the first byte. */
export async function measureLatency(
  bench: Bench,
  { scenario, gateway }: ScenarioResult,
  plan: Plan,
  tell: Progress,
): Promise<LatencyResult> {
  const perSecond = Math.round(gateway.perSecond / 2);
  const samples = { floor: [] as Percentiles[], gateway: [] as Percentiles[] };
  for (let round = 1; round <= plan.latencyRounds; round++) {
    for (const name of ['floor', 'gateway'] as const) {
      const order = await checkedOrder(bench, bench[name], scenario, plan);
      const result = await bench.load({
        ...order,
        perSecond,
        connections: openConnections,
        durationMs: plan.latencyMs,
      });
      samples[name].push(scenario === 'json' ? result.wholeMs : result.firstByteMs);
    }
    const [below, above] = [samples.floor.at(-1)!, samples.gateway.at(-1)!];
    tell(
      `${scenario} at ${perSecond}/s ${round}/${plan.latencyRounds}: p99 floor ${below.p99.toFixed(2)} ms, gateway ${above.p99.toFixed(2)} ms`,
    );
  }
  const [below, above] = [toLower(samples.floor), toLower(samples.gateway)];
  const added = { p50: above.p50 - below.p50, p99: above.p99 - below.p99 };
  return { scenario, perSecond, floor: below, gateway: above, added };
}

/** The lower quartile: noise only ever adds to a latency. */
export function toLower(samples: readonly Percentiles[]): Percentiles {
  const lower = (values: readonly number[]) => quantile(values, 0.25);
  return { p50: lower(samples.map(({ p50 }) => p50)), p99: lower(samples.map(({ p99 }) => p99)) };
}

export interface SoakResult {
  requests: number;
  /** After half as many requests as a warm-up. */
  beforeMb: number;
  afterMb: number;
  growthPercent: number;
  /** On the way, at every tenth. */
  samplesMb: number[];
}

const warmUpTenths = 5;

/** Memory before and after many requests, whole and streamed in turn. */
export async function measureGrowth(
  bench: Bench,
  requests: number,
  plan: Plan,
  tell: Progress,
): Promise<SoakResult> {
  const orders = [
    await checkedOrder(bench, bench.gateway, 'json', plan),
    await checkedOrder(bench, bench.gateway, 'burst', plan),
  ];
  const tenth = Math.ceil(requests / 10);
  const run = async () => {
    for (const order of orders)
      await bench.load({ ...order, maxRequests: Math.ceil(tenth / 2), durationMs: 600_000 });
    await settled(bench.gateway.pid);
    return residentMb(bench.gateway.pid);
  };
  // The heap's nursery takes its full size within some 20,000 requests, and the minute of the limits its length.
  for (let i = 1; i < warmUpTenths; i++) await run();
  const beforeMb = await run();
  tell(`soak: ${beforeMb.toFixed(0)} MB after the warm-up of ${warmUpTenths * tenth} requests`);
  const samplesMb: number[] = [];
  for (let i = 1; i <= 10; i++) {
    samplesMb.push(await run());
    tell(`soak ${i * tenth}/${requests}: ${samplesMb.at(-1)!.toFixed(0)} MB`);
  }
  await sleep(2_000);
  const afterMb = residentMb(bench.gateway.pid);
  return { requests, beforeMb, afterMb, growthPercent: (afterMb / beforeMb - 1) * 100, samplesMb };
}

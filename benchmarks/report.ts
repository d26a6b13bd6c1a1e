/** The budgets of the design, and how the measurements stand against them. */
import { cpus, totalmem } from 'node:os';
import type { BesideResult } from './beside.ts';
import { works } from './beside-work.ts';
import type { FormatResult, LatencyResult, Ratio, ScenarioResult, SoakResult } from './measure.ts';
import type { ScenarioName } from './traffic.ts';
import { type VectorsResult, vectorBudgets } from './vectors.ts';

export interface Results {
  hardware: string;
  node: string;
  date: string;
  command: string;
  placement: string;
  costs: ScenarioResult[];
  latencies: LatencyResult[];
  formats: FormatResult[];
  memory: { idleMb: number; afterMb: number; floorMb: number } | undefined;
  start: { warmMs: number; coldMs: number } | undefined;
  soak: SoakResult | undefined;
  beside: BesideResult | undefined;
  vectors: readonly VectorsResult[];
}

export interface Verdict {
  what: string;
  measured: string;
  budget: string;
  isMet: boolean;
}

const ratioBudgets: Record<ScenarioName, number> = { json: 1.4, burst: 1.4, paced: 1.1 };
/** Of the other formats, to chat completions. */
const formatBudget = 1.5;
const addedMs = { p50: 0.5, p99: 5 };
const startBudgetMs = { warm: 800, cold: 1_100 };
const idleBudgetMb = 150;
const growthBudgetPercent = 10;

const scenarioTitles: Record<ScenarioName, string> = {
  json: 'JSON',
  burst: '100-token stream, burst',
  paced: '100-token stream, paced',
};

export function toVerdicts(results: Results): Verdict[] {
  const { costs, latencies, formats, memory, start, soak, beside, vectors } = results;
  const verdicts: Verdict[] = [];
  const add = (what: string, value: number, budget: number, write: (value: number) => string) =>
    verdicts.push({ what, measured: write(value), budget: `≤ ${write(budget)}`, isMet: value <= budget });
  const inMs = (value: number) => `${value.toFixed(2)} ms`;
  const inPercent = (value: number) => `${(value * 100).toFixed(1)} %`;
  const inMb = (value: number) => `${value.toFixed(0)} MB`;
  for (const { scenario, ratio } of costs)
    add(
      `CPU, ${scenarioTitles[scenario]}`,
      ratio.median,
      ratioBudgets[scenario],
      (value) => `${value.toFixed(2)} × floor`,
    );
  for (const { format, ratio } of formats)
    if (format !== 'chat')
      add(`CPU of a stream, ${format}`, ratio.median, formatBudget, (value) => `${value.toFixed(2)} × chat`);
  for (const { scenario, added } of latencies) {
    const what = scenario === 'json' ? 'added latency at half load, JSON' : 'added time to first byte, burst';
    add(`${what}, p50`, added.p50, addedMs.p50, inMs);
    add(`${what}, p99`, added.p99, addedMs.p99, inMs);
  }
  if (start !== undefined) {
    add('start to first answer, warm cache', start.warmMs, startBudgetMs.warm, (ms) => `${ms.toFixed(0)} ms`);
    add('start to first answer, no cache', start.coldMs, startBudgetMs.cold, (ms) => `${ms.toFixed(0)} ms`);
  }
  if (memory !== undefined) add('resident memory, idle', memory.idleMb, idleBudgetMb, inMb);
  if (soak !== undefined)
    add(
      `memory growth, ${soak.requests} requests`,
      soak.growthPercent,
      growthBudgetPercent,
      (value) => `${value.toFixed(1)} %`,
    );
  if (beside !== undefined)
    add(`added latency beside ${beside.work}, p99`, beside.added.p99, works[beside.work].budgetMs, inMs);
  for (const { database, searchP95Ms, recall, loopDelayMaxMs } of vectors) {
    const budget = vectorBudgets[database];
    add(`vector search in ${database}, p95`, searchP95Ms, budget.searchP95Ms, inMs);
    add(`what it misses of the ten nearest, ${database}`, 1 - recall, 1 - budget.recall, inPercent);
    add(`longest wait of the event loop, ${database}`, loopDelayMaxMs, budget.loopDelayMaxMs, inMs);
  }
  return verdicts;
}

export function toText(results: Results, verdicts: readonly Verdict[]): string {
  const { costs, latencies, formats, memory, soak, beside, vectors } = results;
  const parts = [
    `${results.hardware}\nNode ${results.node}, ${results.placement}, ${results.date}\n${results.command}`,
  ];
  if (costs.length > 0) {
    parts.push(
      toTable(
        [
          '',
          'floor µs',
          'gateway µs',
          'ratio',
          'half of the rounds',
          'floor /s',
          'gateway /s',
          'load alone /s',
        ],
        costs.map(({ scenario, floor, gateway, ratio, loadAlonePerSecond }) => [
          scenarioTitles[scenario],
          floor.cpuUs.toFixed(0),
          gateway.cpuUs.toFixed(0),
          ratio.median.toFixed(2),
          toSpread(ratio),
          floor.perSecond.toFixed(0),
          gateway.perSecond.toFixed(0),
          // The pauses of a paced stream say nothing of what load and engine can do.
          scenario === 'paced' ? '' : loadAlonePerSecond.toFixed(0),
        ]),
      ),
    );
  }
  if (latencies.length > 0) {
    parts.push(
      toTable(
        ['at half load', 'rate /s', 'floor p50 ms', 'gateway p50', 'floor p99', 'gateway p99'],
        latencies.map(({ scenario, perSecond, floor, gateway }) => [
          scenario === 'json' ? 'JSON, whole' : 'burst, first byte',
          String(perSecond),
          ...[floor.p50, gateway.p50, floor.p99, gateway.p99].map((ms) => ms.toFixed(2)),
        ]),
      ),
    );
  }
  if (formats.length > 0) {
    parts.push(
      toTable(
        ['100-token stream, burst', 'gateway µs', 'to chat', 'half of the rounds'],
        formats.map(({ format, cost, ratio }) => [
          format,
          cost.cpuUs.toFixed(0),
          ratio.median.toFixed(2),
          toSpread(ratio),
        ]),
      ),
    );
  }
  if (memory !== undefined)
    parts.push(
      `resident memory: ${memory.idleMb.toFixed(0)} MB idle, ${memory.afterMb.toFixed(0)} MB after the load (floor ${memory.floorMb.toFixed(0)} MB)`,
    );
  if (soak !== undefined)
    parts.push(
      `soak: ${soak.beforeMb.toFixed(0)} MB before, ${soak.afterMb.toFixed(0)} MB after ${soak.requests} requests; on the way ${soak.samplesMb.map((mb) => mb.toFixed(0)).join(' ')}`,
    );
  if (beside !== undefined) {
    const toRow = (name: string, { p50, p99 }: { p50: number; p99: number }) => [
      name,
      p50.toFixed(2),
      p99.toFixed(2),
    ];
    parts.push(
      toTable(
        [`whole answers of the mock engine at ${beside.perSecond}/s`, 'p50 ms', 'p99 ms'],
        [toRow('alone', beside.alone), toRow(`beside ${beside.work}`, beside.beside)],
      ),
      `meanwhile: ${Object.entries(beside.done)
        .map(([what, amount]) => `${amount} ${what}`)
        .join(', ')}`,
    );
  }
  if (vectors.length > 0)
    parts.push(
      toTable(
        ['vectors', 'items', 'ingest /s', 'index s', 'p50 ms', 'p95 ms', 'recall', 'loop ms'],
        vectors.map((result) => [
          result.database,
          `${result.items} × ${result.dimensions}`,
          result.ingestItemsPerSecond.toFixed(0),
          (result.indexMs / 1000).toFixed(1),
          result.searchP50Ms.toFixed(1),
          result.searchP95Ms.toFixed(1),
          result.recall.toFixed(3),
          result.loopDelayMaxMs.toFixed(1),
        ]),
      ),
    );
  parts.push(
    toTable(
      ['budget', 'measured', 'budget', ''],
      verdicts.map(({ what, measured, budget, isMet }) => [
        what,
        measured,
        budget,
        isMet ? 'pass' : 'MISSED',
      ]),
    ),
  );
  return parts.join('\n\n');
}

function toSpread({ low, high }: Ratio): string {
  return `${low.toFixed(2)}-${high.toFixed(2)}`;
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const toLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [toLine(head), rule, ...rows.map(toLine)].join('\n');
}

export function describeHardware(): string {
  const all = cpus();
  const memoryGb = totalmem() / 1024 ** 3;
  return `${all.length} × ${all[0]?.model.trim() || process.arch}, ${memoryGb.toFixed(0)} GB, ${process.platform} ${process.arch}`;
}

/**
 * `npm run bench`: what the gateway costs beyond a bare pass-through, measured in one run. See README.md.
 *
 *   --quick            about 40 seconds instead of a few minutes
 *   --only json,burst  some of json, burst, paced, formats
 *   --soak 100000      memory before and after as many requests, and nothing else
 *   --beside text      latency while the gateway is at work itself, and nothing else: text, audio or images
 *   --vectors          search in 100,000 items, and nothing else; in PostgreSQL too where DATABASE_URL is set
 *   --json             the results as JSON on standard output
 *   --check            a missed budget ends with exit code 1
 *   --profile folder   writes CPU profiles of floor and gateway there; their numbers are then no measurement
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createPacks } from '../src/engines/packs/index.ts';
import { createLog } from '../src/lib/log.ts';
import { measureBeside } from './beside.ts';
import { type WorkName, workNames, works } from './beside-work.ts';
import {
  type LatencyResult,
  measureCost,
  measureFormats,
  measureGrowth,
  measureLatency,
  type Plan,
  type ScenarioResult,
} from './measure.ts';
import { measureStartMs, withBench } from './processes.ts';
import { describeHardware, type Results, toText, toVerdicts } from './report.ts';
import { residentMb } from './resources.ts';
import { type ScenarioName, scenarioNames } from './traffic.ts';
import { measureVectors } from './vectors.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    soak: { type: 'string' },
    beside: { type: 'string' },
    vectors: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});

const { scenarios, hasFormats } = toScenarios(options.only);
const plan: Plan = options.quick
  ? { scenarios, rounds: 5, roundMs: 500, warmUpShare: 0.3, latencyRounds: 1, latencyMs: 1_000 }
  : { scenarios, rounds: 21, roundMs: 700, warmUpShare: 1, latencyRounds: 20, latencyMs: 500 };
const soakRequests = options.soak === undefined ? undefined : toCount(options.soak);
const isPlain =
  soakRequests === undefined &&
  options.profile === undefined &&
  options.beside === undefined &&
  !options.vectors;

process.once('SIGINT', () => process.exit(130));

const tell = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

const results: Results = {
  hardware: describeHardware(),
  node: process.version,
  date: new Date().toISOString().slice(0, 10),
  command: ['npm run bench', ...(process.argv.length > 2 ? ['--'] : []), ...process.argv.slice(2)].join(' '),
  placement: '',
  costs: [],
  latencies: [],
  formats: [],
  memory: undefined,
  start: undefined,
  soak: undefined,
  beside: undefined,
  vectors: [],
};

if (isPlain && options.only === undefined) {
  tell('start');
  // The first start fills the cache where it is empty.
  await measureStartMs({ withCache: true });
  results.start = {
    warmMs: await measureStartMs({ withCache: true }),
    coldMs: await measureStartMs({ withCache: false }),
  };
}
const work = options.beside === undefined ? undefined : toWork(options.beside);
const modelsFolder = work === undefined ? undefined : await pullModels(works[work].packs);
if (options.vectors) results.vectors = await measureVectors(options.quick ? { items: 10_000 } : {}, tell);
else
  await withBench({ profileFolder: options.profile, modelsFolder }, async (bench) => {
    results.placement = bench.placement;
    if (work !== undefined) {
      results.beside = await measureBeside(bench, plan, work, tell);
      return;
    }
    if (soakRequests !== undefined) {
      results.soak = await measureGrowth(bench, soakRequests, plan, tell);
      return;
    }
    const idleMb = residentMb(bench.gateway.pid);
    const costs: ScenarioResult[] = [];
    const latencies: LatencyResult[] = [];
    for (const scenario of scenarios) {
      const cost = await measureCost(bench, scenario, plan, tell);
      costs.push(cost);
      // A paced stream's rate is set by its pauses: half of it is no load.
      if (scenario !== 'paced' && isPlain) latencies.push(await measureLatency(bench, cost, plan, tell));
    }
    if (hasFormats) results.formats = await measureFormats(bench, plan, tell);
    results.costs = costs;
    results.latencies = latencies;
    results.memory = { idleMb, afterMb: residentMb(bench.gateway.pid), floorMb: residentMb(bench.floor.pid) };
  });

const verdicts = toVerdicts(results);
console.log(
  options.json ? JSON.stringify({ ...results, verdicts }, null, 2) : `\n${toText(results, verdicts)}`,
);
if (options.check && verdicts.some(({ isMet }) => !isMet)) process.exitCode = 1;

function toScenarios(list: string | undefined): { scenarios: ScenarioName[]; hasFormats: boolean } {
  if (list === undefined) return { scenarios: [...scenarioNames], hasFormats: true };
  const names = list.split(',');
  const scenarios = names.flatMap((name) => {
    const known = scenarioNames.find((scenario) => scenario === name);
    if (known !== undefined || name === 'formats') return known ?? [];
    throw new Error(`--only takes some of ${[...scenarioNames, 'formats'].join(',')}, not ${name}`);
  });
  return { scenarios, hasFormats: names.includes('formats') };
}

function toWork(name: string): WorkName {
  const known = workNames.find((each) => each === name);
  if (known !== undefined) return known;
  throw new Error(`--beside takes one of ${workNames.join(', ')}, not ${name}`);
}

/** The weights, where tests keep theirs too. */
async function pullModels(names: readonly string[]): Promise<string> {
  const dataFolder = fileURLToPath(new URL('../node_modules/.cache/roundhouse-packs', import.meta.url));
  const packs = createPacks({ dataFolder, log: createLog('warn'), variable: (name) => process.env[name] });
  try {
    for (const name of names) {
      tell(`pull ${name}`);
      await packs.pull(name, () => {});
    }
  } finally {
    await packs.close();
  }
  return join(dataFolder, 'models');
}

function toCount(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--soak takes a number of requests, not ${text}`);
  return Number(text);
}

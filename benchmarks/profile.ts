/**
 * `node benchmarks/profile.ts file.cpuprofile [count]`: the functions with the most self time, and each file's
 * share. Reads what `npm run bench -- --profile folder` wrote.
 */
import { readFileSync } from 'node:fs';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
}

const [file, count = '40'] = process.argv.slice(2);
if (file === undefined) throw new Error('a .cpuprofile file is needed');
const profile = JSON.parse(readFileSync(file, 'utf8')) as {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
};

const selfUs = new Map<number, number>();
profile.samples.forEach((id, i) => {
  selfUs.set(id, (selfUs.get(id) ?? 0) + (profile.timeDeltas[i] ?? 0));
});

const functions = new Map<string, number>();
const files = new Map<string, number>();
let busyUs = 0;
for (const { id, callFrame } of profile.nodes) {
  const us = selfUs.get(id) ?? 0;
  const { functionName, url, lineNumber } = callFrame;
  if (us === 0 || functionName === '(idle)') continue;
  busyUs += us;
  const place = shorten(url);
  add(functions, `${functionName || '(anonymous)'}  ${place}${url === '' ? '' : `:${lineNumber + 1}`}`, us);
  add(files, place || functionName, us);
}

console.log(`busy ${(busyUs / 1e6).toFixed(2)} s\n\nself time by function`);
print(functions);
console.log('\nself time by file');
print(files);

function add(sums: Map<string, number>, key: string, us: number): void {
  sums.set(key, (sums.get(key) ?? 0) + us);
}

function print(sums: Map<string, number>): void {
  const sorted = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, Number(count));
  for (const [key, us] of sorted) console.log(`${((us / busyUs) * 100).toFixed(1).padStart(6)} %  ${key}`);
}

function shorten(url: string): string {
  return url.replace(/^file:\/\//, '').replace(/^.*\/(?=(?:src|node_modules|benchmarks)\/)/, '');
}

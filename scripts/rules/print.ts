/** The printed forms of the coverage: a line per area, and the texts of what is missing in one. */
import type { AreaCount, Coverage } from './coverage.ts';

const barWidth = 20;

export function toTable(areas: readonly AreaCount[]): string {
  const nameWidth = Math.max(...areas.map(({ area }) => area.length), 'all'.length);
  const lines = areas.map((count) => areaLine(count, nameWidth));
  const sum = (pick: (count: AreaCount) => number) => areas.reduce((total, count) => total + pick(count), 0);
  const all = {
    area: 'all',
    total: sum((count) => count.total),
    covered: sum((count) => count.covered),
    waiting: sum((count) => count.waiting),
    missing: [],
  };
  return [...lines, areaLine(all, nameWidth)].join('\n');
}

function areaLine({ area, total, covered, waiting, missing }: AreaCount, nameWidth: number): string {
  const counts = `${covered} of ${total}${waiting > 0 ? `, ${waiting} waiting` : ''}`;
  const rest =
    missing.length === 0 ? '' : `  missing ${toRanges(missing.map((rule) => Number(rule.id.split('-')[1])))}`;
  return `${area.padEnd(nameWidth)} ${bar(covered, total)} ${counts.padEnd(24)}${rest}`.trimEnd();
}

/** Full only when everything is covered, empty only when nothing is. */
export function bar(covered: number, total: number): string {
  const share = total === 0 ? 0 : covered / total;
  let filled = Math.round(share * barWidth);
  if (covered > 0) filled = Math.max(1, filled);
  if (covered < total) filled = Math.min(barWidth - 1, filled);
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled);
}

/** 1, 2, 3, 7 as `1-3 7`. */
export function toRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ');
}

export function toMissing({ area, missing }: AreaCount, waiting: Coverage['waiting']): string {
  const lines = missing.map((rule) => `${rule.id} · ${rule.text}`);
  for (const [id, { until, why }] of waiting) {
    if (id.startsWith(`${area}-`)) lines.push(`${id} waits for ${[until].flat().join(' and ')}: ${why}`);
  }
  return lines.join('\n');
}

/** `roundhouse usage`: what was used and what it cost, by day, model or subscription. */
import { get, getAll } from './client.ts';
import { type Command, jsonOption, printJson, text } from './command.ts';
import type { Door } from './door.ts';
import { UsageError } from './errors.ts';
import { toTable } from './table.ts';

interface Sums {
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  megapixels: number;
  seconds: number;
  cost: number;
}

interface UsageList {
  by: string;
  data: (Sums & { group: string })[];
  total: Sums;
  has_more: boolean;
}

const groups = ['day', 'model', 'subscription'];
const dayOption = { type: 'string', placeholder: 'DATE' } as const;

export const usageCommand: Command = {
  words: ['usage'],
  operands: [],
  summary: 'Show what was used and what it cost',
  options: {
    subscription: {
      type: 'string',
      placeholder: 'NAME',
      help: 'only what this one used, by name or id (default: all)',
    },
    from: { ...dayOption, help: 'the first day in UTC: 2026-11-01 (default: 29 days before the last)' },
    to: { ...dayOption, help: 'the last day in UTC (default: today)' },
    by: {
      type: 'string',
      placeholder: 'GROUP',
      help: 'a line per day, model or subscription (default: day)',
    },
    ...jsonOption,
  },
  async run({ options, terminal, withDoor }) {
    const search = new URLSearchParams();
    for (const name of ['subscription', 'from', 'to', 'by']) {
      const value = text(options[name]);
      if (value !== undefined) search.set(name, value);
    }
    const by = search.get('by') ?? 'day';
    if (!groups.includes(by)) throw new UsageError(`--by takes ${groups.join(', ')}, not "${by}"`);
    await withDoor(async (door) => {
      const usage = await get<UsageList>(door, `/admin/usage?${search}`);
      if (options['json'] === true) printJson(terminal, usage);
      else terminal.stdout.write(await toText(usage, door));
    });
    return 0;
  },
};

async function toText({ by, data, total, has_more }: UsageList, door: Door): Promise<string> {
  const names = by === 'subscription' ? await subscriptionNames(door) : new Map<string, string>();
  const rows = [
    ...data.map((entry) => toCells(names.get(entry.group) ?? entry.group, entry)),
    ...(has_more ? [['…']] : []),
    toCells('total', total),
  ];
  const headings = ['REQUESTS', 'PROMPT', 'COMPLETION', 'MEGAPIXELS', 'SECONDS', 'DOLLARS'];
  return toTable([by.toUpperCase(), ...headings], rows);
}

function toCells(name: string, sums: Sums): string[] {
  return [
    name,
    String(sums.requests),
    String(sums.prompt_tokens),
    String(sums.completion_tokens),
    toShort(sums.megapixels),
    toShort(sums.seconds),
    toDollars(sums.cost),
  ];
}

function toShort(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** A single small request costs less than a millionth: as many places as it takes, at least cents. */
export function toDollars(usd: number): string {
  const [whole = '0', decimals = ''] = usd.toFixed(12).split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

async function subscriptionNames(door: Door): Promise<Map<string, string>> {
  const all = await getAll<{ id: string; name: string }>(door, '/admin/subscriptions');
  return new Map(all.map(({ id, name }) => [id, name]));
}

/** `roundhouse webhooks …`: what was sent to receivers, what came back, and sending again by hand. */
import { get, getAll, post } from './client.ts';
import { type Command, jsonOption, printJson, type Terminal, text } from './command.ts';
import { UsageError } from './errors.ts';
import { toTable, toTime } from './table.ts';

interface DeliveryEntry {
  id: string;
  type: string;
  url: string;
  status: string;
  attempts: number;
  created_at: number;
  next_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  delivered_at: number | null;
}

const path = '/admin/webhooks/deliveries';
const statuses = ['waiting', 'delivered', 'given_up'];
const mostLines = 1000;

const list: Command = {
  words: ['webhooks', 'list'],
  operands: [],
  summary: 'List deliveries of the last 30 days, newest first',
  options: {
    subscription: {
      type: 'string',
      placeholder: 'NAME',
      help: 'only those of this one, by name or id (default: all)',
    },
    job: { type: 'string', placeholder: 'ID', help: 'only those of this job' },
    status: { type: 'string', placeholder: 'STATUS', help: `only those that are ${statuses.join(', ')}` },
    limit: { type: 'string', placeholder: 'COUNT', help: 'at most so many (default: 100; 0: all)' },
    ...jsonOption,
  },
  async run({ options, terminal, withDoor }) {
    const query: Record<string, string> = {};
    for (const name of ['subscription', 'job', 'status']) {
      const value = text(options[name]);
      if (value !== undefined) query[name] = value;
    }
    const { status } = query;
    if (status !== undefined && !statuses.includes(status))
      throw new UsageError(`--status takes ${statuses.join(', ')}, not "${status}"`);
    const limit = toLimit(text(options['limit']) ?? '100');
    const deliveries = await withDoor(async (door) => {
      if (limit === 0) return getAll<DeliveryEntry>(door, path, query);
      const search = new URLSearchParams({ ...query, limit: String(limit) });
      return (await get<{ data: DeliveryEntry[] }>(door, `${path}?${search}`)).data;
    });
    print(deliveries, deliveries, options['json'] === true, terminal);
    return 0;
  },
};

const show: Command = {
  words: ['webhooks', 'show'],
  operands: ['DELIVERY'],
  summary: 'Show one delivery and the text that it sends',
  options: jsonOption,
  async run({ operands: [id = ''], options, terminal, withDoor }) {
    const found = await withDoor((door) =>
      get<DeliveryEntry & { body: string }>(door, `${path}/${encodeURIComponent(id)}`),
    );
    if (options['json'] === true) printJson(terminal, found);
    else terminal.stdout.write(toPage(found));
    return 0;
  },
};

const resend: Command = {
  words: ['webhooks', 'resend'],
  operands: ['DELIVERY'],
  summary: 'Send a delivery once more, with retries of its own',
  options: jsonOption,
  async run({ operands: [id = ''], options, terminal, withDoor }) {
    const sent = await withDoor((door) =>
      post<DeliveryEntry>(door, `${path}/${encodeURIComponent(id)}/resend`),
    );
    print([sent], sent, options['json'] === true, terminal);
    return 0;
  },
};

export const webhookCommands: readonly Command[] = [list, show, resend];

function toLimit(value: string): number {
  const limit = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (limit <= mostLines) return limit;
  throw new UsageError(`--limit takes a number up to ${mostLines}, or 0 for all, not "${value}"`);
}

function print(rows: readonly DeliveryEntry[], value: unknown, asJson: boolean, terminal: Terminal): void {
  if (asJson) {
    printJson(terminal, value);
    return;
  }
  const cells = rows.map((row) => [
    row.id,
    row.status,
    String(row.attempts),
    toTime(row.created_at),
    toTime(row.next_attempt_at),
    row.last_error ?? (row.last_status === null ? '-' : String(row.last_status)),
  ]);
  terminal.stdout.write(toTable(['ID', 'STATUS', 'ATTEMPTS', 'CREATED', 'NEXT', 'LAST'], cells));
}

/** A line for each thing that is known of it; its body as it is sent. */
function toPage(delivery: DeliveryEntry & { body: string }): string {
  const rows = Object.entries(delivery)
    .filter(([name]) => name !== 'object' && name !== 'body')
    .map(([name, value]) => [name, toCell(name, value)]);
  return toTable(['FIELD', 'VALUE'], [...rows, ['body', delivery.body]]);
}

function toCell(name: string, value: string | number | null): string {
  if (value === null) return '-';
  return name.endsWith('_at') ? toTime(Number(value)) : String(value);
}

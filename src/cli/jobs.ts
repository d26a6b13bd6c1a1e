/** `roundhouse jobs …`: the video and music jobs of all subscriptions, and cancelling one by hand. */
import { get, getAll, post } from './client.ts';
import { type Command, jsonOption, printJson, type Terminal, text } from './command.ts';
import { UsageError } from './errors.ts';
import { toTable, toTime } from './table.ts';

interface JobEntry {
  id: string;
  model: string;
  status: string;
  created_at: number;
  queue_position: number | null;
  progress: number;
  attempt: number;
  error: string | null;
}

const path = '/admin/jobs';
const choices: Readonly<Record<string, readonly string[]>> = {
  status: ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'],
  kind: ['video', 'music'],
};
const mostLines = 1000;

const list: Command = {
  words: ['jobs', 'list'],
  operands: [],
  summary: 'List video and music jobs, newest first',
  options: {
    subscription: {
      type: 'string',
      placeholder: 'NAME',
      help: 'only those of this one, by name or id (default: all)',
    },
    kind: { type: 'string', placeholder: 'KIND', help: 'only video or music' },
    model: { type: 'string', placeholder: 'ID', help: 'only those of this model' },
    status: {
      type: 'string',
      placeholder: 'STATUS',
      help: `only those that are ${choices['status']?.join(', ')}`,
    },
    limit: { type: 'string', placeholder: 'COUNT', help: 'at most so many (default: 100; 0: all)' },
    ...jsonOption,
  },
  async run({ options, terminal, withDoor }) {
    const query: Record<string, string> = {};
    for (const name of ['subscription', 'kind', 'model', 'status']) {
      const value = text(options[name]);
      if (value === undefined) continue;
      const allowed = choices[name];
      if (allowed !== undefined && !allowed.includes(value))
        throw new UsageError(`--${name} takes ${allowed.join(', ')}, not "${value}"`);
      query[name] = value;
    }
    const limit = toLimit(text(options['limit']) ?? '100');
    const jobs = await withDoor(async (door) => {
      if (limit === 0) return getAll<JobEntry>(door, path, query);
      const search = new URLSearchParams({ ...query, limit: String(limit) });
      return (await get<{ data: JobEntry[] }>(door, `${path}?${search}`)).data;
    });
    print(jobs, jobs, options['json'] === true, terminal);
    return 0;
  },
};

const show: Command = {
  words: ['jobs', 'show'],
  operands: ['JOB'],
  summary: 'Show one job',
  options: jsonOption,
  async run({ operands: [id = ''], options, terminal, withDoor }) {
    const found = await withDoor((door) => get<JobEntry>(door, `${path}/${encodeURIComponent(id)}`));
    if (options['json'] === true) printJson(terminal, found);
    else terminal.stdout.write(toPage(found));
    return 0;
  },
};

const cancel: Command = {
  words: ['jobs', 'cancel'],
  operands: ['JOB'],
  summary: 'Cancel a job that has not ended',
  options: jsonOption,
  async run({ operands: [id = ''], options, terminal, withDoor }) {
    const cancelled = await withDoor((door) =>
      post<JobEntry>(door, `${path}/${encodeURIComponent(id)}/cancel`),
    );
    print([cancelled], cancelled, options['json'] === true, terminal);
    return 0;
  },
};

export const jobCommands: readonly Command[] = [list, show, cancel];

function toLimit(value: string): number {
  const limit = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (limit <= mostLines) return limit;
  throw new UsageError(`--limit takes a number up to ${mostLines}, or 0 for all, not "${value}"`);
}

function print(rows: readonly JobEntry[], value: unknown, asJson: boolean, terminal: Terminal): void {
  if (asJson) {
    printJson(terminal, value);
    return;
  }
  const cells = rows.map((row) => [
    row.id,
    row.model,
    row.status,
    row.queue_position === null ? `${row.progress} %` : `${row.queue_position} ahead`,
    String(row.attempt),
    toTime(row.created_at),
    row.error ?? '-',
  ]);
  terminal.stdout.write(toTable(['ID', 'MODEL', 'STATUS', 'PROGRESS', 'ATTEMPT', 'CREATED', 'ERROR'], cells));
}

/** A line for each thing that is known of it. */
function toPage(job: JobEntry): string {
  const rows = Object.entries(job)
    .filter(([name]) => name !== 'object')
    .map(([name, value]) => [name, toCell(name, value)]);
  return toTable(['FIELD', 'VALUE'], rows);
}

function toCell(name: string, value: string | number | null): string {
  if (value === null) return '-';
  return name.endsWith('_at') ? toTime(Number(value)) : String(value);
}

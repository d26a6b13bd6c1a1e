/** `roundhouse subscriptions …`: makes subscriptions, lists them, and moves them between their states. */
import { getAll, post } from './client.ts';
import { type Command, jsonOption, printJson, type Terminal } from './command.ts';
import { toTable, toTime } from './table.ts';

interface SubscriptionEntry {
  id: string;
  name: string;
  status: string;
  created_at: number;
  closed_at: number | null;
}

const create: Command = {
  words: ['subscriptions', 'create'],
  operands: ['NAME'],
  summary: 'Make a subscription',
  options: jsonOption,
  async run({ operands: [name], options, terminal, withDoor }) {
    const created = await withDoor((door) => post<SubscriptionEntry>(door, '/admin/subscriptions', { name }));
    print([created], created, options['json'] === true, terminal);
    return 0;
  },
};

const list: Command = {
  words: ['subscriptions', 'list'],
  operands: [],
  summary: 'List subscriptions',
  options: jsonOption,
  async run({ options, terminal, withDoor }) {
    const all = await withDoor((door) => getAll<SubscriptionEntry>(door, '/admin/subscriptions'));
    print(all, all, options['json'] === true, terminal);
    return 0;
  },
};

function defineMove(move: 'suspend' | 'resume' | 'close', summary: string): Command {
  return {
    words: ['subscriptions', move],
    operands: ['NAME'],
    summary,
    options: jsonOption,
    async run({ operands: [name = ''], options, terminal, withDoor }) {
      const path = `/admin/subscriptions/${encodeURIComponent(name)}/${move}`;
      const moved = await withDoor((door) => post<SubscriptionEntry>(door, path));
      print([moved], moved, options['json'] === true, terminal);
      return 0;
    },
  };
}

export const subscriptionCommands: readonly Command[] = [
  create,
  list,
  defineMove('suspend', 'Refuse all keys of a subscription until it is resumed'),
  defineMove('resume', 'Accept the keys of a suspended subscription again'),
  defineMove('close', 'Close a subscription for good'),
];

function print(
  rows: readonly SubscriptionEntry[],
  value: unknown,
  asJson: boolean,
  terminal: Terminal,
): void {
  if (asJson) {
    printJson(terminal, value);
    return;
  }
  const cells = rows.map(({ id, name, status, created_at, closed_at }) => [
    id,
    name,
    status,
    toTime(created_at),
    toTime(closed_at),
  ]);
  terminal.stdout.write(toTable(['ID', 'NAME', 'STATUS', 'CREATED', 'CLOSED'], cells));
}

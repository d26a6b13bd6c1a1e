/** `roundhouse keys …`: makes keys, lists them, and moves them between their states. */
import { getAll, post } from './client.ts';
import { type Command, type CommandCall, jsonOption, printJson, text } from './command.ts';
import { parseDurationSeconds } from './duration.ts';
import { toTable, toTime } from './table.ts';

interface KeyEntry {
  id: string;
  subscription_id: string;
  name: string;
  prefix: string;
  status: string;
  created_at: number;
  expires_at: number | null;
}

const subscriptionOption = { type: 'string', placeholder: 'NAME' } as const;

const create: Command = {
  words: ['keys', 'create'],
  operands: [],
  summary: 'Make a key and print its secret, once',
  options: {
    subscription: { ...subscriptionOption, help: 'whose key it is, by name or id (default: default)' },
    name: { type: 'string', placeholder: 'NAME', help: 'what the key is for' },
    'expires-in': { type: 'string', placeholder: 'TIME', help: 'how long it is valid: 12h, 30d (default: for ever)' },
    ...jsonOption,
  },
  async run(call) {
    const { options, terminal } = call;
    const body = {
      subscription: text(options['subscription']) ?? 'default',
      name: text(options['name']),
      expires_at: expiresAt(call),
    };
    const key = await call.withDoor((door) => post<KeyEntry & { secret: string }>(door, '/admin/keys', body));
    if (options['json'] === true) printJson(terminal, key);
    else {
      // The secret alone on standard output, so that `KEY=$(roundhouse keys create)` works.
      terminal.stdout.write(`${key.secret}\n`);
      const until = key.expires_at === null ? '' : `, valid until ${toTime(key.expires_at)} UTC`;
      terminal.stderr.write(`Made ${key.id}${until}. The secret is shown this once: keep it.\n`);
    }
    return 0;
  },
};

const list: Command = {
  words: ['keys', 'list'],
  operands: [],
  summary: 'List keys',
  options: {
    subscription: { ...subscriptionOption, help: 'only the keys of this one, by name or id' },
    ...jsonOption,
  },
  async run({ options, terminal, withDoor }) {
    const subscription = text(options['subscription']);
    const keys = await withDoor((door) =>
      getAll<KeyEntry>(door, '/admin/keys', subscription === undefined ? {} : { subscription }),
    );
    if (options['json'] === true) printJson(terminal, keys);
    else printKeys(keys, terminal);
    return 0;
  },
};

function defineMove(move: 'suspend' | 'resume' | 'revoke' | 'expire', summary: string, options: Command['options'] = {}): Command {
  return {
    words: ['keys', move],
    operands: ['KEY'],
    summary,
    options: { ...options, ...jsonOption },
    async run(call) {
      const path = `/admin/keys/${encodeURIComponent(toKeyName(call.operands[0] ?? ''))}/${move}`;
      const body = move === 'expire' ? { expires_at: expiresAt(call) } : undefined;
      const key = await call.withDoor((door) => post<KeyEntry>(door, path, body));
      if (call.options['json'] === true) printJson(call.terminal, key);
      else printKeys([key], call.terminal);
      return 0;
    },
  };
}

export const keyCommands: readonly Command[] = [
  create,
  list,
  defineMove('suspend', 'Refuse a key until it is resumed'),
  defineMove('resume', 'Accept a suspended key again'),
  defineMove('revoke', 'Refuse a key for good'),
  defineMove('expire', 'Refuse a key from now on, or from a later time', {
    'expires-in': { type: 'string', placeholder: 'TIME', help: 'how long it stays valid: 12h, 30d (default: not at all)' },
  }),
];

function expiresAt({ options, terminal }: CommandCall): number | undefined {
  const duration = text(options['expires-in']);
  if (duration === undefined) return undefined;
  return Math.floor(terminal.now() / 1000) + parseDurationSeconds(duration, '--expires-in');
}

/** The first ten characters of a secret are its visible prefix: who has the secret at hand may paste it. */
function toKeyName(operand: string): string {
  return operand.startsWith('rh_') ? operand.slice(0, 10) : operand;
}

function printKeys(keys: readonly KeyEntry[], { stdout, now }: CommandCall['terminal']): void {
  const rows = keys.map((key) => [
    key.id,
    key.prefix,
    key.name,
    key.subscription_id,
    key.status === 'active' && key.expires_at !== null && key.expires_at * 1000 <= now() ? 'expired' : key.status,
    toTime(key.created_at),
    toTime(key.expires_at),
  ]);
  stdout.write(toTable(['ID', 'PREFIX', 'NAME', 'SUBSCRIPTION', 'STATUS', 'CREATED', 'EXPIRES'], rows));
}

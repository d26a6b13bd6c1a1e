/** `roundhouse keys …`: makes keys, lists them, and moves them between their states. */
import { getAll, post } from './client.ts';
import { type Command, type CommandCall, jsonOption, printJson, text } from './command.ts';
import type { Door } from './door.ts';
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
    'expires-in': {
      type: 'string',
      placeholder: 'TIME',
      help: 'how long it is valid: 12h, 30d (default: for ever)',
    },
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
  async run(call) {
    const subscription = text(call.options['subscription']);
    await call.withDoor(async (door) => {
      const keys = await getAll<KeyEntry>(
        door,
        '/admin/keys',
        subscription === undefined ? {} : { subscription },
      );
      await show(call, door, keys, keys);
    });
    return 0;
  },
};

function defineMove(
  move: 'suspend' | 'resume' | 'revoke' | 'expire',
  summary: string,
  options: Command['options'] = {},
): Command {
  return {
    words: ['keys', move],
    operands: ['KEY'],
    summary,
    options: { ...options, ...jsonOption },
    async run(call) {
      const path = `/admin/keys/${encodeURIComponent(toKeyName(call.operands[0] ?? ''))}/${move}`;
      const body = move === 'expire' ? { expires_at: expiresAt(call) } : undefined;
      await call.withDoor(async (door) => {
        const key = await post<KeyEntry>(door, path, body);
        await show(call, door, [key], key);
      });
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
    'expires-in': {
      type: 'string',
      placeholder: 'TIME',
      help: 'how long it stays valid: 12h, 30d (default: not at all)',
    },
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

async function show(call: CommandCall, door: Door, keys: readonly KeyEntry[], value: unknown): Promise<void> {
  const { terminal, options } = call;
  if (options['json'] === true) {
    printJson(terminal, value);
    return;
  }
  const subscriptions = await getAll<{ id: string; name: string }>(door, '/admin/subscriptions');
  const names = new Map(subscriptions.map(({ id, name }) => [id, name]));
  const rows = keys.map((key) => [
    key.id,
    key.prefix,
    key.name,
    names.get(key.subscription_id) ?? key.subscription_id,
    isExpired(key, terminal.now()) ? 'expired' : key.status,
    toTime(key.created_at),
    toTime(key.expires_at),
  ]);
  terminal.stdout.write(
    toTable(['ID', 'PREFIX', 'NAME', 'SUBSCRIPTION', 'STATUS', 'CREATED', 'EXPIRES'], rows),
  );
}

function isExpired({ status, expires_at }: KeyEntry, now: number): boolean {
  return status === 'active' && expires_at !== null && expires_at * 1000 <= now;
}

/**
 * `roundhouse models …`: what the gateway offers, read from its public list, and the packs of real models, which
 * are worked on in the data folder itself, whether a gateway runs on it or not.
 */
import {
  createPacks,
  type PackDeclaration,
  PackFailure,
  type Packs,
  toMegabytes,
  toPercent,
} from '../engines/packs/index.ts';
import { get } from './client.ts';
import { type Command, type CommandCall, jsonOption, printJson, type Terminal } from './command.ts';
import { CommandFailed, UsageError } from './errors.ts';
import { createProgress } from './progress.ts';
import { toTable } from './table.ts';

interface ModelEntry {
  id: string;
  name?: string;
  context_length?: number | null;
  architecture?: { modality?: string | null };
}

interface PackEntry {
  name: string;
  licence: string;
  state: string;
  /** What a pull of it fetches. */
  download_bytes: number;
  /** What it takes on the disk once it is here. */
  bytes: number;
  received_bytes?: number;
  reason?: string;
}

/** Tests bring packs of their own. */
export function defineModelCommands(declarations?: readonly PackDeclaration[]): readonly Command[] {
  async function withPacks<T>(
    { config, log, terminal }: CommandCall,
    work: (packs: Packs) => Promise<T>,
  ): Promise<T> {
    const { dataFolder, secret: variable } = config();
    const { cwd, now } = terminal;
    const given = declarations === undefined ? {} : { declarations };
    const packs = createPacks({ dataFolder, log, variable, cwd, now, ...given });
    try {
      return await work(packs);
    } finally {
      await packs.close();
    }
  }

  const list: Command = {
    words: ['models', 'list'],
    operands: [],
    summary: 'List the models that the gateway offers, and the packs of real models',
    options: {
      verify: { type: 'boolean', help: 'read every file of the packs that are here; fail if one is damaged' },
      ...jsonOption,
    },
    async run(call) {
      const { options, terminal, withDoor } = call;
      const packs = await withPacks(call, async (all) => {
        const damages = options['verify'] === true ? await findDamages(all) : new Map<string, string>();
        return all.declarations.map((pack) => toEntry(all, pack, damages.get(pack.name)));
      });
      const { data: models } = await withDoor((door) => get<{ data: ModelEntry[] }>(door, '/models'));
      if (options['json'] === true) printJson(terminal, { models, packs });
      else {
        terminal.stdout.write(`${toModelTable(models)}\n${toPackTable(packs)}`);
        for (const { reason } of packs) if (reason !== undefined) terminal.stderr.write(`${reason}\n`);
      }
      return packs.some(({ state }) => state === 'damaged') ? 1 : 0;
    },
  };

  const pull: Command = {
    words: ['models', 'pull'],
    operands: ['[NAME…]'],
    summary: 'Fetch packs of real models (a first request does so, too)',
    options: { all: { type: 'boolean', help: 'fetch every pack' } },
    async run(call) {
      await withPacks(call, async (packs) => {
        const known = packs.declarations.map(({ name }) => name);
        const names = call.options['all'] === true ? known : call.operands;
        if (names.length === 0) {
          throw new UsageError(`"models pull" needs --all or some of ${known.join(', ')}`);
        }
        for (const name of names) checkName(packs, name);
        for (const name of names) await pullOne(packs, name, call.terminal);
      });
      return 0;
    },
  };

  const remove: Command = {
    words: ['models', 'remove'],
    operands: ['NAME'],
    summary: 'Delete a pack, and what a pull has left of it',
    options: {},
    async run(call) {
      const [name = ''] = call.operands;
      await withPacks(call, async (packs) => {
        checkName(packs, name);
        if (!(await packs.remove(name))) throw new CommandFailed(`The pack ${name} is not here`);
      });
      call.terminal.stdout.write(`Removed ${name}\n`);
      return 0;
    },
  };

  return [list, pull, remove];
}

function checkName(packs: Packs, name: string): void {
  if (packs.find(name) !== undefined) return;
  const known = packs.declarations.map((pack) => pack.name);
  throw new UsageError(`there is no pack "${name}". There are: ${known.join(', ')}`);
}

async function pullOne(packs: Packs, name: string, terminal: Terminal): Promise<void> {
  if (packs.state(name).state === 'ready') {
    const damage = await findDamage(packs, name);
    if (damage === undefined) {
      terminal.stdout.write(`${name} is here already\n`);
      return;
    }
    terminal.stderr.write(`${damage}\n`);
    await packs.remove(name);
  }
  const progress = createProgress(name, terminal);
  try {
    await packs.pull(name, progress.update);
  } finally {
    progress.end();
  }
  const state = packs.state(name);
  terminal.stdout.write(
    `${name} is here${state.state === 'ready' ? ` (${toMegabytes(state.bytes)})` : ''}\n`,
  );
}

async function findDamages(packs: Packs): Promise<Map<string, string>> {
  const damages = new Map<string, string>();
  for (const { name } of packs.declarations) {
    const damage = await findDamage(packs, name);
    if (damage !== undefined) damages.set(name, damage);
  }
  return damages;
}

async function findDamage(packs: Packs, name: string): Promise<string | undefined> {
  try {
    await packs.verify(name);
    return undefined;
  } catch (error) {
    if (error instanceof PackFailure) return error.message;
    throw error;
  }
}

function toEntry(packs: Packs, pack: PackDeclaration, damage: string | undefined): PackEntry {
  const { name, licence, tarballs, files } = pack;
  const sum = (items: readonly { bytes: number }[]) => items.reduce((all, { bytes }) => all + bytes, 0);
  const entry = { name, licence, download_bytes: sum(tarballs), bytes: sum(files) };
  const state = packs.state(name);
  if (damage !== undefined) return { ...entry, state: 'damaged', reason: damage };
  if (state.state === 'failed') return { ...entry, state: 'damaged', reason: state.reason };
  if (state.state === 'pulling') return { ...entry, state: 'pulling', received_bytes: state.receivedBytes };
  return { ...entry, state: state.state };
}

function toModelTable(models: readonly ModelEntry[]): string {
  const rows = models.map(({ id, name, context_length, architecture }) => [
    id,
    name ?? '-',
    architecture?.modality ?? '-',
    String(context_length ?? '-'),
  ]);
  return toTable(['ID', 'NAME', 'MODALITY', 'CONTEXT'], rows);
}

function toPackTable(packs: readonly PackEntry[]): string {
  const rows = packs.map(({ name, state, download_bytes, bytes, received_bytes, licence }) => [
    name,
    received_bytes === undefined ? state : `${state}, ${toPercent(received_bytes, download_bytes)} %`,
    toMegabytes(download_bytes),
    toMegabytes(bytes),
    licence,
  ]);
  return toTable(['PACK', 'STATE', 'DOWNLOAD', 'ON DISK', 'LICENCE'], rows);
}

export const modelCommands = defineModelCommands();

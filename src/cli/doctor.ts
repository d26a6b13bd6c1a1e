/** `roundhouse doctor`: looks at everything that a start needs, one line each, and changes nothing. */
import { existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { migrationsFolder } from '../compose.ts';
import type { Config } from '../config.ts';
import { engineKinds } from '../engines/index.ts';
import { controlSocketPath } from '../http/control-socket.ts';
import type { Log } from '../lib/log.ts';
import { createCatalog } from '../platform/catalog/index.ts';
import { type Database, openDatabase, QueryFailed } from '../storage/index.ts';
import { readMigrations } from '../storage/migrate.ts';
import { type Command, jsonOption, printJson } from './command.ts';
import { isAnswered } from './door.ts';
import { CommandFailed } from './errors.ts';
import { toTable } from './table.ts';

interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}

export const doctorCommand: Command = {
  words: ['doctor'],
  operands: [],
  summary: 'Check whether the gateway can start, or runs',
  options: jsonOption,
  async run({ config: readConfig, log, options, terminal }) {
    const findings: Finding[] = [];
    /** What a check throws is its failure; what it answers may be needed by the next. */
    async function look<T>(
      check: string,
      work: () => T | Promise<T>,
      say: (result: T) => string,
    ): Promise<T | undefined> {
      try {
        const result = await work();
        findings.push({ check, ok: true, detail: say(result) });
        return result;
      } catch (error) {
        findings.push({ check, ok: false, detail: (error as Error).message });
        return undefined;
      }
    }
    const itself = (detail: string) => detail;

    await look('node', checkNode, itself);
    const config = await look(
      'configuration',
      () => checkConfig(readConfig()),
      ({ configFile }) => configFile ?? 'no file: the built-in models',
    );
    if (config !== undefined) {
      await look('engines', () => nameEngines(config), itself);
      await look('data folder', () => checkFolder(config.dataFolder), itself);
      await look('database', () => checkDatabase(config, log), itself);
      await look('address', () => checkAddress(config), itself);
    }

    if (options['json'] === true) printJson(terminal, findings);
    else {
      const rows = findings.map(({ check, ok, detail }) => [
        ok ? 'ok' : 'fail',
        check,
        ...detail.split('\n').slice(0, 1),
      ]);
      const more = findings
        .filter(({ ok, detail }) => !ok && detail.includes('\n'))
        .map(({ detail }) => `\n${detail}\n`);
      terminal.stdout.write(toTable(['RESULT', 'CHECK', 'DETAIL'], rows) + more.join(''));
    }
    return findings.every(({ ok }) => ok) ? 0 : 1;
  },
};

function checkNode(): string {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < 24) throw new CommandFailed(`Node 24 is needed, and this is ${node}`);
  return node;
}

/** The catalogue finds what a file's shape alone does not show, such as a model on an engine that cannot serve it. */
function checkConfig(config: Config): Config {
  createCatalog({ settings: config.settings, engineKinds });
  return config;
}

function nameEngines({ settings }: Config): string {
  const names = Object.entries(settings.engines).map(([name, { kind }]) =>
    name === kind ? name : `${name} (${kind})`,
  );
  if (names.length === 0) throw new CommandFailed('none is configured');
  return names.join(', ');
}

function checkFolder(folder: string): string {
  if (!existsSync(folder)) {
    let parent = dirname(folder);
    while (!existsSync(parent)) parent = dirname(parent);
    tryToMakeFolder(parent);
    return `${folder} (the first start makes it)`;
  }
  if (!statSync(folder).isDirectory()) throw new CommandFailed(`${folder} is not a folder`);
  tryToMakeFolder(folder);
  return folder;
}

/** Tried and not asked: a mount may be read-only, or make no folders at all, although its permissions say otherwise. */
function tryToMakeFolder(parent: string): void {
  rmdirSync(mkdtempSync(join(parent, 'doctor-')));
}

async function checkDatabase(config: Config, log: Log): Promise<string> {
  const { databaseUrl, dataFolder } = config;
  if (databaseUrl === undefined) {
    if (await isAnswered(controlSocketPath(dataFolder))) return 'SQLite, open in the running gateway';
    if (!existsSync(join(dataFolder, 'roundhouse.db'))) return 'SQLite (the first start makes it)';
  }
  const database = await openDatabase({ databaseUrl, folder: dataFolder, log });
  try {
    const known = await readMigrations(migrationsFolder, database.dialect);
    const applied = await countMigrations(database);
    if (applied < known.length) {
      throw new CommandFailed(
        `${known.length - applied} of ${known.length} migrations are missing: "roundhouse migrate" applies them`,
      );
    }
    if (applied > known.length) throw new CommandFailed('it was made by a newer version of Roundhouse');
    return `${databaseUrl === undefined ? 'SQLite' : 'PostgreSQL'}, all ${known.length} migrations applied`;
  } finally {
    await database.close();
  }
}

async function countMigrations(database: Database): Promise<number> {
  try {
    const [row] = await database.query<{ count: number }>('select count(*) as count from migrations');
    return row?.count ?? 0;
  } catch (error) {
    // There is no such table yet.
    if (error instanceof QueryFailed) return 0;
    throw error;
  }
}

async function checkAddress({ host, port }: Config): Promise<string> {
  try {
    await tryListening(host, port);
    return port === 0 ? `${host}, any free port` : `${host}:${port} is free`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  }
  if (await isGateway(host, port)) return `the gateway answers on ${host}:${port}`;
  throw new CommandFailed(`${host}:${port} is used by another program`);
}

function tryListening(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

const answerTimeoutMs = 3_000;

/** Every answer of ours carries a request id of ours. */
function isGateway(host: string, port: number): Promise<boolean> {
  // Who listens on every address is asked on this machine's own.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const options = { host: reached, port, path: '/v1/models/count', agent: false, timeout: answerTimeoutMs };
    const request = get(options, (response) => {
      response.resume();
      resolve(String(response.headers['x-request-id']).startsWith('req_'));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/**
 * How a command reaches the gateway: through the control socket of the one that runs on the data folder, or,
 * where none runs and with PostgreSQL, through a gateway in this process that listens nowhere. Both are the
 * same routes, so a command cannot tell them apart.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { compose } from '../compose.ts';
import type { Config } from '../config.ts';
import { controlSocketPath } from '../http/control-socket.ts';
import { askInMemory } from '../http/in-memory.ts';
import type { Log } from '../lib/log.ts';
import { FolderInUse } from '../storage/folder-lock.ts';
import { CommandFailed } from './errors.ts';

export interface Answer {
  status: number;
  body: unknown;
}

export interface Door {
  /** The key that the very first start made, where this was it. */
  readonly firstKey: string | undefined;
  /** `path` includes `/v1`. */
  request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer>;
  close(): Promise<void>;
}

/** Who holds the folder without answering is about to answer, or is another command that is soon done. */
const patienceMs = 10_000;
const lookAgainMs = 100;

export async function openDoor(config: Config, log: Log): Promise<Door> {
  const givesUpAt = performance.now() + patienceMs;
  while (true) {
    const socketPath = controlSocketPath(config.dataFolder);
    if (config.databaseUrl === undefined && (await isAnswered(socketPath))) return socketDoor(socketPath);
    try {
      return await ownDoor(config, log);
    } catch (error) {
      if (!(error instanceof FolderInUse) || performance.now() > givesUpAt) throw error;
    }
    await sleep(lookAgainMs);
  }
}

function socketDoor(socketPath: string): Door {
  return {
    firstKey: undefined,
    request: (method, path, body) => ask(socketPath, method, path, body),
    close: async () => {},
  };
}

async function ownDoor(config: Config, log: Log): Promise<Door> {
  const house = await compose({ config, log });
  return {
    firstKey: house.firstKey,
    async request(method, path, body) {
      const { status, bytes } = await askInMemory(house.app, {
        method,
        target: path,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) }),
        origin: 'local',
      });
      return { status, body: toBody(bytes.toString('utf8')) };
    },
    close: () => house.close(),
  };
}

/** Whether a gateway listens there. A socket that a killed one left behind refuses. */
export async function isAnswered(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    refuseForeign(socketPath);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false;
    if (code === 'EACCES' || code === 'EPERM') {
      throw new CommandFailed(`The running gateway belongs to another user: ${socketPath} may not be opened`);
    }
    throw error;
  } finally {
    socket.destroy();
  }
}

/** Where the data folder's path is too long the socket lies in a folder that others can write to as well. */
function refuseForeign(socketPath: string): void {
  const owner = statSync(socketPath).uid;
  if (owner === process.getuid?.() || owner === 0) return;
  throw new CommandFailed(`${socketPath} belongs to another user`);
}

async function ask(socketPath: string, method: string, path: string, body: unknown): Promise<Answer> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest({ socketPath, method, path, headers, agent: false }, resolve);
    request.on('error', reject);
    request.end(payload);
  });
  return { status: response.statusCode ?? 0, body: toBody(await readText(response)) };
}

function toBody(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

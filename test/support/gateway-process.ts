/** A gateway as a process of its own, for tests that kill it or need two. It never outlives the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface GatewayProcess {
  /** The base address, `/v1` included. */
  readonly url: string;
  /** What the first start printed; undefined on a later one. */
  readonly firstKey: string | undefined;
  readonly pid: number;
  /** Sends the signal and waits for the end; answers the exit code, or null after a kill. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
  /** Ends it by force unless it has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Nothing of the machine's own settings but the path, and a free port unless one is named. */
export function childEnvironment(env: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), PORT: '0', LOG_LEVEL: 'warn', ...env };
}

export async function startGatewayProcess(
  folder: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...flags, main], {
    cwd: folder,
    env: childEnvironment({ ROUNDHOUSE_DATA: folder, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const greeting = /listens on (\S+)[\s\S]*\n {2}(?:try it|models) .*\n/;
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      if (greeting.test(printed)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}:\n${printed}`)));
  });
  return {
    url: greeting.exec(printed)?.[1] ?? '',
    firstKey: /Your API key, shown this once: (\S+)/.exec(printed)?.[1],
    pid: child.pid ?? 0,
    async end(signal) {
      child.kill(signal);
      return ended(child);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

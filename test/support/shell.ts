/** The HTTP shell alone: routes of a test's own, one valid key, nothing behind it. */
import { createApp } from '../../src/http/app.ts';
import type { Route } from '../../src/http/route.ts';
import { listen } from '../../src/http/server.ts';
import { inMemory } from '../../src/lib/content.ts';
import { createLog } from '../../src/lib/log.ts';
import type { Platform } from '../../src/platform/index.ts';
import type { Scratch } from '../../src/platform/scratch/types.ts';
import { send, type TestAnswer, type TestRequest } from './inject.ts';

export const shellKey = 'rh_test-key';

export interface Shell {
  /** With the valid key, unless `key` says otherwise; `null` sends none. */
  send(request: TestRequest & { key?: string | null }): Promise<TestAnswer>;
  /** Serves on a free port until `close`; answers the address without `/v1`. */
  listen(): Promise<string>;
  close(drainMs?: number): Promise<void>;
  /** What was logged, as objects. */
  readonly logged: Record<string, unknown>[];
}

/** Large files too are kept in memory here. */
const memoryScratch: Scratch = {
  async keep(data) {
    const pieces: Buffer[] = [];
    for await (const piece of data) pieces.push(Buffer.from(piece));
    return { ...inMemory(pieces), close: async () => {} };
  },
  close: async () => {},
};

export function createShell(
  routes: readonly Route[],
  parts: { adminToken?: string; platform?: Partial<Platform> } = {},
): Shell {
  const logged: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const accounts = {
    authenticate: (secret: string) =>
      secret === shellKey ? { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'test' } : undefined,
  };
  const platform = { accounts, scratch: memoryScratch, ...parts.platform } as Platform;
  const app = createApp({ routes, platform, log, adminToken: parts.adminToken });
  const open: { close(drainMs: number): Promise<void> }[] = [];
  return {
    logged,
    send({ key = shellKey, headers = {}, ...request }) {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      return send(app, { ...request, headers: { ...authorization, ...headers } });
    },
    async listen() {
      const listener = await listen(app, { host: '127.0.0.1', port: 0 });
      open.push(listener);
      return listener.address;
    },
    async close(drainMs = 0) {
      await Promise.all(open.map((listener) => listener.close(drainMs)));
    },
  };
}

/** A whole gateway for a test: its own data folder or schema, one key, no socket until it is asked for. */
import { compose, type House } from '../../src/compose.ts';
import type { Config } from '../../src/config.ts';
import { readConfig } from '../../src/config.ts';
import type { Route } from '../../src/http/route.ts';
import { type Listener, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/lib/log.ts';
import type { Platform } from '../../src/platform/index.ts';
import { createTestPlace } from './database.ts';
import { send, type TestAnswer, type TestRequest } from './inject.ts';

export interface TestGatewayOptions {
  settings?: Partial<Config['settings']>;
  platform?: Partial<Platform>;
  routes?: readonly Route[];
  env?: Record<string, string>;
  now?: () => number;
}

export interface TestGateway {
  readonly house: House;
  readonly key: string;
  /** With the valid key, unless `key` says otherwise; `null` sends none. */
  inject(request: TestRequest & { key?: string | null }): Promise<TestAnswer>;
  /** Serves on a free port; answers the base address, `/v1` included. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const place = await createTestPlace();
  const config = readConfig({
    env: { ROUNDHOUSE_DATA: place.folder, ...place.env, ...options.env },
    cwd: place.folder,
  });
  const house = await compose({
    config: { ...config, settings: { ...config.settings, ...options.settings } },
    log: createLog('silent'),
    ...(options.now === undefined ? {} : { now: options.now }),
    extraRoutes: options.routes ?? [],
    platform: options.platform ?? {},
  });
  const listeners: Listener[] = [];
  const key = house.firstKey ?? options.env?.['ROUNDHOUSE_API_KEY'] ?? '';
  return {
    house,
    key,
    inject({ key: sent = key, headers = {}, ...request }) {
      const authorization = sent === null ? {} : { authorization: `Bearer ${sent}` };
      return send(house.app, { ...request, headers: { ...authorization, ...headers } });
    },
    async listen() {
      const listener = await listen(house.app, { host: '127.0.0.1', port: 0 });
      listeners.push(listener);
      return `${listener.address}/v1`;
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close(0)));
      await house.close();
      await place.close();
    },
  };
}

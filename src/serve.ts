/** Runs the gateway until it is told to stop: listens, greets, reloads on SIGHUP, and ends in order on SIGTERM. */
import { compose } from './compose.ts';
import type { Config } from './config.ts';
import { controlSocketPath } from './http/control-socket.ts';
import { type Listener, listen } from './http/server.ts';
import type { Log } from './lib/log.ts';

const drainMs = 60_000;
const sameSignalMs = 1_000;

export async function serve({ config, log }: { config: Config; log: Log }): Promise<void> {
  const house = await compose({ config, log });
  // At once: whatever fails after this, the key was made and cannot be shown again.
  if (house.firstKey !== undefined) process.stdout.write(keyGreeting(house.firstKey));
  const listeners: Listener[] = [];
  try {
    const network = await listen(house.app, { host: config.host, port: config.port });
    listeners.push(network);
    // With PostgreSQL the command line goes to the database itself, and several gateways may share a folder.
    if (config.databaseUrl === undefined) {
      listeners.push(await listen(house.app, { socketPath: controlSocketPath(config.dataFolder) }));
    }
    // Up to here a signal just ends the process. Whoever reads the greeting may stop it at once, and in order.
    const stop = stopSignal();
    process.stdout.write(greeting(network.address, house.firstKey));
    process.on('SIGHUP', () => {
      house.reload().then(
        () => log.info('configuration read again'),
        (error: Error) => log.error({ error: error.message }, 'configuration not changed'),
      );
    });
    const signal = await stop;
    log.info({ signal }, 'stopping');
    house.platform.health.drain();
    // Renders are given to another process, or wait for the next start: whoever listens to one is let go with it.
    const handOver = house.platform.jobs.close().catch((error: Error) => {
      log.error({ error: error.message }, 'jobs could not be given back: their leases run out');
    });
    await Promise.all([handOver, ...listeners.map((listener) => listener.close(drainMs))]);
  } finally {
    await house.close();
  }
}

/**
 * The first signal ends in order. One more a while later ends at once, for whoever does not want to wait; at
 * first it is ignored, because a terminal and npm both pass on the same Ctrl-C.
 */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        firstAt ??= now;
        if (now - firstAt > sameSignalMs) process.exit(1);
        resolve(signal);
      });
    }
  });
}

function keyGreeting(key: string): string {
  return `Your API key, shown this once: ${key}\n("npx roundhouse keys create" makes another)\n\n`;
}

function greeting(address: string, firstKey: string | undefined): string {
  const base = `${address}/v1`;
  const chat =
    `curl ${base}/chat/completions -H "Authorization: Bearer ${firstKey}" -H "Content-Type: application/json" ` +
    `-d '{"messages":[{"role":"user","content":"Hello"}]}'`;
  const first = firstKey === undefined ? `curl ${base}/models` : chat;
  return `Roundhouse listens on ${base}\n  description  ${base}/docs\n  try it       ${first}\n`;
}

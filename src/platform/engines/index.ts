/**
 * The running engines by their names in the configuration. A reload keeps the engines whose settings did not
 * change, so that their connections and what they have learned survive it.
 */
import assert from 'node:assert';
import type { Engine, EngineKind, EngineSettings } from '../../engines/contract/engine.ts';
import type { Log } from '../../lib/log.ts';

type SettingsByName = Readonly<Record<string, EngineSettings>>;

export interface Engines {
  get(name: string): Engine;
  /** Asks every engine whether it can take a request; one that does not answer in time cannot. */
  check(): Promise<ReadonlyMap<string, boolean>>;
  /** Takes settings that were checked already. */
  replace(settings: SettingsByName): void;
  close(): Promise<void>;
}

export interface EnginesParts {
  kinds: readonly EngineKind[];
  settings: SettingsByName;
  /** The value of an environment variable that an engine's options name. */
  secret: (variable: string) => string | undefined;
  log: Log;
}

interface Running {
  engine: Engine;
  settings: string;
}

const checkTimeoutMs = 2_000;

export function createEngines({ kinds, settings, secret, log }: EnginesParts): Engines {
  let running = new Map<string, Running>();

  function start(name: string, options: EngineSettings): Running {
    const kind = kinds.find((candidate) => candidate.kind === options.kind);
    assert(kind !== undefined, `${name}: the kind ${options.kind} passed the configuration's check`);
    return { engine: kind.create(options, { name, log, secret }), settings: JSON.stringify(options) };
  }

  function replace(next: SettingsByName): void {
    const before = running;
    running = new Map(
      Object.entries(next).map(([name, options]) => {
        const kept = before.get(name);
        return [name, kept?.settings === JSON.stringify(options) ? kept : start(name, options)];
      }),
    );
    for (const [name, old] of before) {
      if (running.get(name) !== old) void stop(name, old.engine);
    }
  }

  async function stop(name: string, engine: Engine): Promise<void> {
    try {
      await engine.close();
    } catch (error) {
      log.warn({ engine: name, err: error }, 'an engine that is no longer used did not close');
    }
  }

  replace(settings);
  return {
    get(name) {
      const found = running.get(name);
      assert(found !== undefined, `the catalogue names only engines that exist, not ${name}`);
      return found.engine;
    },
    async check() {
      const signal = AbortSignal.timeout(checkTimeoutMs);
      const results = [...running].map(async ([name, { engine }]): Promise<[string, boolean]> => {
        const { ok } = await engine.health(signal);
        return [name, ok];
      });
      return new Map(await Promise.all(results));
    },
    replace,
    async close() {
      await Promise.all([...running].map(([name, { engine }]) => stop(name, engine)));
      running = new Map();
    },
  };
}

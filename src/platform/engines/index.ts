/**
 * The running engines by their names in the configuration, how busy each is and whether it can be trusted. A
 * reload keeps the engines whose settings did not change, so that their connections and what they have learned
 * survive it.
 */
import assert from 'node:assert';
import type { Engine, EngineKind, EngineSettings } from '../../engines/contract/engine.ts';
import type { Studio } from '../../engines/contract/studio.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Leaving } from '../../lib/presence.ts';
import { createSlots, type Release, type Slots } from '../admission/index.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { chooseEngine } from './choose.ts';

type SettingsByName = Readonly<Record<string, EngineSettings>>;

/** `unproven`: it was not asked for an answer, or nobody waited for it. */
export type Outcome = 'answered' | 'unproven' | GatewayError;

/** One request's use of an engine. Given back exactly once. */
export interface EngineUse {
  readonly name: string;
  readonly engine: Engine;
  /**
   * Takes one of the engine's own slots, where it has a number of them. Answers at once when one is free, else
   * a promise: subscriptions take turns. Without `maxWaitMs` it waits as long as that takes.
   */
  enter(subscriptionId: string, signal: Leaving, maxWaitMs?: number): Promise<void> | undefined;
  /** How it went: failures that are the engine's own count against it, and a good answer wipes them out. */
  release(outcome: Outcome): void;
}

export interface Engines {
  get(name: string): Engine;
  /**
   * An engine out of those named, except the ones that were tried already. Throws `unreachable` when none of
   * them can be trusted at the moment; answers undefined when all were tried.
   */
  use(names: readonly string[], affinity: string, tried: readonly string[]): EngineUse | undefined;
  /**
   * An engine to ask something small of, such as a count: a trusted one if there is any. It is not counted as a
   * use, and never the one trial that an engine gets after a failure.
   */
  forQuestion(names: readonly string[], affinity: string): Engine | undefined;
  /** Asks every engine whether it can take a request; one that does not answer in time cannot. */
  check(): Promise<ReadonlyMap<string, boolean>>;
  /**
   * Starts what new settings (checked already) add or change, and throws when that fails. Nothing is different
   * until `commit`.
   */
  prepare(settings: SettingsByName): { commit(): void; discard(): Promise<void> };
  close(): Promise<void>;
}

export interface EnginesParts {
  kinds: readonly EngineKind[];
  settings: SettingsByName;
  /** The value of an environment variable that an engine's options name. */
  secret: (variable: string) => string | undefined;
  /** Where engines may keep files of their own. */
  dataFolder: string;
  /** Where they let their own code draw, film and play. */
  studio: Studio;
  log: Log;
  now: () => number;
  /** How often every engine is asked how it is. */
  checkEveryMs?: number;
}

interface Running {
  readonly name: string;
  readonly engine: Engine;
  readonly settings: string;
  readonly breaker: Breaker;
  readonly slots: Slots | undefined;
  active: number;
}

const checkTimeoutMs = 2_000;

export function createEngines({
  kinds,
  settings,
  secret,
  dataFolder,
  studio,
  log,
  now,
  checkEveryMs = 5_000,
}: EnginesParts): Engines {
  let running = new Map<string, Running>();

  function start(name: string, options: EngineSettings): Running {
    const kind = kinds.find((candidate) => candidate.kind === options.kind);
    assert(kind !== undefined, `${name}: the kind ${options.kind} passed the configuration's check`);
    const engine = kind.create(options, { name, log, secret, dataFolder, studio });
    const slots = typeof options['slots'] === 'number' ? createSlots(options['slots']) : undefined;
    return {
      name,
      engine,
      settings: JSON.stringify(options),
      breaker: createBreaker({ now }),
      slots,
      active: 0,
    };
  }

  function prepare(settings: SettingsByName): { commit(): void; discard(): Promise<void> } {
    const next = new Map<string, Running>();
    const stopAll = async (engines: ReadonlyMap<string, Running>, kept: ReadonlyMap<string, Running>) => {
      const unused = [...engines].filter(([name, each]) => kept.get(name) !== each);
      await Promise.all(unused.map(([name, { engine }]) => stop(name, engine)));
    };
    const discard = () => stopAll(next, running);
    try {
      for (const [name, options] of Object.entries(settings)) {
        const kept = running.get(name);
        next.set(name, kept?.settings === JSON.stringify(options) ? kept : start(name, options));
      }
    } catch (error) {
      void discard();
      throw error;
    }
    return {
      commit() {
        const before = running;
        running = next;
        void stopAll(before, next);
      },
      discard,
    };
  }

  async function stop(name: string, engine: Engine): Promise<void> {
    try {
      await engine.close();
    } catch (error) {
      log.warn({ engine: name, err: error }, 'an engine that is no longer used did not close');
    }
  }

  async function check(): Promise<ReadonlyMap<string, boolean>> {
    const signal = AbortSignal.timeout(checkTimeoutMs);
    const results = [...running.values()].map(
      async ({ name, engine, breaker }): Promise<[string, boolean]> => {
        const { ok, detail } = await engine.health(signal);
        if (ok) breaker.succeeded();
        else {
          if (breaker.retryAt === 0) log.warn({ engine: name, detail }, 'an engine fails its health check');
          breaker.open();
        }
        return [name, ok];
      },
    );
    return new Map(await Promise.all(results));
  }

  prepare(settings).commit();
  const checking = setInterval(() => void check(), checkEveryMs).unref();
  return {
    get(name) {
      const found = running.get(name);
      assert(found !== undefined, `the catalogue names only engines that exist, not ${name}`);
      return found.engine;
    },
    use(names, affinity, tried) {
      // The usual case: one engine, and nothing against it.
      const only = names.length === 1 && tried.length === 0 ? running.get(names[0]!) : undefined;
      if (only?.breaker.retryAt === 0) return new Use(only);
      // An engine can be gone for a model that was looked up just before a reload.
      const left = names.flatMap((name) => (tried.includes(name) ? [] : (running.get(name) ?? [])));
      if (left.length === 0) return undefined;
      const trusted = left.filter(({ breaker }) => breaker.retryAt === 0);
      // With no trusted one left, whoever is due gets a trial.
      const chosen = chooseEngine(trusted, affinity) ?? left.find(({ breaker }) => breaker.allows());
      if (chosen === undefined) throw noneAnswers(left, now());
      return new Use(chosen);
    },
    forQuestion(names, affinity) {
      const there = names.flatMap((name) => running.get(name) ?? []);
      const trusted = there.filter(({ breaker }) => breaker.retryAt === 0);
      return (chooseEngine(trusted, affinity) ?? there[0])?.engine;
    },
    check,
    prepare,
    async close() {
      clearInterval(checking);
      await Promise.all([...running.values()].map(({ name, engine }) => stop(name, engine)));
      running = new Map();
    },
  };
}

/** A class, because one is made for every request. */
class Use implements EngineUse {
  readonly #of: Running;
  #giveBack: Release | undefined;
  #isReleased = false;

  constructor(of: Running) {
    this.#of = of;
    of.active += 1;
  }

  get name(): string {
    return this.#of.name;
  }

  get engine(): Engine {
    return this.#of.engine;
  }

  enter(subscriptionId: string, signal: Leaving, maxWaitMs?: number): Promise<void> | undefined {
    const slot = this.#of.slots?.enter(subscriptionId, signal, maxWaitMs);
    if (slot instanceof Promise) {
      return slot.then((release) => {
        // Who left in the very moment in which the slot was granted has given back everything already.
        if (this.#isReleased) release();
        else this.#giveBack = release;
      });
    }
    this.#giveBack = slot;
    return undefined;
  }

  release(outcome: Outcome): void {
    const { breaker } = this.#of;
    this.#isReleased = true;
    this.#of.active -= 1;
    this.#giveBack?.();
    if (outcome === 'answered') breaker.succeeded();
    else if (outcome === 'unproven') return;
    else if (outcome.kind === 'unreachable' || outcome.kind === 'timeout') breaker.failed();
  }
}

function noneAnswers(engines: readonly Running[], at: number): GatewayError {
  const soonest = Math.min(...engines.map(({ breaker }) => breaker.retryAt));
  return new GatewayError('unreachable', 'No engine of this model answers at the moment', {
    retryAfterSeconds: Math.max(1, (soonest - at) / 1000),
  });
}

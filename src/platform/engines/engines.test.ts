import Type from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { noStudio } from '../../../test/support/no-studio.ts';
import { defineEngineKind } from '../../engines/contract/engine.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { createBreaker } from './breaker.ts';
import { chooseEngine } from './choose.ts';
import { createEngines, type Engines } from './index.ts';

let engines: Engines;
let time = 0;
afterEach(() => engines?.close());

function setUp(settings: Record<string, { kind: string; ok?: boolean }>) {
  const events: string[] = [];
  const fake = defineEngineKind({
    kind: 'fake',
    serves: ['chat'],
    options: Type.Object({ kind: Type.Literal('fake'), ok: Type.Optional(Type.Boolean()) }),
    create({ ok = true }, { name }) {
      events.push(`start ${name}`);
      return {
        kind: 'fake',
        health: async () => ({ ok }),
        async close() {
          events.push(`stop ${name}`);
        },
      };
    },
  });
  time = 1_000_000;
  engines = createEngines({
    kinds: [fake],
    settings,
    secret: () => undefined,
    dataFolder: '/nowhere',
    studio: noStudio,
    log: createLog('silent'),
    now: () => time,
  });
  return { events };
}

const failWith = (kind: ErrorKind) => new GatewayError(kind, 'x');

describe('the running engines', () => {
  it('say by name whether they can take a request', async () => {
    setUp({ a: { kind: 'fake' }, b: { kind: 'fake', ok: false } });
    expect(Object.fromEntries(await engines.check())).toEqual({ a: true, b: false });
    expect(() => engines.get('c')).toThrow(/not c/);
  });

  it('survive a reload that does not change them; changed and removed ones are closed', async () => {
    const { events } = setUp({
      same: { kind: 'fake' },
      changed: { kind: 'fake' },
      removed: { kind: 'fake' },
    });
    const same = engines.get('same');
    events.length = 0;
    const next = { same: { kind: 'fake' }, changed: { kind: 'fake', ok: false }, added: { kind: 'fake' } };
    await engines.prepare(next).discard();
    expect(events).toEqual(['start changed', 'start added', 'stop changed', 'stop added']);
    expect(() => engines.get('added')).toThrow();
    events.length = 0;
    engines.prepare(next).commit();
    expect(engines.get('same')).toBe(same);
    expect(events).toEqual(['start changed', 'start added', 'stop changed', 'stop removed']);
    await engines.close();
    expect(events.slice(4).toSorted()).toEqual(['stop added', 'stop changed', 'stop same']);
  });

  it('are used least busy first, each one once per request', () => {
    setUp({ a: { kind: 'fake' }, b: { kind: 'fake' } });
    const first = engines.use(['a', 'b'], '', []);
    expect(first?.name).toBe('a');
    expect(engines.use(['a', 'b'], '', [])?.name).toBe('b');
    first?.release('answered');
    expect(engines.use(['a', 'b'], '', [])?.name).toBe('a');
    expect(engines.use(['a', 'b'], '', ['a'])?.name).toBe('b');
    expect(engines.use(['a', 'b'], '', ['a', 'b'])).toBeUndefined();
    expect(engines.use(['gone'], '', [])).toBeUndefined();
  });

  it('that fail five times in a row are passed over, then tried once, then trusted again', () => {
    setUp({ a: { kind: 'fake' } });
    for (let i = 0; i < 5; i++) engines.use(['a'], '', [])?.release(failWith('unreachable'));
    expect(() => engines.use(['a'], '', [])).toThrow(/No engine of this model answers/);
    time += 1_001;
    const trial = engines.use(['a'], '', []);
    expect(trial?.name).toBe('a');
    expect(() => engines.use(['a'], '', []), 'one trial at a time').toThrow(/No engine/);
    trial?.release('answered');
    expect(engines.use(['a'], '', [])?.name).toBe('a');
  });

  it('are not blamed for what a client sent wrong or for being busy', () => {
    setUp({ a: { kind: 'fake' } });
    for (const kind of [
      'invalid_request',
      'overloaded',
      'invalid_request',
      'overloaded',
      'invalid_request',
      'overloaded',
    ] as const) {
      engines.use(['a'], '', [])?.release(failWith(kind));
    }
    expect(engines.use(['a'], '', [])?.name).toBe('a');
  });

  it('are not trusted again by a call that proved nothing', () => {
    setUp({ a: { kind: 'fake' } });
    for (let i = 0; i < 5; i++) {
      engines.use(['a'], '', [])?.release('unproven');
      engines.use(['a'], '', [])?.release(failWith('unreachable'));
    }
    expect(() => engines.use(['a'], '', [])).toThrow(/No engine of this model answers/);
  });

  it('that fail their health check are passed over for one that does not', async () => {
    setUp({ a: { kind: 'fake', ok: false }, b: { kind: 'fake' } });
    await engines.check();
    for (let i = 0; i < 5; i++) expect(engines.use(['a', 'b'], '', [])?.name).toBe('b');
  });
});

describe('a slot of an engine', () => {
  const here = new AbortController().signal;

  it('that is granted to who has just left is given to the next', async () => {
    setUp({ a: { kind: 'fake', slots: 1 } as never });
    const first = engines.use(['a'], '', [])!;
    first.enter('sub_1', here, 1_000);
    const second = engines.use(['a'], '', [])!;
    const waiting = second.enter('sub_1', here, 1_000);
    first.release('answered');
    // The slot is on its way to the second one, which leaves before it hears of it.
    second.release('unproven');
    await waiting;
    expect(engines.use(['a'], '', [])?.enter('sub_1', here, 1_000)).toBeUndefined();
  });
});

describe('a question beside the work', () => {
  it('goes to a trusted engine, and to any other when there is none', () => {
    setUp({ a: { kind: 'fake' }, b: { kind: 'fake' } });
    for (let i = 0; i < 5; i++) engines.use(['a'], '', [])?.release(failWith('unreachable'));
    expect(engines.forQuestion(['a', 'b'], '')).toBe(engines.get('b'));
    expect(engines.forQuestion(['a'], '')).toBe(engines.get('a'));
    expect(engines.forQuestion(['gone'], '')).toBeUndefined();
  });

  it('does not take the one trial that an engine gets', () => {
    setUp({ a: { kind: 'fake' } });
    for (let i = 0; i < 5; i++) engines.use(['a'], '', [])?.release(failWith('unreachable'));
    time += 60_000;
    engines.forQuestion(['a'], '');
    expect(engines.use(['a'], '', [])?.name).toBe('a');
  });
});

describe('a breaker', () => {
  it('waits longer after each failed trial, up to 15 seconds, and forgets that on a success', () => {
    let now = 0;
    const breaker = createBreaker({ now: () => now, random: () => 1 });
    breaker.open();
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      waits.push(breaker.retryAt - now);
      expect(breaker.allows()).toBe(false);
      now = breaker.retryAt;
      expect(breaker.allows()).toBe(true);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    breaker.succeeded();
    breaker.open();
    expect(breaker.retryAt - now).toBe(1_000);
  });
});

describe('the choice of an engine', () => {
  const idle = ['a', 'b', 'c'].map((name) => ({ name, active: 0 }));

  it('sends the same conversation to the same engine, and spreads different ones', () => {
    const chosen = Array.from({ length: 300 }, (_, i) => chooseEngine(idle, `conversation ${i}`)?.name);
    const again = Array.from({ length: 300 }, (_, i) => chooseEngine(idle, `conversation ${i}`)?.name);
    expect(again).toEqual(chosen);
    for (const { name } of idle) expect(chosen.filter((other) => other === name).length).toBeGreaterThan(60);
  });

  it('moves only the conversations of an engine that is gone', () => {
    const without = idle.filter(({ name }) => name !== 'b');
    for (let i = 0; i < 100; i++) {
      const before = chooseEngine(idle, `conversation ${i}`)?.name;
      if (before !== 'b') expect(chooseEngine(without, `conversation ${i}`)?.name).toBe(before);
    }
  });

  it('leaves the preferred engine when that has a crowd', () => {
    const preferred = chooseEngine(idle, 'x')?.name;
    const crowded = (active: number) =>
      idle.map(({ name }) => ({ name, active: name === preferred ? active : 0 }));
    expect(chooseEngine(crowded(4), 'x')?.name).toBe(preferred);
    expect(chooseEngine(crowded(5), 'x')?.name).not.toBe(preferred);
  });
});

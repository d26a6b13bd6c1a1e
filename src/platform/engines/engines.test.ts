import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { defineEngineKind } from '../../engines/contract/engine.ts';
import { createLog } from '../../lib/log.ts';
import { createEngines } from './index.ts';

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
  const engines = createEngines({
    kinds: [fake],
    settings,
    secret: () => undefined,
    log: createLog('silent'),
  });
  return { engines, events };
}

describe('the running engines', () => {
  it('say by name whether they can take a request', async () => {
    const { engines } = setUp({ a: { kind: 'fake' }, b: { kind: 'fake', ok: false } });
    expect(Object.fromEntries(await engines.check())).toEqual({ a: true, b: false });
    expect(() => engines.get('c')).toThrow(/not c/);
  });

  it('survive a reload that does not change them; changed and removed ones are closed', async () => {
    const { engines, events } = setUp({
      same: { kind: 'fake' },
      changed: { kind: 'fake' },
      removed: { kind: 'fake' },
    });
    const same = engines.get('same');
    events.length = 0;
    engines.replace({
      same: { kind: 'fake' },
      changed: { kind: 'fake', ok: false },
      added: { kind: 'fake' },
    });
    expect(engines.get('same')).toBe(same);
    expect(events).toEqual(['start changed', 'start added', 'stop changed', 'stop removed']);
    await engines.close();
    expect(events.slice(4).toSorted()).toEqual(['stop added', 'stop changed', 'stop same']);
  });
});

import { describe, expect, it } from 'vitest';
import { type ErrorDetails, type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import type { Model } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import { logEngineFailure } from './engine-failure.ts';
import type { Pipeline } from './pipeline.ts';
import { tryEngines } from './try-engines.ts';

const toModel = (...engines: string[]) => ({ id: 'm', engines }) as unknown as Model;
const fetching = new GatewayError('overloaded', 'The model m is being fetched: 37 %', {
  retryAfterSeconds: 5,
});

function createLines(level: 'debug' | 'info') {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: createLog(level, { write: (line: string) => lines.push(JSON.parse(line)) }) };
}

function told(kind: ErrorKind, details: ErrorDetails, ...engines: string[]) {
  const { lines, log } = createLines('info');
  logEngineFailure(log, toModel(...engines), 'a', new GatewayError(kind, 'x', details));
  return lines.map(({ msg }) => msg);
}

describe('a failure of an engine', () => {
  it('is a warning in the log', () => {
    expect(told('unreachable', {}, 'a')).toEqual(['an engine failed']);
    expect(told('unreachable', { retryAfterSeconds: 5 }, 'a')).toEqual(['an engine failed']);
    expect(told('timeout', {}, 'a')).toEqual(['an engine failed']);
    expect(told('overloaded', {}, 'a')).toEqual(['an engine failed']);
  });

  it('is none when the only engine says when to come back, as while it fetches the model', () => {
    expect(told('overloaded', { retryAfterSeconds: 5 }, 'a')).toEqual([]);
    const { lines, log } = createLines('debug');
    logEngineFailure(log, toModel('a'), 'a', fetching);
    expect(lines).toMatchObject([
      { msg: 'an engine is not ready', model: 'm', engine: 'a', error: fetching.message },
    ]);
  });

  it('is told where another engine is asked instead, because nothing else does', () => {
    expect(told('overloaded', { retryAfterSeconds: 5 }, 'a', 'b')).toEqual(['an engine failed']);
  });

  it('is not logged for each request that comes while a model is fetched', async () => {
    const { lines, log } = createLines('info');
    const use = { name: 'a', release: () => {} } as unknown as EngineUse;
    const nextEngine: Pipeline['nextEngine'] = (_model, _affinity, tried, failure) => {
      if (tried.length > 0) throw failure;
      return use;
    };
    const work = () => Promise.reject(fetching);
    const { signal } = new AbortController();
    const tried = tryEngines({ nextEngine, log } as Pipeline, toModel('a'), '', signal, { work });
    await expect(tried).rejects.toBe(fetching);
    expect(lines).toEqual([]);
  });
});

/** The sandbox engine's scripted failures as a client sees them, through the real catalogue and shell. */
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScript, type ScriptOptions } from '../src/engines/sandbox/script.ts';
import { toSeed } from '../src/engines/sandbox/seed.ts';
import { EventReply } from '../src/http/reply.ts';
import { defineRoute } from '../src/http/route.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';

/** A route with nothing of its own: it resolves the model and follows the model's script. */
const scripted = defineRoute({
  method: 'POST',
  path: '/scripted',
  access: 'key',
  summary: 'For tests.',
  tag: 'Test',
  body: Type.Object({ model: Type.Optional(Type.String()), stream: Type.Optional(Type.Boolean()) }),
  async handle({ body, signal }, { catalog }) {
    const { model } = catalog.resolve('chat', body.model);
    const script = createScript((model.script ?? {}) as ScriptOptions);
    const seed = toSeed(body);
    async function* words() {
      const run = await script.begin(seed, AbortSignal.any([signal, AbortSignal.timeout(5_000)]));
      for (let i = 0; i < 3; i++) {
        await run.token(i);
        yield { data: { word: i } };
      }
    }
    if (body.stream === true)
      return new EventReply(words(), (error) => [{ data: { failed: error.message } }]);
    const said = [];
    for await (const word of words()) said.push(word);
    return { model: model.id, words: said.length };
  },
});

const declare = (id: string, script: object) => ({
  id,
  type: 'chat' as const,
  engine: 'sandbox',
  contextLength: 1000,
  script: { ...script },
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({
    routes: [scripted],
    settings: {
      models: [
        declare('well', {}),
        declare('refusing', { failBefore: 'refuse' }),
        declare('telling', {
          failBefore: {
            kind: 'error',
            message: 'CUDA out of memory on gpu-3.internal:8000\nTraceback: /srv/vllm/worker.py',
          },
        }),
        declare('busy', { failBefore: 'overload' }),
        declare('late', { failBefore: 'timeout' }),
        declare('breaking', { failAfterTokens: 2 }),
        { ...declare('off', {}), served: false },
      ],
    },
  });
});
afterAll(() => gateway.close());

const ask = (model: string, stream = false) =>
  gateway.inject({ method: 'POST', url: '/v1/scripted', payload: { model, stream } });

describe('an engine that fails', () => {
  it('[ERR-34] that cannot be reached is a 502', async () => {
    const answer = await ask('refusing');
    expect([answer.status, answer.json().error.metadata.error_type]).toEqual([502, 'provider_unavailable']);
  });

  it('[ERR-35] that is busy, or a model that is not served, is a 503', async () => {
    const busy = await ask('busy');
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1']);
    expect((await ask('off')).status).toBe(503);
  });

  it('[ERR-36] that does not answer in time is a 504', async () => {
    const answer = await ask('late');
    expect([answer.status, answer.json().error.type]).toEqual([504, 'timeout_error']);
  });

  it('[ERR-38, ERR-39] says why in its first line, without addresses, hosts or paths', async () => {
    const answer = await ask('telling');
    expect(answer.status).toBe(502);
    expect(answer.json().error.message).toBe('The engine failed: CUDA out of memory on [address]');
  });

  it('[ERR-40, ERR-41] before its first token has a real status, after it speaks inside the stream', async () => {
    const early = await ask('busy', true);
    expect([early.status, early.json().error.code]).toEqual([503, 503]);
    const later = await ask('breaking', true);
    expect(later.status).toBe(200);
    expect(later.body).toContain('data: {"word":1}\n\ndata: {"failed":');
  });

  it('[ERR-10] an unknown model is a 404 that names it, and a model of another type is no chat model', async () => {
    for (const model of ['no-such-model', 'sandbox-image', 'Well', '']) {
      const answer = await ask(model);
      expect([answer.status, answer.json().error.type, answer.json().error.param], model).toEqual([
        404,
        'not_found_error',
        'model',
      ]);
    }
    expect((await ask('well')).json()).toEqual({ model: 'well', words: 3 });
  });
});

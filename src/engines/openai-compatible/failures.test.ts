import { describe, expect, it } from 'vitest';
import { toAnswerFailure, toRefusal } from './failures.ts';

const openai = (message: string) =>
  JSON.stringify({ error: { message, type: 'BadRequestError', code: 400 } });

describe('a refusal', () => {
  it.each([
    [400, 'invalid_request'],
    [404, 'invalid_request'],
    [413, 'invalid_request'],
    [422, 'invalid_request'],
    [401, 'unreachable'],
    [403, 'unreachable'],
    [429, 'overloaded'],
    [503, 'overloaded'],
    [500, 'unreachable'],
    [502, 'unreachable'],
    [302, 'unreachable'],
    [204, 'unreachable'],
  ])('with status %i is %s', (status, kind) => {
    expect(toRefusal(status, openai('why'), undefined)).toMatchObject({ kind, permanent: false });
  });

  it.each([
    ['OpenAI', openai('top_k is too large'), 'top_k is too large'],
    ['Ollama', '{"error":"model not found"}', 'model not found'],
    ['older vLLM', '{"object":"error","message":"bad","code":400}', 'bad'],
    ['FastAPI', '{"detail":"Not Found"}', 'Not Found'],
    ['FastAPI with a list', '{"detail":[{"loc":["body","n"],"msg":"must be positive"}]}', 'must be positive'],
    ['nothing', '', 'The engine refused the request'],
    ['a page', '<html>no</html>', 'The engine refused the request'],
  ])('tells the reason as %s writes it', (_, body, message) => {
    expect(toRefusal(400, body, undefined).message).toBe(message);
  });

  it('is cut to its first line and holds no address', () => {
    const told = openai('cannot fetch http://10.0.0.5:8000/x\n  File "/srv/vllm/api.py", line 3');
    expect(toRefusal(400, told, undefined).message).toBe('cannot fetch [address]');
  });

  it('shows nothing of what an engine says about itself, and keeps it as the cause', () => {
    const error = toRefusal(500, openai('CUDA out of memory on gpu-3.internal'), undefined);
    expect(error.message).toBe('The engine failed');
    expect((error.cause as Error).message).toContain('CUDA out of memory');
    expect(toRefusal(401, openai('Bearer sk-1 is wrong'), undefined).message).toBe(
      "The engine refused the gateway's credentials",
    );
  });

  it('passes Retry-After on as whole seconds, at least 1', () => {
    const retryAfter = (value?: string) => toRefusal(429, '', value).retryAfterSeconds;
    expect([retryAfter('7'), retryAfter(' 0 '), retryAfter(), retryAfter('soon')]).toEqual([
      7,
      1,
      undefined,
      undefined,
    ]);
    const inAMinute = retryAfter(new Date(Date.now() + 60_000).toUTCString());
    expect(inAMinute).toBeGreaterThan(50);
    expect(inAMinute).toBeLessThanOrEqual(60);
  });
});

describe('an error inside of an answer', () => {
  it('is told by its code, and is the engine’s fault without one', () => {
    expect(toAnswerFailure({ message: 'too long', code: 400 })).toMatchObject({
      kind: 'invalid_request',
      message: 'too long',
    });
    expect(toAnswerFailure({ message: 'x', code: 'context_length' }).kind).toBe('unreachable');
    expect(toAnswerFailure('x').kind).toBe('unreachable');
    expect(toAnswerFailure(true).kind).toBe('unreachable');
  });
});

/** What the real SDKs raise for each status, over a socket. The routes stand in: only the failures matter here. */
import Anthropic from '@anthropic-ai/sdk';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import OpenAI from 'openai';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineRoute } from '../../src/http/route.ts';
import { type ErrorKind, GatewayError } from '../../src/lib/errors.ts';
import { createShell, type Shell, shellKey } from '../support/shell.ts';

const body = Type.Object({ model: Type.String() });
const failing = { method: 'POST', access: 'key', summary: 'Fails as asked.', tag: 'Test', body } as const;

/** The model's name says how the call fails. */
function fail({ body: { model } }: { body: { model: string } }): never {
  throw new GatewayError(
    model as ErrorKind,
    `It was ${model}`,
    model === 'rate_limited' ? { retryAfterSeconds: 3 } : {},
  );
}

const routes = [
  defineRoute({ ...failing, path: '/chat/completions', handle: fail }),
  defineRoute({ ...failing, path: '/messages', dialect: 'messages', handle: fail }),
];
/** Where the paths exist, but take no POST. */
const readOnly = [
  defineRoute({ ...failing, method: 'GET', path: '/chat/completions', handle: fail }),
  defineRoute({ ...failing, method: 'GET', path: '/messages', dialect: 'messages', handle: fail }),
];

let shell: Shell;
let otherShell: Shell;
let base: string;
let readOnlyBase: string;

beforeAll(async () => {
  shell = createShell(routes);
  otherShell = createShell(readOnly);
  base = await shell.listen();
  readOnlyBase = await otherShell.listen();
});
afterAll(async () => {
  await shell.close();
  await otherShell.close();
});

async function thrown(work: () => PromiseLike<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was raised');
}

const messages = [{ role: 'user' as const, content: 'hi' }];

describe('the OpenAI SDK', () => {
  const raised = (model: string, baseURL = `${base}/v1`, apiKey = shellKey) =>
    thrown(() =>
      new OpenAI({ baseURL, apiKey, maxRetries: 0 }).chat.completions.create({ model, messages }),
    ) as Promise<InstanceType<typeof OpenAI.APIError>>;

  it('[ERR-45] raises its class for each status, with message, type and request id', async () => {
    const classes = [
      ['invalid_request', OpenAI.BadRequestError, 400],
      ['not_found', OpenAI.NotFoundError, 404],
      ['conflict', OpenAI.ConflictError, 409],
      ['unprocessable', OpenAI.UnprocessableEntityError, 422],
      ['rate_limited', OpenAI.RateLimitError, 429],
      ['internal', OpenAI.InternalServerError, 500],
      ['unreachable', OpenAI.InternalServerError, 502],
      ['overloaded', OpenAI.InternalServerError, 503],
      ['timeout', OpenAI.InternalServerError, 504],
      ['decision_overloaded', OpenAI.InternalServerError, 529],
      ['too_large', OpenAI.APIError, 413],
    ] as const;
    for (const [kind, type, status] of classes) {
      const error = await raised(kind);
      expect(error.constructor, kind).toBe(type);
      expect(error.status).toBe(status);
      expect(error.message).toContain(`It was ${kind}`);
      expect(error.requestID).toMatch(/^req_[0-9a-f]{24}$/);
    }
    expect((await raised('x', undefined, 'wrong')).constructor).toBe(OpenAI.AuthenticationError);
    const wrongMethod = await raised('x', `${readOnlyBase}/v1`);
    expect([wrongMethod.constructor, wrongMethod.status]).toEqual([OpenAI.APIError, 405]);
  });

  it('[ERR-43] does not retry a 409, and retries a 503', async () => {
    const count = async (model: string) => {
      const before = shell.logged.length;
      await thrown(() =>
        new OpenAI({ baseURL: `${base}/v1`, apiKey: shellKey, maxRetries: 1 }).chat.completions.create({
          model,
          messages,
        }),
      );
      return shell.logged.length - before;
    };
    expect(await count('conflict')).toBe(1);
    expect(await count('overloaded')).toBe(2);
  });
});

describe('the Anthropic SDK', () => {
  const raised = (model: string, baseURL = base, apiKey = shellKey) =>
    thrown(() =>
      new Anthropic({ baseURL, apiKey, maxRetries: 0 }).messages.create({ model, messages, max_tokens: 5 }),
    ) as Promise<InstanceType<typeof Anthropic.APIError>>;

  it('[ERR-46] raises its class for each status', async () => {
    const classes = {
      invalid_request: [400, 'BadRequestError'],
      not_found: [404, 'NotFoundError'],
      conflict: [409, 'ConflictError'],
      too_large: [413, 'ContentTooLargeError'],
      unprocessable: [422, 'UnprocessableEntityError'],
      rate_limited: [429, 'RateLimitError'],
      internal: [500, 'InternalServerError'],
      overloaded: [503, 'ServiceUnavailableError'],
      timeout: [504, 'GatewayTimeoutError'],
      decision_overloaded: [529, 'OverloadedError'],
    } as const;
    for (const [kind, [status, name]] of Object.entries(classes)) {
      const error = await raised(kind);
      expect([error.status, error.constructor.name], kind).toEqual([status, name]);
      expect(error.message).toContain(`It was ${kind}`);
      expect(error.requestID).toMatch(/^req_[0-9a-f]{24}$/);
    }
    expect((await raised('x', base, 'wrong')).constructor.name).toBe('AuthenticationError');
    const wrongMethod = await raised('x', readOnlyBase);
    expect([wrongMethod.status, wrongMethod.constructor.name]).toEqual([405, 'APIError']);
  });
});

describe('the OpenRouter SDK', () => {
  const raised = (model: string, origin = base, apiKey = shellKey) =>
    thrown(() =>
      new OpenRouter({ serverURL: `${origin}/v1`, apiKey, retryConfig: { strategy: 'none' } }).chat.send({
        chatRequest: { model, messages },
      }),
    );

  it('[ERR-47] raises its typed class, with code, message and metadata read from the body', async () => {
    const classes = [
      ['invalid_request', errors.BadRequestResponseError, 400, 'invalid_request'],
      ['not_found', errors.NotFoundResponseError, 404, 'not_found'],
      ['too_large', errors.PayloadTooLargeResponseError, 413, 'payload_too_large'],
      ['rate_limited', errors.TooManyRequestsResponseError, 429, 'rate_limit_exceeded'],
      ['internal', errors.InternalServerResponseError, 500, 'server'],
      ['unreachable', errors.BadGatewayResponseError, 502, 'provider_unavailable'],
      ['overloaded', errors.ServiceUnavailableResponseError, 503, 'provider_overloaded'],
      ['decision_overloaded', errors.ProviderOverloadedResponseError, 529, 'provider_overloaded'],
    ] as const;
    for (const [kind, type, status, errorType] of classes) {
      const error = (await raised(kind)) as InstanceType<typeof errors.BadRequestResponseError>;
      expect(error, kind).toBeInstanceOf(type);
      expect(error.error).toMatchObject({
        code: status,
        message: `It was ${kind}`,
        metadata: { error_type: errorType },
      });
    }
    const unauthorized = (await raised('x', base, 'wrong')) as InstanceType<
      typeof errors.UnauthorizedResponseError
    >;
    expect(unauthorized).toBeInstanceOf(errors.UnauthorizedResponseError);
    expect(unauthorized.error).toMatchObject({ code: 401, message: 'Invalid API key' });
    expect(await raised('x', readOnlyBase)).toBeInstanceOf(errors.OpenRouterDefaultError);
  });
});

/** Questions that an engine answers once, beside chat: JSON or a form there, JSON back, with the call's deadlines. */
import { Readable } from 'node:stream';
import type { GatewayError } from '../../lib/errors.ts';
import type { Request } from '../../lib/http1/client/pool.ts';
import type { ResponseHead } from '../../lib/http1/client/response-head.ts';
import type { Address } from './address.ts';
import { toBodyText } from './body-text.ts';
import { AnswerCall, type CallParts } from './call.ts';
import { failures, toAnswerFailure } from './failures.ts';
import type { Fields, Place } from './flavor.ts';
import type { Form } from './form.ts';

export interface Answer {
  /** An object or a list. */
  readonly json: unknown;
  readonly head: ResponseHead;
}

export interface Questions {
  /** Rejects with a `GatewayError`, or with the signal's reason; what `read` throws is an unreadable answer. */
  post<T>(place: Place, body: Fields, read: (answer: Answer) => T, signal: AbortSignal): Promise<T>;
}

export interface FormQuestions extends Questions {
  postForm<T>(place: Place, form: Form, read: (answer: Answer) => T, signal: AbortSignal): Promise<T>;
}

export interface FileQuestions extends FormQuestions {
  /** The bytes at a path of the engine's own origin. */
  fetch(path: string, signal: AbortSignal): Promise<Buffer>;
  /** Deletes what is there. */
  remove(path: string, signal: AbortSignal): Promise<void>;
}

export interface QuestionParts extends Omit<CallParts, 'request'> {
  readonly address: Address;
  readonly headers: string[];
}

export function createQuestions({ address, headers, ...parts }: QuestionParts): FileQuestions {
  // All but the type, which a form has of its own.
  const typeAt = headers.findIndex((item, index) => index % 2 === 0 && item === 'content-type');
  const untyped = typeAt === -1 ? headers : headers.toSpliced(typeAt, 2);

  const send = <T>(request: Request, read: (bytes: Buffer, head: ResponseHead) => T, signal: AbortSignal) =>
    new Promise<T>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        call.abort();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const done = (error: GatewayError | undefined, result?: T) => {
        signal.removeEventListener('abort', onAbort);
        if (error === undefined) resolve(result as T);
        else reject(error);
      };
      const call = new AnswerCall({ ...parts, request }, done, read).start();
    });

  const ask = <T>(
    place: Place,
    encoded: Pick<Request, 'headers' | 'body'>,
    read: (answer: Answer) => T,
    signal: AbortSignal,
  ) =>
    send(
      { method: 'POST', path: address[place.at] + place.path, ...encoded },
      (bytes, head) => read({ json: parse(bytes), head }),
      signal,
    );

  return {
    post: (place, body, read, signal) => ask(place, { headers, body: toBodyText(body) }, read, signal),
    postForm(place, form, read, signal) {
      const own = ['content-type', form.type, ...untyped];
      const stream = Readable.from(form.pieces(), { objectMode: false });
      return ask(place, { headers: own, body: { stream, length: form.length } }, read, signal);
    },
    fetch: (path, signal) => send({ method: 'GET', path, headers: untyped }, (bytes) => bytes, signal),
    remove: (path, signal) => send({ method: 'DELETE', path, headers: untyped }, () => {}, signal),
  };
}

function parse(body: Buffer): unknown {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw failures.unreadable(error);
  }
  if (typeof json !== 'object' || json === null) throw failures.unreadable(new Error('not an object'));
  const { error, object } = json as { error?: unknown; object?: unknown };
  // Some servers tell a failure with status 200.
  if (error || object === 'error') throw toAnswerFailure(error || json);
  return json;
}

/** Questions that an engine answers once, beside chat: a JSON body there, a JSON body back, with the call's deadlines. */
import type { GatewayError } from '../../lib/errors.ts';
import type { Address } from './address.ts';
import { toBodyText } from './body-text.ts';
import { AnswerCall, type CallParts, type IncomingHeaders } from './call.ts';
import { failures, toAnswerFailure } from './failures.ts';
import type { Fields, Place } from './flavors.ts';

export interface Answer {
  /** An object or a list. */
  readonly json: unknown;
  readonly headers: IncomingHeaders;
}

export interface Questions {
  /** Rejects with a `GatewayError`, or with the signal's reason; what `read` throws is an unreadable answer. */
  post<T>(place: Place, body: Fields, read: (answer: Answer) => T, signal: AbortSignal): Promise<T>;
}

export interface QuestionParts extends Omit<CallParts, 'options'> {
  readonly address: Address;
  readonly headers: string[];
}

export function createQuestions({ address, headers, ...parts }: QuestionParts): Questions {
  return {
    post: (place, body, read, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const path = address[place.at] + place.path;
        const options = { method: 'POST' as const, path, headers, body: toBodyText(body) };
        const onAbort = () => {
          call.abort();
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        const done = (error: GatewayError | undefined, result?: unknown) => {
          signal.removeEventListener('abort', onAbort);
          if (error === undefined) resolve(result as never);
          else reject(error);
        };
        const call = new AnswerCall({ ...parts, options }, done, (bytes, received) =>
          read({ json: parse(bytes), headers: received }),
        ).start();
      }),
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

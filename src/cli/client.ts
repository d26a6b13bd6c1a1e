/** Asks the gateway through a door: a refusal becomes a failed command, a list is read to its end. */

import type { Door } from './door.ts';
import { CommandFailed } from './errors.ts';

export async function get<T>(door: Door, path: string): Promise<T> {
  return answered(await door.request('GET', `/v1${path}`)) as T;
}

export async function post<T>(door: Door, path: string, body?: unknown): Promise<T> {
  return answered(await door.request('POST', `/v1${path}`, body)) as T;
}

interface List<T> {
  data: T[];
  has_more: boolean;
}

const pageSize = 1000;

export async function getAll<T extends { id: string }>(
  door: Door,
  path: string,
  query: Record<string, string> = {},
): Promise<T[]> {
  const all: T[] = [];
  let after: string | undefined;
  do {
    const search = new URLSearchParams({
      ...query,
      limit: String(pageSize),
      ...(after === undefined ? {} : { after }),
    });
    const { data, has_more } = await get<List<T>>(door, `${path}?${search}`);
    all.push(...data);
    after = has_more ? data.at(-1)?.id : undefined;
  } while (after !== undefined);
  return all;
}

function answered({ status, body }: { status: number; body: unknown }): unknown {
  if (status >= 200 && status < 300) return body;
  const { error } = (body ?? {}) as { error?: { message?: string } };
  throw new CommandFailed(error?.message ?? `The gateway answered with status ${status}`);
}

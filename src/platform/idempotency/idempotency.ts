/**
 * The keys of paid requests, in the database, so that every replica knows them, and their answers as objects.
 *
 *   absent ─claim→ running ─keep→ done ─24 h→ absent
 *   running ─release, or 30 s without a heartbeat→ absent
 *
 * Without the database a request with a key is refused with `overloaded`: run without its claim, it could cost twice.
 * An answer that was made but cannot be kept is given all the same, and its key is free again when its lease is over.
 */
import { GatewayError } from '../../lib/errors.ts';
import { createId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import type { Objects } from '../objects/types.ts';
import { createLeases, leaseMs } from './leases.ts';
import { type ClaimRow, deleteClaim, findKey, insertClaim, type KeyRow, updateDone } from './store.ts';
import { createSweep } from './sweep.ts';
import type { Claim, Idempotency, KeptAnswer } from './types.ts';

export interface IdempotencyParts {
  database: Database;
  objects: Objects;
  now: () => number;
  log: Log;
  sweepEveryMs?: number;
}

const keptMs = 24 * 3_600_000;
const defaultSweepEveryMs = 600_000;
/** A key may be let go between the claim that fails and the look at who has it. */
const maxTries = 5;
const param = 'Idempotency-Key';

export function createIdempotency({
  database,
  objects,
  now,
  log,
  sweepEveryMs = defaultSweepEveryMs,
}: IdempotencyParts): Idempotency {
  const leases = createLeases({ database, now, log });
  const sweep = createSweep({ database, log, now, everyMs: sweepEveryMs });

  function run(claim: ClaimRow, expiresAt: number): Claim {
    leases.add(claim);
    /** What can fail here concerns the next request with the key, not this one's answer. */
    async function settle(what: string, work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        log.error({ err: error, subscription: claim.subscriptionId }, what);
      } finally {
        leases.remove(claim);
      }
    }
    return {
      type: 'run',
      keep: (answer) =>
        settle('an answer could not be kept for its idempotency key', () => keep(claim, expiresAt, answer)),
      release: () => settle('an idempotency key could not be let go', () => deleteClaim(database, claim)),
    };
  }

  async function keep(claim: ClaimRow, expiresAt: number, answer: KeptAnswer): Promise<void> {
    const objectKey = objects.passingKey('answers', expiresAt, createId('answer'));
    await objects.put(objectKey, answer.body);
    const { status } = answer;
    const isOurs = await updateDone(database, claim, {
      status,
      headers: JSON.stringify(answer.headers),
      objectKey,
    });
    if (!isOurs) await objects.remove(objectKey);
  }

  async function replay(row: KeyRow): Promise<Claim> {
    const info = await objects.find(row.object_key);
    if (info === undefined) throw lost();
    const headers = JSON.parse(row.headers) as KeptAnswer['headers'];
    const open = async () => {
      const body = await objects.open(row.object_key);
      if (body === undefined) throw lost();
      return body;
    };
    return { type: 'replay', answer: { status: row.status, headers, bytes: info.bytes, open } };
  }

  return {
    async claim(subscriptionId, key, fingerprint) {
      for (let tries = 0; tries < maxTries; tries++) {
        const at = now();
        const claim = { subscriptionId, key, claimId: createId('claim') };
        const expiresAt = at + keptMs;
        const isOurs = await orOverloaded(
          insertClaim(database, { ...claim, fingerprint, now: at, leaseUntil: at + leaseMs, expiresAt }),
        );
        if (isOurs) return run(claim, expiresAt);
        const row = await orOverloaded(findKey(database, claim));
        if (row === undefined) continue;
        if (row.fingerprint !== fingerprint) {
          throw new GatewayError('invalid_request', `${param} was used before for another request`, {
            param,
          });
        }
        if (row.state === 'done') return replay(row);
        break;
      }
      throw new GatewayError('conflict', `The first request with this ${param} is still running`, {
        param,
        permanent: true,
      });
    },

    async close() {
      await Promise.all([leases.close(), sweep.close()]);
    },
  };
}

function lost(): GatewayError {
  return new GatewayError('internal', `The answer that was kept for this ${param} is lost`, {
    permanent: true,
  });
}

async function orOverloaded<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new GatewayError('overloaded', `The database did not answer: ${param} cannot be looked up`, {
      cause,
      retryAfterSeconds: 1,
    });
  }
}

/** The signing secrets of subscriptions: one row each, with the secret before it for as long as that signs too. */
import { randomBytes } from 'node:crypto';
import type { Sql } from '../../storage/database.ts';
import type { WebhookSecret } from './types.ts';

/** How long the old secret signs beside the new one. */
export const overlapMs = 24 * 3600 * 1000;

interface SecretRow {
  secret: string;
  created_at: number;
  previous_secret: string | null;
  previous_expires_at: number | null;
}

export interface Secrets extends WebhookSecret {
  /** What signs now, newest first. */
  readonly inForce: readonly string[];
}

const columns = 'secret, created_at, previous_secret, previous_expires_at';

/** Makes it where there is none. Of several processes that do so at once, one makes it and all answer the same. */
export async function readSecrets(sql: Sql, subscriptionId: string, now: number): Promise<Secrets> {
  const read = () =>
    sql.query<SecretRow>(`select ${columns} from webhook_secrets where subscription_id = $1`, [
      subscriptionId,
    ]);
  const [known] = await read();
  if (known !== undefined) return toSecrets(known, now);
  await sql.query(
    `insert into webhook_secrets (subscription_id, secret, created_at) values ($1, $2, $3)
     on conflict (subscription_id) do nothing`,
    [subscriptionId, createSecret(), now],
  );
  const [made] = await read();
  return toSecrets(made as SecretRow, now);
}

/**
 * One statement, so that of two rotations at once the second replaces what the first has made. Where there was no
 * secret, one that nobody knows is taken to have been before it: the answer is the same for everybody.
 */
export async function rotateSecrets(sql: Sql, subscriptionId: string, now: number): Promise<Secrets> {
  const [row] = await sql.query<SecretRow>(
    `insert into webhook_secrets (subscription_id, secret, created_at, previous_secret, previous_expires_at)
     values ($1, $2, $3, $4, $5)
     on conflict (subscription_id) do update set
       previous_secret = webhook_secrets.secret, previous_expires_at = excluded.previous_expires_at,
       secret = excluded.secret, created_at = excluded.created_at
     returning ${columns}`,
    [subscriptionId, createSecret(), now, createSecret(), now + overlapMs],
  );
  return toSecrets(row as SecretRow, now);
}

function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

function toSecrets(row: SecretRow, now: number): Secrets {
  const { secret, created_at: createdAt, previous_secret: previous, previous_expires_at: expiresAt } = row;
  const isOver = previous === null || expiresAt === null || expiresAt <= now;
  return {
    secret,
    createdAt,
    previousExpiresAt: isOver ? undefined : expiresAt,
    inForce: isOver ? [secret] : [secret, previous],
  };
}

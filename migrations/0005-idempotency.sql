-- Requests that carry an Idempotency-Key. Times are milliseconds since 1970.

-- running: the process that made the claim renews its lease, and who dies loses it; done: the answer is kept. Its body
-- is an object, and headers is a JSON object. expires_at counts from the first request.
create table idempotency_keys (
  subscription_id text not null,
  key text not null,
  fingerprint text not null,
  state text not null check (state in ('running', 'done')),
  claim_id text not null,
  lease_until bigint not null,
  expires_at bigint not null,
  status integer,
  headers text,
  object_key text,
  primary key (subscription_id, key)
);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

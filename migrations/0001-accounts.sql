-- Subscriptions and their keys. Times are milliseconds since 1970.

create table subscriptions (
  id text primary key,
  name text not null unique,
  status text not null check (status in ('active', 'suspended', 'closed')),
  created_at bigint not null,
  closed_at bigint
);

-- hash is the SHA-256 of the secret in hex. The secret itself is stored nowhere.
create table keys (
  id text primary key,
  subscription_id text not null references subscriptions (id),
  name text not null,
  prefix text not null,
  hash text not null unique,
  status text not null check (status in ('active', 'suspended', 'revoked')),
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);

create index keys_by_prefix on keys (prefix);
create index keys_by_subscription on keys (subscription_id, created_at, id);

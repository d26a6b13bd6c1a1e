-- What was used, and its sums by day. Times are milliseconds since 1970, money is pico-dollars.

-- One row per operation. id is the request's or the job's own, so that no replay can bill twice.
create table ledger (
  id text primary key,
  subscription_id text not null,
  key_id text not null,
  model_id text not null,
  operation text not null,
  at bigint not null,
  duration_ms bigint not null,
  streamed integer not null,
  outcome text not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  reasoning_tokens bigint not null,
  megapixels double precision not null,
  seconds double precision not null,
  cost_pico bigint not null
);

-- The sums of the ledger, kept in the transaction that inserts its rows. day is a date in UTC: 2026-11-15.
create table usage_days (
  subscription_id text not null,
  day text not null,
  model_id text not null,
  operation text not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cached_tokens bigint not null,
  reasoning_tokens bigint not null,
  megapixels double precision not null,
  seconds double precision not null,
  cost_pico bigint not null,
  primary key (subscription_id, day, model_id, operation)
);

create index usage_days_by_day on usage_days (day);

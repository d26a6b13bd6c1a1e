-- Renders that take longer than a request. Times are milliseconds since 1970, money is pico-dollars.

-- A row is a job; src/platform/jobs/states.ts has its states.
-- attempt counts the runs and never falls: with it a run proves that the job is still its own. failures counts those of
-- them that failed, or whose process died.
-- lease_owner and lease_until: while in_progress, who runs it and until when nobody else may. Without an owner it waits
-- for lease_until and is then anybody's.
-- due_at: when the sweep has to do with it: a completed job expires then, any other that has ended is deleted.
-- note and note_engine: what an engine remembers of a render, and which engine. tried: the engines that failed, as JSON.
-- request, input_keys and outputs are JSON. They come last: SQLite reads a row from its beginning as far as it is asked.
create table jobs (
  id text primary key,
  kind text not null,
  subscription_id text not null,
  key_id text not null,
  model_id text not null,
  status text not null check (status in ('pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired')),
  created_at bigint not null,
  started_at bigint,
  ended_at bigint,
  expires_at bigint,
  due_at bigint,
  attempt integer not null,
  failures integer not null,
  lease_owner text,
  lease_until bigint,
  progress integer not null,
  expected_ms bigint not null,
  billed_seconds bigint not null,
  cost_pico bigint,
  error text,
  error_code text,
  callback_url text,
  base_url text not null,
  note text,
  note_engine text,
  tried text not null,
  request text not null,
  input_keys text not null,
  outputs text not null
);

create index jobs_by_owner on jobs (subscription_id, kind, created_at, id);
-- Both queues: what waits, in its order, and what runs.
create index jobs_by_model on jobs (model_id, created_at, id) where status = 'pending';
create index jobs_by_lease on jobs (model_id, lease_until) where status = 'in_progress';
create index jobs_by_due on jobs (due_at) where due_at is not null;

-- Files to remove: written in the transaction that makes them useless, deleted when they are gone.
create table job_leftovers (
  object_key text primary key,
  remove_at bigint not null
);

create index job_leftovers_by_time on job_leftovers (remove_at);

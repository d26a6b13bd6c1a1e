-- Webhooks: the secrets that sign them, and what is sent. Times are milliseconds since 1970.

-- One row for each subscription, so that there are never more than two secrets: the current one, and for 24 hours
-- after a rotation the one before it. They are stored as they are, because a signature is made with the secret itself.
create table webhook_secrets (
  subscription_id text primary key,
  secret text not null,
  created_at bigint not null,
  previous_secret text,
  previous_expires_at bigint
);

-- id is what the receiver gets as idempotency key: <job id>-<ending>. body is the exact text of every attempt.
-- lease names the process's attempt that is under way; next_attempt_at is then when it is taken to have died.
-- ended_at is set once it was delivered or given up. Without references: a subscription or a job that is gone
-- holds up nothing here.
create table webhook_deliveries (
  id text primary key,
  subscription_id text not null,
  job_id text not null,
  type text not null,
  url text not null,
  host text not null,
  status text not null check (status in ('waiting', 'delivered', 'given_up')),
  attempts integer not null,
  created_at bigint not null,
  next_attempt_at bigint,
  lease text,
  last_status integer,
  last_error text,
  ended_at bigint,
  body text not null
);

create index webhook_deliveries_due on webhook_deliveries (next_attempt_at, host) where status = 'waiting';
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
create index webhook_deliveries_by_time on webhook_deliveries (created_at, id);
create index webhook_deliveries_by_subscription on webhook_deliveries (subscription_id, created_at, id);

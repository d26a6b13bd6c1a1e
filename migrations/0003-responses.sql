-- Answers that are kept for later turns. Times are milliseconds since 1970.

-- json is the whole object; output is what was answered and input what the turn brought, each as the text that
-- src/platform/responses/items.ts writes, and input_chars and output_chars the lengths of these, so that a chain
-- can be measured before it is read. One row and no table of items: the id of an item tells which response it
-- belongs to, and every row and index more is a tenth of what keeping a response costs. The largest come last:
-- SQLite reads a row from its beginning as far as it is asked.
-- Without references to subscriptions and to the turn before: what is gone there holds up nothing here.
create table responses (
  id text primary key,
  subscription_id text not null,
  created_at bigint not null,
  previous_id text,
  input_chars bigint not null,
  output_chars bigint not null,
  json text not null,
  output text not null,
  input text not null
);

create index responses_by_time on responses (created_at);

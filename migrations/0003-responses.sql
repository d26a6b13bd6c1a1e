-- Answers that are kept for later turns, and their items. Times are milliseconds since 1970.

-- json is the whole object. item_chars is the length of its items together, so that a chain can be measured
-- before its items are read. Without references to subscriptions and to the turn before: what is gone there
-- holds up nothing here.
create table responses (
  id text primary key,
  subscription_id text not null,
  created_at bigint not null,
  previous_id text,
  item_chars bigint not null,
  json text not null
);

create index responses_by_time on responses (created_at);

-- What a turn brought, then what was answered, by position from 0.
create table response_items (
  response_id text not null references responses (id) on delete cascade,
  position integer not null,
  is_output integer not null,
  subscription_id text not null,
  id text not null,
  json text not null,
  primary key (response_id, position)
);

create index response_items_by_id on response_items (subscription_id, id);

-- Collections, their files, and the items that files are cut into. Times are milliseconds since 1970.

-- Counts are kept with what is counted, in the transaction that changes it: a collection may have 10,000 files.
-- next_item: the number of the next item within the collection. version rises with every change of its vectors, removals
-- with every item that is deleted alone. dimensions: of its vectors, once it has one. indexed: 0 not, 1 being built, 2 yes.
create table vector_collections (
  number integer primary key autoincrement,
  id text not null unique,
  subscription_id text not null,
  model_id text not null,
  created_at bigint not null,
  last_active_at bigint not null,
  item_count bigint not null default 0,
  usage_bytes bigint not null default 0,
  files_in_progress bigint not null default 0,
  files_completed bigint not null default 0,
  files_failed bigint not null default 0,
  files_cancelled bigint not null default 0,
  next_item bigint not null default 0,
  version bigint not null default 0,
  removals bigint not null default 0,
  dimensions integer,
  indexed integer not null default 0,
  name text not null,
  description text not null,
  metadata text not null
);

create index vector_collections_by_owner on vector_collections (subscription_id, number);
create index vector_collections_at_work on vector_collections (subscription_id) where files_in_progress > 0;

-- attempt counts how often it was leased and never given back. Without a lease_owner it waits for lease_until and is
-- then anybody's, as it is when the lease of an owner is over.
-- chunks_cut and chunks_embedded: how far it has come; is_cut: it was read to its end. key_id: whose key pays.
-- Without references: what is gone elsewhere holds up nothing here, and what it leaves is swept up (vector_purges).
create table vector_files (
  number integer primary key autoincrement,
  id text not null unique,
  collection_no bigint not null,
  subscription_id text not null,
  status text not null check (status in ('in_progress', 'completed', 'failed', 'cancelled')),
  created_at bigint not null,
  bytes bigint not null,
  usage_bytes bigint not null default 0,
  item_count bigint not null default 0,
  attempt integer not null default 0,
  lease_owner text,
  lease_until bigint not null,
  chunks_cut bigint not null default 0,
  is_cut integer not null default 0,
  chunks_embedded bigint not null default 0,
  key_id text not null,
  object_key text not null,
  error_code text,
  error_message text,
  filename text not null,
  attributes text not null
);

create index vector_files_by_collection on vector_files (collection_no, number);
create index vector_files_by_status on vector_files (collection_no, status, number);
create index vector_files_by_lease on vector_files (subscription_id, lease_until, number) where status = 'in_progress';

-- number is the collection's number times 2^27 and the item's own: the items of a collection are a range of numbers, in
-- this table and in those that are searched. An item without a vector (is_ready = 0) is a chunk that waits for it.
create table vector_items (
  number integer primary key,
  id text not null unique,
  file_no bigint not null,
  position bigint not null,
  is_ready integer not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  description text not null,
  text text not null
);

create unique index vector_items_by_file on vector_items (file_no, position);
create index vector_items_waiting on vector_items (file_no, position) where is_ready = 0;

-- Apart from the items, so that a search reads vectors and nothing else: little-endian float32, of length 1. version is
-- the collection's when it was written.
create table vector_embeddings (
  number integer primary key,
  file_no bigint not null,
  version bigint not null,
  embedding blob not null
);

create index vector_embeddings_by_file on vector_embeddings (file_no, number);

-- What is to be swept up: a collection, a file of one, or an upload that no file has become.
create table vector_purges (
  number integer primary key autoincrement,
  collection_no bigint,
  file_no bigint,
  object_key text,
  due_at bigint not null
);

create index vector_purges_by_time on vector_purges (due_at);
create index vector_purges_by_object on vector_purges (object_key);

-- The words of items, by their numbers. The texts themselves stand in vector_items.
create virtual table vector_words using fts5 (
  description, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

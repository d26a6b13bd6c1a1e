-- Secrets of the gateway itself, made by the process that needs one first and shared by all. value is base64.

create table secrets (
  name text primary key,
  value text not null,
  created_at bigint not null
);

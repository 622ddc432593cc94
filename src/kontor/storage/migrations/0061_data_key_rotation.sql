-- Data keys of users are replaced (ADR 0082). The key before opens what is not sealed anew yet. Without a time, the key
-- is as old as its user.

alter table users add column data_key_at timestamptz;
alter table users add column previous_data_key bytea;
create index users_with_previous_key on users (id) where previous_data_key is not null;

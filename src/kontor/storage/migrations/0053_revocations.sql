-- The bank is still to be told of an ended permission while `is_bank_told` is null. What that takes was sealed with the access, and
-- is deleted with the answer. `told_at` is the last attempt.
alter table permissions add column credentials bytea;
alter table permissions add column memory bytea;
alter table permissions add column lease_key bytea;
alter table permissions add column told_at timestamptz;
create index permissions_untold on permissions (ended_at) where ended_at is not null and is_bank_told is null;

create or replace view all_permissions as
    select user_id, id, access_id, usable_until, ended_at, is_bank_told, told_at from permissions;

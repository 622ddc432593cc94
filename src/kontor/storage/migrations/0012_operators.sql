-- Who operates this Kontor, which workers live, and the indexes that answer an operator's questions without reading
-- whole tables. The tables they belong to are large and in use:
-- no transaction

create table if not exists operators (
    id uuid primary key,
    name text not null unique,
    token_hash bytea not null unique,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);

-- A worker says every few seconds that it lives. Its row goes when it ends in order; that of a dead one stays a while.
create table if not exists workers (
    id uuid primary key,
    host text not null,
    pid integer not null,
    version text not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);

create index concurrently if not exists users_by_tenant on users (tenant_id, id);
create index concurrently if not exists accesses_paused on accesses (refresh_pause, user_id, id)
    where refresh_pause is not null;
create index concurrently if not exists accesses_incomplete on accesses (status) where status <> 'COMPLETE';

-- How an access's fetches ended, newest last; also what is to go when an access goes.
create index concurrently if not exists fetches_by_access on fetches (user_id, access_id, finished_at);
create index concurrently if not exists fetches_failed on fetches (finished_at)
    where state in ('FAILED', 'INTERRUPTED');
-- Counts outcomes without their rows, and takes the place of the index on the time alone.
create index concurrently if not exists fetches_ended on fetches (finished_at, state) where finished_at is not null;
drop index concurrently if exists fetches_finished;

-- As the one before it, and with what is counted.
create index concurrently if not exists provider_outcomes_counted on provider_outcomes (provider_id, at desc)
    include (is_success, seconds);
drop index concurrently if exists provider_outcomes_recent;

create index concurrently if not exists webhook_deliveries_discarded on webhook_deliveries (finished_at)
    where state = 'DISCARDED';

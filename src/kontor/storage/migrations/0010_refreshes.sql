-- Background refresh. An access has four slots a day; `next_refresh_at` is when somebody looks at it next, and null while
-- it is not refreshed (`refresh_pause` says why). A slot is one row of `fetches`, whatever becomes of it.

alter table accesses add column next_refresh_at timestamptz;
alter table accesses add column refresh_pause text check (refresh_pause in ('SCA', 'CREDENTIALS'));
alter table accesses add column scheduled_since timestamptz;
-- The end of the consent about whose end the tenant was told already.
alter table accesses add column consent_warned_for date;
create index accesses_due on accesses (next_refresh_at) where next_refresh_at is not null;
create index accesses_by_lease on accesses (lease_key) where lease_key is not null;
create index accesses_by_consent on accesses (consent_until)
    where consent_until is not null and consent_warned_for is distinct from consent_until;
-- Those that should be refreshed and have no time yet, such as all that were added before: a worker gives them one.
create index accesses_unscheduled on accesses (user_id, id)
    where next_refresh_at is null and refresh_pause is null and is_synced and credentials is not null;
update accesses set refresh_pause = case
        when messages @> '[{"kind": "SCA_NEEDED"}]' then 'SCA'
        else 'CREDENTIALS' end
    where messages @> '[{"kind": "SCA_NEEDED"}]' or messages @> '[{"kind": "WRONG_CREDENTIALS"}]'
        or messages @> '[{"kind": "LOCKED"}]' or messages @> '[{"kind": "INCOMPLETE_CREDENTIALS"}]';

alter table fetches drop constraint fetches_state_check;
alter table fetches add constraint fetches_state_check
    check (state in ('QUEUED', 'RUNNING', 'WAITING', 'DONE', 'FAILED', 'INTERRUPTED', 'SKIPPED')) not valid;
alter table fetches validate constraint fetches_state_check;
alter table fetches add column slot_at timestamptz;
create unique index fetches_one_per_slot on fetches (user_id, access_id, slot_at) where slot_at is not null;

-- Calls of a bank without the customer: written down before they are made, so that those of a dead worker count too.
create table unattended_calls (
    user_id uuid not null,
    access_id text not null,
    called_at timestamptz not null,
    fetch_id uuid not null,
    primary key (user_id, access_id, called_at, fetch_id),
    foreign key (user_id, access_id) references accesses on delete cascade
);
create index unattended_calls_by_age on unattended_calls (called_at);

-- Providers that failed several times in a row: one call at `next_try_at` finds out whether they are back.
create table provider_outages (
    provider_id uuid primary key,
    failures integer not null,
    down_since timestamptz,
    next_try_at timestamptz not null
);

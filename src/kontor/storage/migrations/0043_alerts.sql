-- What users are told of their own accord (ADR 0064).

-- `object_id` is that of an access, a product, a transaction (`product/transaction`), a contract or a budget. `cause` tells
-- why: the same is told once. `status` is what the user has set. `ended_at` is when the cause was gone; until then the row
-- stays, unseen after 90 days, so that what the user has dealt with does not come back.
create table alerts (
    user_id uuid not null,
    id uuid not null,
    kind text not null check (kind in ('CONSENT_ENDS', 'BANK_NEEDS_USER', 'PRICE_RISE', 'UNUSUAL_DEBIT', 'BUDGET_EXCEEDED',
        'BALANCE_LOW', 'BALANCE_MISMATCH', 'CONTRACT_NOTICE', 'PARTS_REMOVED')),
    object_kind text not null check (object_kind in ('ACCESS', 'PRODUCT', 'TRANSACTION', 'CONTRACT', 'BUDGET')),
    object_id text not null,
    access_id text,
    cause text not null,
    status text not null default 'NEW' check (status in ('NEW', 'READ', 'DONE')),
    amount numeric(20, 2),
    currency text not null,
    name text,
    day date,
    amount_before numeric(20, 2),
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (user_id, id)
);
create unique index alerts_by_cause on alerts (user_id, kind, object_id, cause);
create unique index alerts_open on alerts (user_id, kind, object_id) where status <> 'DONE' and ended_at is null;
create index alerts_by_age on alerts (created_at) where ended_at is not null or kind = 'PARTS_REMOVED';
select distribute_by_user('alerts');
alter table alerts add foreign key (user_id) references data_versions on delete cascade;

-- Users who have asked for alerts, and when theirs are looked for next. A worker that looks moves the time first: if it
-- dies, another one looks then. `data_version` and `checked_on` are what the last look has seen.
create table alert_states (
    user_id uuid primary key references users on delete cascade,
    due_at timestamptz not null,
    data_version bigint,
    checked_on date
);
create index alert_states_due on alert_states (due_at);

create view all_alert_states as select user_id, due_at from alert_states;

create function all_old_alerts(before timestamptz) returns table (user_id uuid)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
    return query select a.user_id from alerts a
        where (a.ended_at is not null or a.kind = 'PARTS_REMOVED') and a.created_at < before
        order by a.created_at limit 1;
end
$$;

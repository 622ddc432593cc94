-- What a tenant knows of merchants that the tagger does not know: one category each, nothing else (ADR 0081).

-- `merchant` are words of the merchant's name as the tagger reads it, without numbers; names that may be those of persons
-- are not stored. `state`: OPEN, the operator's model is to be asked; SUGGESTED, it has named a category; UNANSWERED, it has
-- not; APPROVED and REJECTED by the tenant. `due_at` is when an open one is asked (again). `is_new`: a suggestion for which
-- transactions have not been tagged anew yet.
create table tenant_merchants (
    tenant_id uuid not null references tenants on delete cascade,
    id uuid not null,
    merchant text not null,
    state text not null default 'OPEN' check (state in ('OPEN', 'SUGGESTED', 'UNANSWERED', 'APPROVED', 'REJECTED')),
    category text,
    model text,
    attempts integer not null default 0,
    due_at timestamptz not null default now(),
    is_new boolean not null default true,
    created_at timestamptz not null default clock_timestamp(),
    answered_at timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, merchant),
    check ((state in ('SUGGESTED', 'APPROVED')) <= (category is not null))
);
create index tenant_merchants_due on tenant_merchants (tenant_id, due_at) where state = 'OPEN';
create index tenant_merchants_new on tenant_merchants (tenant_id) where state = 'SUGGESTED' and is_new;

-- Requests to the model on a day of UTC, of which there is a limit.
create table model_days (
    tenant_id uuid not null references tenants on delete cascade,
    day date not null,
    requests integer not null,
    primary key (tenant_id, day)
);

alter table tenants add column asks_model boolean not null default false;

-- When background work has last looked for merchants that nobody knows, and the user's data version then.
alter table users add column merchants_checked_at timestamptz;
alter table users add column merchants_version bigint not null default 0;

-- What customers allow for each access (Berechtigungen): for what, since when, until when, and used by whom. The row outlives its
-- access by two years. `products_erased` and the other counts are those of the end. Without `channel` the catalogue tells it.
create table permissions (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    access_id text not null,
    provider_id uuid not null,
    channel text check (channel in ('FINTS', 'XS2A', 'AGGREGATOR', 'FILES', 'DEMO')),
    purpose text,
    usable_until date,
    product_ids uuid[] not null default '{}',
    callers text[] not null default '{}',
    began_at timestamptz not null,
    used_at timestamptz,
    ended_at timestamptz,
    ended_as text check (ended_as in ('EXPIRED', 'WITHDRAWN')),
    is_bank_told boolean,
    products_erased integer,
    transactions_erased integer,
    credentials_erased integer,
    primary key (user_id, id),
    check ((ended_at is null) = (ended_as is null))
);
create unique index permissions_open on permissions (user_id, access_id) where ended_at is null;
create index permissions_by_end on permissions (ended_at) where ended_at is not null;
create index permissions_to_end on permissions (usable_until) where ended_at is null and usable_until is not null;

-- For background work: whose permission is over, and which is to be forgotten.
create view all_permissions as select user_id, id, access_id, usable_until, ended_at from permissions;

-- What a tenant has said when it sent the customer to the web form.
alter table redirect_sessions add column purpose text;
alter table redirect_sessions add column usable_until date;

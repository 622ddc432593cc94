-- Webhooks: where a tenant wants to be told, and every notification with its serial.

-- `last_serial` is raised in the transaction of the fact: a rollback takes it back, so that there is never a gap.
-- `secrets` is sealed with the tenant's wrapping key, and null once the master key was lost. The secret before the
-- present one signs too until `previous_until`. `is_gone`: the receiver answered 410.
create table webhooks (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    url text not null,
    events text[] not null,
    description text,
    is_active boolean not null default true,
    is_gone boolean not null default false,
    last_serial bigint not null default 0,
    wrapping_key_id uuid references tenant_keys,
    secrets bytea,
    previous_until timestamptz,
    created_at timestamptz not null default now(),
    check ((wrapping_key_id is null) = (secrets is null)),
    check (secrets is not null or not is_active)
);
create index webhooks_by_tenant on webhooks (tenant_id);

-- One row per webhook and event. It says whom the event is about, by reference only; when the user is erased, nothing of
-- that is left (`user_id`, `access_id`, `products`, `payment_id` are emptied) while the serial stays.
-- `attempts` counts all calls, `tries` those since the event or its last replay, which began at `begun_at`.
create table webhook_deliveries (
    webhook_id uuid not null references webhooks on delete cascade,
    serial bigint not null,
    id uuid not null unique,
    type text not null,
    user_id uuid references users on delete set null,
    access_id text,
    products jsonb not null default '[]',
    payment_id uuid,
    payment_kind text,
    created_at timestamptz not null default now(),
    state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'DISCARDED')),
    attempts integer not null default 0,
    tries integer not null default 0,
    begun_at timestamptz,
    attempted_at timestamptz,
    next_attempt_at timestamptz default now(),
    claim uuid,
    claimed_until timestamptz,
    status integer,
    failure text,
    finished_at timestamptz,
    primary key (webhook_id, serial),
    check ((state = 'PENDING') = (next_attempt_at is not null))
);
create index webhook_deliveries_open on webhook_deliveries (next_attempt_at) where state = 'PENDING';
create index webhook_deliveries_claimed on webhook_deliveries (webhook_id) where claimed_until is not null;
create index webhook_deliveries_by_user on webhook_deliveries (user_id) where user_id is not null;
create index webhook_deliveries_discarded on webhook_deliveries (finished_at) where state = 'DISCARDED';
create index webhook_deliveries_by_age on webhook_deliveries (created_at);

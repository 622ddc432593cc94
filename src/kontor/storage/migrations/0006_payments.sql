-- Payments: what was ordered, how far each came, and what the user decided about its payees.

-- No reference to users or accesses: records of payments outlive both, for as long as the tenant's retention says.
-- `given` are the orders as the caller wrote them, `orders` as the bank gets them. `dialogue` is where the dialogue with
-- the user stands; `sealed` its secret part, `credentials` those of a payment without a stored access. While a process
-- is at the bank with it, `fence` is that of its lease: whoever comes with another one may not write.
create table payments (
    user_id uuid not null,
    id uuid not null,
    tenant_id uuid not null references tenants on delete cascade,
    pseudonym uuid not null,
    kind text not null check (kind in ('SINGLE', 'BULK', 'LEGACY')),
    state text not null
        check (state in ('DRAFT', 'OPEN', 'SENDING', 'UNKNOWN', 'EXECUTED', 'ACCEPTED', 'FAILED')),
    failure text,
    detail text,
    provider_id uuid,
    access_id text,
    product_id uuid,
    product_key text,
    product text,
    orders jsonb not null,
    given jsonb not null,
    is_instant boolean not null,
    execution_date date,
    prefers_rejection boolean not null default false,
    asks_settings boolean not null default false,
    is_payee_accepted boolean not null default false,
    is_editable boolean not null default false,
    is_auto_confirmed boolean not null default false,
    customer_ip text,
    callback_url text,
    dialogue jsonb not null,
    sealed bytea,
    credentials bytea,
    lease_key bytea,
    fence bigint,
    idempotency_key text,
    request_digest bytea not null,
    lookups integer not null default 0,
    next_lookup_at timestamptz,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    sent_at timestamptz,
    expires_at timestamptz not null,
    primary key (user_id, id),
    unique (user_id, idempotency_key),
    check ((state = 'FAILED') = (failure is not null)),
    check (state = 'DRAFT' or (provider_id is not null and product_key is not null and lease_key is not null)
        or state = 'FAILED')
);
create index payments_newest on payments (user_id, created_at desc);
create index payments_open on payments (expires_at) where state in ('DRAFT', 'OPEN', 'SENDING');
create index payments_to_look_up on payments (next_lookup_at) where next_lookup_at is not null;
create index payments_by_age on payments (created_at);

-- One row per order that was given lately: an equal one within a minute finds it.
create table payment_fingerprints (
    user_id uuid not null references users on delete cascade,
    fingerprint bytea not null,
    payment_id uuid not null,
    given_at timestamptz not null default now(),
    primary key (user_id, fingerprint)
);
create index payment_fingerprints_by_age on payment_fingerprints (given_at);

-- Verifications of payees: good once, for one payment to the very same payees.
create table payee_verifications (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    payment_id uuid not null,
    payees jsonb not null,
    results jsonb not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (user_id, id)
);
create index payee_verifications_by_expiry on payee_verifications (expires_at);

-- The web form of a payment: did the tenant choose the account, and when was the bank asked about the payee?
alter table redirect_sessions add column payment_id uuid;
alter table redirect_sessions add column is_source_fixed boolean not null default false;
alter table redirect_sessions add column checking_at timestamptz;
alter table redirect_sessions add column is_payee_matched boolean not null default false;

-- How long records of payments are kept, also of users who were erased.
alter table tenants add column payment_retention_days integer not null default 3650
    check (payment_retention_days >= 0);

-- Accesses, products, transactions and positions of customers; fetches; leases on sets of credentials.
-- Every row of customer data carries the user's id, first in its key: tables can be partitioned by it.

create table accesses (
    user_id uuid not null references users on delete cascade,
    id text not null,
    provider_id uuid not null,
    status text not null default 'STARTED' check (status in ('STARTED', 'HEADERS', 'COMPLETE')),
    is_synced boolean not null,
    selected_products uuid[],
    credentials bytea,
    credentials_digest bytea,
    lease_key bytea,
    memory bytea,
    methods jsonb not null default '[]',
    media jsonb not null default '[]',
    active_method jsonb,
    messages jsonb not null default '[]',
    issues jsonb not null default '[]',
    issues_at timestamptz,
    consent_until date,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    expires_at timestamptz,
    primary key (user_id, id)
);
create index accesses_by_expiry on accesses (expires_at) where expires_at is not null;

create table products (
    user_id uuid not null,
    id uuid not null,
    access_id text not null,
    bank_key text not null,
    ordinal integer not null,
    status text not null default 'HEADERS' check (status in ('HEADERS', 'COMPLETE')),
    category text not null,
    name text not null,
    holder text not null,
    currency text,
    account_number text,
    iban text,
    bic text,
    bank_code text,
    institution text,
    balance numeric(20, 2),
    balance_at timestamptz,
    balance_source text,
    balances jsonb not null default '[]',
    overdraft_limit numeric(20, 2),
    credit_limit numeric(20, 2),
    credit_drawn numeric(20, 2),
    home_savings jsonb,
    can_transfer boolean not null default false,
    can_bulk_transfer boolean not null default false,
    updated_at timestamptz not null default now(),
    primary key (user_id, id),
    unique (user_id, access_id, bank_key),
    foreign key (user_id, access_id) references accesses on delete cascade
);

-- (booked_on, ordinal) is the order of a product's transactions; ordinal grows with every new row.
create table transactions (
    user_id uuid not null,
    product_id uuid not null,
    id uuid not null,
    booked_on date not null,
    ordinal bigint not null,
    amount numeric(20, 2) not null,
    currency text not null,
    booked_at timestamptz,
    value_at timestamptz,
    purpose text,
    booking_text text,
    gv_code text,
    prima_nota text,
    counterparty_name text,
    counterparty_iban text,
    counterparty_bic text,
    ultimate_counterparty text,
    bank_id text,
    is_pending boolean not null default false,
    batch_id text,
    primary key (user_id, product_id, id),
    foreign key (user_id, product_id) references products on delete cascade
);
create index transactions_newest on transactions (user_id, product_id, booked_on desc, ordinal desc);

create table positions (
    user_id uuid not null,
    product_id uuid not null,
    ordinal integer not null,
    name text not null,
    quantity numeric,
    unit text,
    isin text,
    wkn text,
    price numeric,
    price_at timestamptz,
    currency text,
    exchange_rate numeric,
    exchange text,
    total_value numeric(20, 2),
    primary key (user_id, product_id, ordinal),
    foreign key (user_id, product_id) references products on delete cascade
);

-- Batches of pushed transactions that are stored: the same batch adds nothing twice.
create table push_batches (
    user_id uuid not null,
    product_id uuid not null,
    batch_id text not null,
    pushed_at timestamptz not null default now(),
    primary key (user_id, product_id, batch_id),
    foreign key (user_id, product_id) references products on delete cascade
);

-- A fetch is asked for (QUEUED), taken by one worker (RUNNING) and ends once. An access has at most one that is open.
create table fetches (
    id uuid primary key,
    user_id uuid not null,
    access_id text not null,
    state text not null default 'QUEUED'
        check (state in ('QUEUED', 'RUNNING', 'WAITING', 'DONE', 'FAILED', 'INTERRUPTED')),
    is_attended boolean not null,
    all_history boolean not null default true,
    attempts integer not null default 0,
    lease_key bytea,
    fence bigint,
    failure text,
    requested_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    correlation_id text not null,
    foreign key (user_id, access_id) references accesses on delete cascade
);
create unique index fetches_one_open on fetches (user_id, access_id) where state in ('QUEUED', 'RUNNING');
create index fetches_open on fetches (requested_at) where state in ('QUEUED', 'RUNNING');
create index fetches_finished on fetches (finished_at) where finished_at is not null;

-- Who may talk to a bank with one set of credentials. The fence grows with every holder: a late one cannot write.
create sequence lease_fences;
create table credential_leases (
    key bytea primary key,
    holder uuid not null,
    fence bigint not null,
    until timestamptz not null
);

-- How fetches at a provider went, for its statistics.
create table provider_outcomes (
    provider_id uuid not null,
    at timestamptz not null default now(),
    is_success boolean not null,
    seconds double precision not null
);
create index provider_outcomes_recent on provider_outcomes (provider_id, at desc);

-- What the demo bank itself remembers: wrong PINs in a row.
create table demo_bank_logins (
    login text primary key,
    wrong_pins integer not null default 0
);

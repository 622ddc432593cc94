-- Dialogues of strong customer authentication, redirect sessions, and how tenants look in the web form.

-- One row per consent. `sealed` holds the connector's state and the challenge; nobody reads it without the user's key.
create table dialogues (
    id uuid primary key,
    user_id uuid not null,
    access_id text not null,
    state text not null,
    wrong_tans integer not null default 0,
    is_last_tan_wrong boolean not null default false,
    is_renewal boolean not null,
    asks_settings boolean not null,
    history text not null,
    customer_ip text,
    callback_url text,
    methods jsonb not null default '[]',
    media jsonb not null default '[]',
    chosen_method jsonb,
    chosen_medium text,
    sealed bytea,
    redirect_url text,
    lease_key bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    foreign key (user_id, access_id) references accesses on delete cascade
);
create index dialogues_by_access on dialogues (user_id, access_id);
create index dialogues_by_expiry on dialogues (expires_at);

alter table accesses add column active_medium text;
-- The state from which a worker carries on a fetch that began in a dialogue with the user.
alter table fetches add column resume_state bytea;

-- The handle in the URL is exchanged at first opening for a cookie; both are stored as hashes only.
create table redirect_sessions (
    id uuid primary key,
    handle_hash bytea not null unique,
    cookie_hash bytea unique,
    tenant_id uuid not null references tenants on delete cascade,
    user_id uuid not null references users on delete cascade,
    use_case text not null check (use_case in ('CREATE_ACCOUNT', 'AUTHENTICATE_ACCOUNT', 'INITIATE_PAYMENT')),
    access_id text not null,
    callback_url text,
    appended_callback_url text,
    customer_ip text,
    step text not null,
    provider_id uuid,
    dialogue_id uuid,
    wrong_logins integer not null default 0,
    notice text,
    is_framed boolean not null default false,
    outcome text,
    created_at timestamptz not null default now(),
    used_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index redirect_sessions_by_user on redirect_sessions (user_id);
create index redirect_sessions_by_expiry on redirect_sessions (expires_at);

create table legal_acceptances (
    user_id uuid not null references users on delete cascade,
    version text not null,
    accepted_at timestamptz not null default now(),
    primary key (user_id, version)
);

-- White label: how the web form looks for a tenant, and which pages may embed it.
alter table tenants add column display_name text;
alter table tenants add column logo bytea;
alter table tenants add column colours jsonb not null default '{}';
alter table tenants add column legal_text text;
alter table tenants add column legal_version text;
alter table tenants add column frame_origins text[] not null default '{}';

-- What the demo bank remembers of customers it has on its own page.
create table demo_bank_pages (
    id uuid primary key,
    return_url text not null,
    is_confirmed boolean,
    created_at timestamptz not null default now()
);

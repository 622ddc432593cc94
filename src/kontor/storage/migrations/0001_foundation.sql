-- Tenants, clients, roles, users, tokens, keys, login throttling and the audit trail.

create table tenants (
    id uuid primary key,
    name text not null unique,
    description text,
    is_regulated boolean not null,
    allowed_scopes text[] not null,
    callback_bases text[] not null default '{}',
    is_any_callback_allowed boolean not null default false,
    min_password_length integer not null default 1 check (min_password_length between 1 and 1024),
    created_at timestamptz not null default now()
);

-- wrapping: the AES key that wraps the data keys of the tenant's users.
-- transport: the RSA key under which callers encrypt credentials; its certificate is public.
create table tenant_keys (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    kind text not null check (kind in ('wrapping', 'transport')),
    sealed bytea not null,
    certificate text,
    created_at timestamptz not null default now(),
    check ((kind = 'transport') = (certificate is not null))
);
create index tenant_keys_newest on tenant_keys (tenant_id, kind, created_at desc);

create table clients (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    name text not null,
    kind text not null check (kind in ('admin', 'user')),
    description text,
    secret_hash bytea not null,
    granted_scopes text[] not null,
    grants text[] not null,
    created_at timestamptz not null default now(),
    unique (tenant_id, name)
);

create table roles (
    id uuid primary key,
    client_id uuid not null references clients on delete cascade,
    name text not null,
    description text,
    is_default boolean not null,
    granted_scopes text[] not null,
    unique (client_id, name)
);

-- pseudonym stands for the user in the audit trail; with this row gone nobody can tell whom it meant.
create table users (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    username text not null,
    password_hash text not null,
    first_name text,
    last_name text,
    is_active boolean not null default true,
    pseudonym uuid not null unique,
    data_key bytea not null,
    wrapping_key_id uuid not null references tenant_keys,
    created_at timestamptz not null default now(),
    unique (tenant_id, username)
);

create table role_users (
    role_id uuid not null references roles on delete cascade,
    user_id uuid not null references users on delete cascade,
    primary key (role_id, user_id)
);
create index role_users_by_user on role_users (user_id);

create table access_tokens (
    hash bytea primary key,
    tenant_id uuid not null references tenants on delete cascade,
    client_id uuid not null references clients on delete cascade,
    user_id uuid references users on delete cascade,
    scopes text[] not null,
    issued_at timestamptz not null,
    expires_at timestamptz not null
);
create index access_tokens_by_user on access_tokens (user_id) where user_id is not null;
create index access_tokens_by_expiry on access_tokens (expires_at);

create table api_keys (
    id uuid primary key,
    hash bytea not null unique,
    client_id uuid not null references clients on delete cascade,
    user_id uuid not null references users on delete cascade,
    description text,
    created_at timestamptz not null default now()
);

-- One row per name and address that failed lately; the name is hashed, so that no list of guesses is kept.
create table login_failures (
    key bytea primary key,
    failures integer not null,
    blocked_until timestamptz not null,
    last_at timestamptz not null
);

create table audit_heads (
    chain uuid primary key,
    serial bigint not null,
    hash bytea not null
);

create table audit_entries (
    chain uuid not null,
    serial bigint not null,
    at timestamptz not null,
    actor text not null,
    action text not null,
    object text not null,
    result text not null,
    correlation_id text not null,
    hash bytea not null,
    primary key (chain, serial)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the audit trail is append-only';
end $$;

create trigger audit_entries_append_only before update or delete on audit_entries
    for each row execute function refuse_change();
create trigger audit_entries_never_truncated before truncate on audit_entries
    for each statement execute function refuse_change();

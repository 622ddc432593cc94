-- Assistants: public clients with exact redirect addresses, and what users have granted them (ADR 0076).

alter table clients add column redirect_addresses text[] not null default '{}';

-- A grant begins with an authorization code, which is used once, and lasts as long as its refresh tokens.
create table assistant_grants (
    id uuid primary key,
    tenant_id uuid not null references tenants on delete cascade,
    client_id uuid not null references clients on delete cascade,
    user_id uuid not null references users on delete cascade,
    scopes text[] not null,
    code_hash bytea not null unique,
    redirect_address text not null,
    challenge text not null,
    code_expires_at timestamptz not null,
    code_used_at timestamptz,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
);
create index assistant_grants_by_user on assistant_grants (user_id);
create index assistant_grants_by_client on assistant_grants (client_id);
create index assistant_grants_by_expiry on assistant_grants (expires_at);

-- A used one stays until it expires: who sends it again has stolen it, or was robbed. `access_hash` is of the access
-- token that was issued with it.
create table refresh_tokens (
    hash bytea primary key,
    grant_id uuid not null references assistant_grants on delete cascade,
    access_hash bytea not null,
    issued_at timestamptz not null,
    used_at timestamptz
);
create index refresh_tokens_by_grant on refresh_tokens (grant_id);

-- What customers allow advisers of their tenant to read (Freigaben). `adviser_id` null: every adviser of the tenant.
-- A withdrawn one stays, so that the customer can see who has read by it.
create table disclosures (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    tenant_id uuid not null references tenants on delete cascade,
    scopes text[] not null check (cardinality(scopes) > 0),
    valid_until date not null,
    adviser_id uuid,
    shown_text text not null,
    created_at timestamptz not null default now(),
    withdrawn_at timestamptz,
    primary key (user_id, id)
);
create index disclosures_by_tenant on disclosures (tenant_id, user_id, id) where withdrawn_at is null;

-- For advisers, who are other users than the row's.
create view all_disclosures as
    select user_id, id, tenant_id, scopes, valid_until, adviser_id, withdrawn_at from disclosures;

-- Credit files: signed and never changed (ADR 0080). `disclosure_id` null: for the customer alone. `consent` is the text
-- that the customer agreed to.
create table credit_files (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    tenant_id uuid not null references tenants on delete cascade,
    version integer not null check (version > 0),
    predecessor_id uuid,
    purpose text not null,
    disclosure_id uuid,
    consent text,
    created_at timestamptz not null,
    document text not null,
    signature text not null,
    primary key (user_id, id)
);
create index credit_files_by_age on credit_files (created_at);

create function refuse_change_of_credit_file() returns trigger language plpgsql as $$
begin
    raise exception 'credit files are not changed; a review makes a new version';
end $$;
create trigger credit_files_are_not_changed before update on credit_files
    for each row execute function refuse_change_of_credit_file();

-- Public halves of keys that documents were ever signed with.
create table signing_keys (
    public_key bytea primary key,
    created_at timestamptz not null default now()
);

-- What transactions mean, what users said about it, and how fresh what was concluded from them is.

-- One row per tagged transaction. A category comes from the tagger, from a user's rule, or from the user.
create table transaction_tags (
    user_id uuid not null,
    product_id uuid not null,
    transaction_id uuid not null,
    category text not null,
    insurance_type text not null,
    partner text not null,
    freelancer_category text not null,
    category_confidence real not null,
    insurance_confidence real not null,
    partner_confidence real not null,
    freelancer_confidence real not null,
    source text not null default 'TAGGER' check (source in ('TAGGER', 'RULE', 'USER')),
    tagger_version text not null,
    primary key (user_id, product_id, transaction_id),
    foreign key (user_id, product_id, transaction_id) references transactions on delete cascade
);

-- Whose transactions are tagged, by which version, knowing which accounts as the user's own. `is_stale`: accounts are
-- gone since, and the transfers to them are read anew when somebody asks.
create table tagging_states (
    user_id uuid primary key references users on delete cascade,
    tagger_version text not null,
    own_ibans text[] not null default '{}',
    own_holders text[] not null default '{}',
    is_stale boolean not null default false
);
create index tagging_states_by_version on tagging_states (tagger_version);

-- A user's wish for what a counterparty's transactions are. Name and IBAN are kept as they are compared.
create table tagging_rules (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    category text not null,
    counterparty_iban text not null default '',
    counterparty_name text not null default '',
    iban_key text not null,
    name_key text not null,
    created_at timestamptz not null default now(),
    primary key (user_id, id),
    unique (user_id, iban_key, name_key)
);

-- A number that grows with every change of what analyses read, so that their results can be kept.
create table data_versions (
    user_id uuid primary key references users on delete cascade,
    version bigint not null default 1
);

-- A user who is being erased needs no number any more.
create function raise_data_version() returns trigger language plpgsql as $$
begin
    insert into data_versions as kept (user_id)
        select distinct changed.user_id from changed join users on users.id = changed.user_id
        order by changed.user_id
        on conflict (user_id) do update set version = kept.version + 1;
    return null;
end
$$;

create trigger transactions_inserted after insert on transactions
    referencing new table as changed for each statement execute function raise_data_version();
create trigger transactions_updated after update on transactions
    referencing new table as changed for each statement execute function raise_data_version();
create trigger transactions_deleted after delete on transactions
    referencing old table as changed for each statement execute function raise_data_version();
create trigger tags_inserted after insert on transaction_tags
    referencing new table as changed for each statement execute function raise_data_version();
create trigger tags_updated after update on transaction_tags
    referencing new table as changed for each statement execute function raise_data_version();
create trigger products_inserted after insert on products
    referencing new table as changed for each statement execute function raise_data_version();
create trigger products_updated after update on products
    referencing new table as changed for each statement execute function raise_data_version();
create trigger products_deleted after delete on products
    referencing old table as changed for each statement execute function raise_data_version();

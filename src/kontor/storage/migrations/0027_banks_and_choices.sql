-- What dialogues have shown of a provider, by the channel over which it was called.
create table provider_findings (
    provider_id uuid not null,
    way text not null,
    offered text[],                         -- what the bank's own parameters say; null: it has told none
    categories text[] not null default '{}', -- of products that were found there, of any customer
    updated_at timestamptz not null default now(),
    primary key (provider_id, way)
);

-- All products that the bank has named for an access, selected or not; null: not known.
alter table accesses add column known_products uuid[];

-- How far back every fetch of an access goes: the last maxTransactions of a consent.
alter table accesses add column history text not null default 'ALL'
    check (history in ('ALL', 'RECENT', 'PAYMENT_ACCOUNTS'));

-- What the tenant has asked for in the call that began a session of the web form; null: nothing.
alter table redirect_sessions
    add column asks_settings boolean not null default false,
    add column history text check (history in ('ALL', 'RECENT', 'PAYMENT_ACCOUNTS')),
    add column selected_products uuid[],
    add column language text;

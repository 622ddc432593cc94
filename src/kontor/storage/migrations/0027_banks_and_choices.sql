-- What dialogues have shown of a provider, by the channel over which it was called.
create table provider_findings (
    provider_id uuid not null,
    way text not null,
    offered text[],                         -- what the bank's own parameters say; null: it has told none
    categories text[] not null default '{}', -- of products that were found there, of any customer
    updated_at timestamptz not null default now(),
    primary key (provider_id, way)
);

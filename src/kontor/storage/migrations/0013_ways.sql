-- Several ways to one bank: how each has been doing lately. Rows are written for such banks only.
create table way_outcomes (
    provider_id uuid not null,
    way text not null,
    at timestamptz not null default now(),
    is_success boolean not null
);
create index way_outcomes_recent on way_outcomes (provider_id, way, at desc);
create index way_outcomes_by_age on way_outcomes (at);

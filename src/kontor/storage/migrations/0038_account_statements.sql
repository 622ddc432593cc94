-- Account statements as banks issue them. They are fetched for accesses whose user wants them.

alter table accesses add column wants_statements boolean not null default false;

-- `content` is the file, sealed with the user's key; null while the bank has only named the statement, or where the file
-- is too large. `digest` is a keyed hash of the file.
create table account_statements (
    user_id uuid not null,
    tenant_id uuid not null,
    product_id uuid not null,
    id uuid not null,
    number integer,
    year integer,
    format text check (format in ('PDF', 'MT940', 'CAMT', 'ISO_8583', 'OTHER')),
    starts_on date,
    ends_on date,
    created_on date,
    size integer,
    state text not null check (state in ('STORED', 'LISTED', 'TOO_LARGE')),
    digest bytea,
    content bytea,
    fetched_at timestamptz not null default now(),
    primary key (user_id, id),
    foreign key (user_id, product_id) references products on delete cascade
);
alter table account_statements alter column content set storage external;
create unique index account_statements_by_number on account_statements (user_id, product_id, coalesce(year, 0), number);
create unique index account_statements_by_digest on account_statements (user_id, product_id, digest)
    where number is null;

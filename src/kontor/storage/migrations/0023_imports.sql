-- CSV forms that users describe themselves, and what came of files that were imported over the API.

-- The first of `columns` fills the first of `fields`, and so on: their order is that in which texts are joined.
create table import_forms (
    user_id uuid not null references users on delete cascade,
    name text not null,
    marks text[] not null,
    columns text[] not null,
    fields text[] not null,
    day_format text not null,
    decimal_sign text not null check (decimal_sign in (',', '.')),
    created_at timestamptz not null default now(),
    primary key (user_id, name),
    check (cardinality(columns) = cardinality(fields))
);

-- Results are shown for 30 days, and go with the access that holds the bookings.
create table file_imports (
    user_id uuid not null,
    id uuid not null,
    access_id text not null,
    accounts jsonb not null,
    imported_at timestamptz not null default now(),
    primary key (user_id, id),
    foreign key (user_id, access_id) references accesses on delete cascade
);
create index file_imports_by_access on file_imports (user_id, access_id);
create index file_imports_by_age on file_imports (imported_at);

-- Budgets and savings goals of users. They go with the user's data version, which goes with the user.

create table budgets (
    user_id uuid not null,
    id uuid not null,
    name text not null,
    categories text[] not null,
    amount numeric(14, 2) not null,
    starts_on date not null,
    carries_over boolean not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (user_id, id)
);
select distribute_by_user('budgets');
alter table budgets add foreign key (user_id) references data_versions on delete cascade;

-- `saved` is what the user says, where no product is named.
create table savings_goals (
    user_id uuid not null,
    id uuid not null,
    name text not null,
    target numeric(14, 2) not null,
    target_date date,
    products uuid[] not null default '{}',
    saved numeric(14, 2) not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    primary key (user_id, id)
);
select distribute_by_user('savings_goals');
alter table savings_goals add foreign key (user_id) references data_versions on delete cascade;

-- Changes of transactions can be read from a position on, which is the user's data version.

-- Rows that were there before, and rows of programs that do not know these columns, have version 0.
alter table transactions add column created_version bigint not null default 0;
alter table transactions add column changed_version bigint not null default 0;

-- Each tree of tags has a version of its own. `is_forgotten` is true only within a transaction that tags the row again.
alter table transaction_tags add column category_version bigint not null default 0;
alter table transaction_tags add column insurance_version bigint not null default 0;
alter table transaction_tags add column partner_version bigint not null default 0;
alter table transaction_tags add column freelancer_version bigint not null default 0;
alter table transaction_tags add column is_forgotten boolean not null default false;

-- Programs that know these columns raise `followed_version` together with `version`. Where the two differ, a program
-- of an earlier version has changed something that nobody can tell. `first_version` is the first from which all
-- changes are known: earlier positions are refused. `paired_version` is the version whose bookings were last paired.
alter table data_versions add column followed_version bigint not null default 0;
alter table data_versions add column first_version bigint not null default 0;
alter table data_versions add column paired_version bigint not null default 0;

-- Transactions that are gone, for 90 days.
create table removed_transactions (
    user_id uuid not null references users on delete cascade,
    version bigint not null,
    product_id uuid not null,
    transaction_id uuid not null,
    created_version bigint not null,
    removed_at timestamptz not null default now(),
    primary key (user_id, version, product_id, transaction_id)
);
create index removed_transactions_by_age on removed_transactions (removed_at);

-- Transactions of an account that several accesses report, which repeat a transaction of another access or once did.
-- `flips` are the versions at which a row was left out of what covers all accounts, was shown again, and so on.
create table repeated_transactions (
    user_id uuid not null references users on delete cascade,
    product_id uuid not null,
    transaction_id uuid not null,
    flips bigint[] not null,
    primary key (user_id, product_id, transaction_id)
);

-- The user's data version after the event. Null: an event without transactions, or of an earlier program.
alter table webhook_deliveries add column data_version bigint;

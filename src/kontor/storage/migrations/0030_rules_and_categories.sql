-- Rules of users have conditions besides the counterparty, can be switched off, and can be undone.

-- `conditions`: all that must hold, with the counterparty. Null: the columns of the counterparty say it all. Programs that
-- do not know conditions find no counterparty in such a rule, and apply it to nothing. They alone look at the unique keys;
-- other programs put the rule's id there.
-- `is_for_all`: also for transactions that were there before the rule.
alter table tagging_rules add column conditions jsonb;
alter table tagging_rules add column label text not null default '';
alter table tagging_rules add column is_active boolean not null default true;
alter table tagging_rules add column is_for_all boolean not null default false;

-- The rule that decided the category, where the source is RULE. Null: not known, an earlier program applied it.
alter table transaction_tags add column rule_id uuid;

-- Categories that users make. `basis` is the category of our own tree that analyses see.
create table own_categories (
    user_id uuid not null references users on delete cascade,
    system_id integer not null,
    system_name text not null,
    display_name text not null,
    description text not null default '',
    basis text not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (user_id, system_id),
    unique (user_id, system_name)
);

-- The system name of the own category that a transaction or a rule has besides its category, which is the basis.
alter table transaction_tags add column own_category text;
alter table transaction_tags add column own_category_version bigint not null default 0;
alter table tagging_rules add column own_category text not null default '';

-- Rules and categories that a tenant makes for all its users. They are in the same forms as those of users.
create table tenant_rules (
    tenant_id uuid not null references tenants on delete cascade,
    id uuid not null,
    category text not null,
    own_category text not null default '',
    conditions jsonb not null,
    label text not null default '',
    is_active boolean not null default true,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create table tenant_categories (
    tenant_id uuid not null references tenants on delete cascade,
    system_id integer not null,
    system_name text not null,
    display_name text not null,
    description text not null default '',
    basis text not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, system_id),
    unique (tenant_id, system_name)
);

-- Grows with every change of the two. It is part of the version that tags are made by, so that users are tagged anew.
alter table tenants add column rules_version bigint not null default 0;

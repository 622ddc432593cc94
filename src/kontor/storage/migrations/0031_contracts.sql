-- Contracts keep their ids, users can say something about them, and transactions carry the period of their contract.

-- A contract as analyses have last found it. `transaction_ids` are its transactions; those with the same number in
-- `booking_numbers` are one booking that several accesses report. A contract that is no longer found stays, not
-- `is_found`, while one of its transactions is there. The columns after `is_found` are what the user has set.
create table contracts (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    transaction_ids uuid[] not null,
    booking_numbers integer[] not null,
    is_found boolean not null,
    name text,
    is_contract boolean,
    notice_period text,
    minimum_term_end date,
    created_at timestamptz not null default now(),
    primary key (user_id, id)
);

-- For which data, on which day and by which program a user's contracts were last found.
create table contract_states (
    user_id uuid primary key references users on delete cascade,
    data_version bigint not null,
    made_for date not null,
    made_by text not null
);

-- The period of the transaction's contract; null: it belongs to none.
alter table transaction_tags add column period text;
alter table transaction_tags add column period_confidence real;
alter table transaction_tags add column period_version bigint not null default 0;

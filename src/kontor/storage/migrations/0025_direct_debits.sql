-- Direct debits: who may collect them, in which forms a bank takes them, and what was collected.

-- Is the client made for direct debits (`kontor client create --direct-debits`)?
alter table clients add column may_collect boolean not null default false;

-- In which forms the bank takes direct debits for a product: CORE_SINGLE, CORE_BULK, B2B_SINGLE, B2B_BULK.
alter table products add column debit_forms text[] not null default '{}';

-- A payment may collect direct debits: scheme, creditor identifier, sequence type, and the mandate of each order.
alter table payments add column debit jsonb;
alter table payments drop constraint payments_kind_check;
alter table payments add constraint payments_kind_check
    check (kind in ('SINGLE', 'BULK', 'LEGACY', 'STANDING_ORDER', 'DIRECT_DEBIT')) not valid;

-- The demo bank: what an accepted payment collects. Lists of dated direct debits are made from it.
alter table demo_bank_payments add column collection jsonb;

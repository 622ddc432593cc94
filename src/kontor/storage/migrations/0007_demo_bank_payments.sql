-- The demo bank's own books. They belong to the bank, not to Kontor: Kontor reads them only by asking the bank.
-- `owner` is a digest of Kontor's user and the login, so no login stands here; `customer` is the user's opaque name.

-- Accounts that the bank has shown: to whom a creditor's IBAN belongs, and whose name fits it.
create table demo_bank_accounts (
    owner text not null,
    iban text not null,
    customer text not null,
    product_key text not null,
    holder text not null,
    registered_at timestamptz not null default clock_timestamp(),
    primary key (owner, iban)
);
create index demo_bank_accounts_by_iban on demo_bank_accounts (iban, registered_at);

-- One row per payment id and customer of the bank, written once. `NEVER` is a tombstone: the id was asked about before it
-- arrived, and is refused from then on. An `ACCEPTED` one is executed when its day has come.
create table demo_bank_payments (
    owner text not null,
    payment_id uuid not null,
    state text not null check (state in ('EXECUTED', 'ACCEPTED', 'REJECTED', 'NEVER')),
    product_key text,
    amount numeric(20, 2),
    booked_on date,
    failure text,
    detail text,
    decided_at timestamptz not null default clock_timestamp(),
    primary key (owner, payment_id),
    check ((state in ('EXECUTED', 'ACCEPTED')) = (booked_on is not null))
);

-- What moved on which account. Place 0 of a payment is its debit, the others are credits to demo accounts.
create table demo_bank_bookings (
    id bigint generated always as identity primary key,
    owner text not null,
    product_key text not null,
    payer text not null,
    payment_id uuid not null,
    place integer not null,
    amount numeric(20, 2) not null,
    currency text not null,
    booked_on date not null,
    booked_at timestamptz not null,
    purpose text,
    booking_text text,
    gv_code text,
    prima_nota text,
    counterparty_name text,
    counterparty_iban text,
    counterparty_bic text,
    ultimate_counterparty text,
    unique (payer, payment_id, place),
    foreign key (payer, payment_id) references demo_bank_payments (owner, payment_id),
    check ((place = 0) = (amount < 0))
);
create index demo_bank_bookings_by_owner on demo_bank_bookings (owner, product_key);

-- Everything that ever reached the bank about a payment, also what came twice or too late.
create table demo_bank_arrivals (
    id bigint generated always as identity primary key,
    owner text not null,
    payment_id uuid not null,
    event text not null check (event in ('BOOKED', 'REJECTED', 'REPEATED', 'REFUSED', 'LOOKED_UP', 'BURIED')),
    at timestamptz not null default clock_timestamp()
);
create index demo_bank_arrivals_by_payment on demo_bank_arrivals (owner, payment_id);

create function refuse_change_of_demo_bank() returns trigger language plpgsql as $$
begin
    raise exception 'the books of the demo bank are append-only';
end $$;
create trigger demo_bank_payments_append_only before update or delete on demo_bank_payments
    for each row execute function refuse_change_of_demo_bank();
create trigger demo_bank_bookings_append_only before update or delete on demo_bank_bookings
    for each row execute function refuse_change_of_demo_bank();
create trigger demo_bank_arrivals_append_only before update or delete on demo_bank_arrivals
    for each row execute function refuse_change_of_demo_bank();

-- What the customer is asked to confirm on the bank's page; no orders: access to the accounts.
alter table demo_bank_pages add column orders jsonb not null default '[]';

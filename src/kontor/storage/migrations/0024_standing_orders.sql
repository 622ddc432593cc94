-- Standing orders of customers' accounts: as the bank lists them, or as Kontor has created them.

-- `bank_key` is the bank's name of the order, null at banks that have none. `is_listed` is false once the bank's list
-- lacks it: it stays as an ended one.
create table standing_orders (
    user_id uuid not null,
    product_id uuid not null,
    id uuid not null,
    bank_key text,
    details jsonb not null,
    schedule jsonb not null,
    is_listed boolean not null default true,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    primary key (user_id, id),
    foreign key (user_id, product_id) references products on delete cascade
);
create index standing_orders_of_product on standing_orders (user_id, product_id);

-- What the bank can do with standing orders of a product: CREATE, CHANGE, DELETE.
alter table products add column standing_order_actions text[] not null default '{}';

-- A payment may be about a standing order: what is wanted, and of which one.
alter table payments add column standing jsonb;
alter table payments drop constraint payments_kind_check;
alter table payments add constraint payments_kind_check
    check (kind in ('SINGLE', 'BULK', 'LEGACY', 'STANDING_ORDER')) not valid;

-- The demo bank's own list. As all of its books it only grows: the newest row of a name counts.
create table demo_bank_standing_orders (
    id bigint generated always as identity primary key,
    owner text not null,
    product_key text not null,
    name text not null,
    payment_id uuid not null,
    action text not null check (action in ('CREATE', 'CHANGE', 'DELETE')),
    details jsonb not null,
    schedule jsonb not null,
    valid_from date not null,
    noted_at timestamptz not null default clock_timestamp(),
    unique (owner, payment_id),
    foreign key (owner, payment_id) references demo_bank_payments (owner, payment_id)
);
create index demo_bank_standing_orders_by_name on demo_bank_standing_orders (owner, product_key, name, id);
create trigger demo_bank_standing_orders_append_only before update or delete on demo_bank_standing_orders
    for each row execute function refuse_change_of_demo_bank();

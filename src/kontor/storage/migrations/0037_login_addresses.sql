-- Addresses from which a user has logged in lately, as keyed hashes. There a right password is accepted although others
-- have guessed wrong ones.
create table login_addresses (
    user_id uuid not null references users on delete cascade,
    address bytea not null,
    last_at timestamptz not null default now(),
    primary key (user_id, address)
);
create index login_addresses_by_age on login_addresses (last_at);

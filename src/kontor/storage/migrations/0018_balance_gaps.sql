-- A time whose balances, as the bank or a file told them, do not follow from the stored bookings. Null: none is known.

alter table products add column balance_gap jsonb;

-- What users write beside their transactions. Null: nobody has.

alter table transactions add column note text;
alter table transactions add column keywords text[];
-- An array of {amount, category, tags, note}: the amounts add up to that of the transaction. `tags` is as the caller
-- wrote it, `category` what it means.
alter table transactions add column parts jsonb;

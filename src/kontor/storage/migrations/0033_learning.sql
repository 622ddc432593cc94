-- Corrections teach: later transactions of the same kind get the category that the user gave to an earlier one.

-- The corrected transaction from which the category was learnt. Programs that do not know it take the tag for the tagger's.
alter table transaction_tags add column learnt_from uuid;

alter table tenants add column learns_from_corrections boolean not null default true;

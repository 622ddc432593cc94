-- Entries of the audit trail by the user whom they are about, or else who did it: for the export of what a user has.
-- The table is large and in use:
-- no transaction

create index concurrently if not exists audit_entries_by_user on audit_entries (
    chain,
    coalesce(substring(object from 'user ([0-9a-f-]{36})'), substring(actor from 'user ([0-9a-f-]{36})')),
    serial
) where coalesce(substring(object from 'user ([0-9a-f-]{36})'), substring(actor from 'user ([0-9a-f-]{36})')) is not null;

-- Payments of erased users, and heads of the audit trail that only move on with its entries.

-- The id that the bank keeps with the order. It is made of the user's id, so it is stored before that id goes.
alter table payments add column kept_bank_id uuid;

-- The application must be able to move a head on, also the version before. It can do nothing else with it: a head
-- starts at zero where there are no entries, and goes to the entry after it.
create function guard_audit_head() returns trigger language plpgsql
    security definer set search_path = pg_catalog, public, pg_temp as $$
begin
    if tg_op = 'INSERT' then
        if new.serial <> 0 or new.hash <> decode(repeat('00', 32), 'hex')
            or exists (select 1 from public.audit_entries where chain = new.chain) then
            raise exception 'a head of the audit trail starts before its first entry';
        end if;
    elsif new.chain <> old.chain or new.serial <> old.serial + 1 or not exists (
            select 1 from public.audit_entries where chain = new.chain and serial = new.serial and hash = new.hash)
        or exists (select 1 from public.audit_entries where chain = new.chain and serial > new.serial) then
        raise exception 'a head of the audit trail moves on with its entries only';
    end if;
    return null;
end $$;

-- After the row is written: before it, `on conflict do nothing` would be taken for a new head.
create trigger audit_heads_follow_entries after insert or update on audit_heads
    for each row execute function guard_audit_head();

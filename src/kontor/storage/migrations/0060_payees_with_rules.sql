-- A payee with a rule in force is shown after the records of its payments were deleted: with the name, and with the times of its
-- first and last payment, as they were when the rule was set. Without a rule the name goes.
alter table payee_limits add column name text;
alter table payee_limits add column first_at timestamptz;
alter table payee_limits add column last_at timestamptz;

update payee_limits l set name = paid.name, first_at = paid.first_at, last_at = paid.last_at
from (select p.user_id, o.value->>'iban' as iban, min(p.created_at) as first_at, max(p.created_at) as last_at,
        (array_agg(o.value->>'recipient' order by p.created_at desc))[1] as name
    from payments p, jsonb_array_elements(p.orders) o
    where p.state in ('EXECUTED', 'ACCEPTED') and p.debit is null and coalesce(p.standing->>'action', '') <> 'DELETE'
    group by p.user_id, o.value->>'iban') paid
where paid.user_id = l.user_id and paid.iban = l.iban
    and (l.max_amount is not null or l.hold_hours > 0 or l.held_until > now());

-- What users have set for payees: a limit for the orders of a day, and a hold after first use. The id follows from the IBAN.
create table payee_limits (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    iban text not null,
    max_amount numeric(12, 2) check (max_amount > 0),
    hold_hours integer check (hold_hours between 0 and 720),
    held_until timestamptz,
    changed_at timestamptz not null default now(),
    primary key (user_id, id)
);

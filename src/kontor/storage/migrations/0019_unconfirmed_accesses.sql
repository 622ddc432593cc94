-- Until the user has chosen accounts in the web form, an access belongs to the session of that form and to nobody else.
-- What the bank told meanwhile is sealed here, apart from customer data. Accesses without a session are confirmed, so
-- that rows of the version before count as such.

alter table accesses add column form_session_id uuid;
create index accesses_unconfirmed on accesses (form_session_id) where form_session_id is not null;

create table staged_fetches (
    user_id uuid not null,
    access_id text not null,
    headers bytea not null,
    result bytea,
    staged_at timestamptz not null default now(),
    primary key (user_id, access_id),
    foreign key (user_id, access_id) references accesses on delete cascade
);

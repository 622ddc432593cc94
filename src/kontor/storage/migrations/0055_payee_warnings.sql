-- Of a verification before the order: what differs from earlier orders, and the text about it that the caller got.
alter table payee_verifications add column warnings jsonb not null default '[]';
alter table payee_verifications add column shown_text text not null default '';

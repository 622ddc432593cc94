-- Edits of several transactions at once, which can be undone for 30 days.

-- The data version at which the user last said something about the transaction. Null: not since this column exists.
alter table transactions add column edited_version bigint;

-- `version` is the edited version of the rows. `has_rows` becomes false after 30 days, when
-- their former values are deleted and what the edit had set.
create table transaction_edits (
    user_id uuid not null references users on delete cascade,
    id uuid not null,
    version bigint not null,
    tags jsonb,
    sets_note boolean not null,
    note text,
    sets_keywords boolean not null,
    keywords text[],
    row_count integer not null,
    skipped_count integer not null,
    has_rows boolean not null default true,
    made_at timestamptz not null default now(),
    primary key (user_id, id)
);
create index transaction_edits_by_age on transaction_edits (made_at) where has_rows;

-- What a transaction had before an edit, as far as the edit has changed it. `tags` is the row of `transaction_tags`.
create table transaction_edit_rows (
    user_id uuid not null,
    product_id uuid not null,
    transaction_id uuid not null,
    edit_id uuid not null,
    tags jsonb,
    note text,
    keywords text[],
    edited_version bigint,
    primary key (user_id, product_id, transaction_id, edit_id),
    foreign key (user_id, product_id, transaction_id) references transactions on delete cascade,
    foreign key (user_id, edit_id) references transaction_edits on delete cascade
);
create index transaction_edit_rows_by_edit on transaction_edit_rows (user_id, edit_id);

-- Answers of analyses, kept while the data they were made from is unchanged. One row per kind of question and user.
create table analysis_results (
    user_id uuid not null references users on delete cascade,
    question text not null,
    data_version bigint not null,
    made_for date not null,
    made_by text not null,
    answer bytea not null,
    made_at timestamptz not null default now(),
    primary key (user_id, question)
);
create index analysis_results_by_age on analysis_results (made_at);

-- What customers ask advisers to look at again: a version of a credit file. For advisers and housekeeping, who are bound
-- to other users than the row's, ids and times of all files.
create table credit_review_requests (
    user_id uuid not null,
    file_id uuid not null,
    comment text not null,
    requested_at timestamptz not null,
    primary key (user_id, file_id),
    foreign key (user_id, file_id) references credit_files on delete cascade
);
create index credit_files_by_disclosure on credit_files (tenant_id, user_id, disclosure_id);
create unique index credit_files_by_predecessor on credit_files (user_id, predecessor_id);

create view all_credit_files as
    select user_id, id, tenant_id, version, predecessor_id, disclosure_id, created_at from credit_files;
create view all_credit_review_requests as select user_id, file_id, requested_at from credit_review_requests;

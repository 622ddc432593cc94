-- no transaction
-- What has changed since a version is found without a look at the rest.

create index concurrently if not exists transactions_by_version on transactions (user_id, changed_version);

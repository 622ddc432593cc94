-- no transaction
-- A user's corrections are found without a look at all tags.

create index concurrently if not exists transaction_tags_of_users on transaction_tags (user_id) where source = 'USER';

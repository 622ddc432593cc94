-- Rules of users have conditions besides the counterparty, can be switched off, and can be undone.

-- `conditions`: all that must hold, with the counterparty. Null: the columns of the counterparty say it all. Programs that
-- do not know conditions find no counterparty in such a rule, and apply it to nothing. They alone look at the unique keys;
-- other programs put the rule's id there.
-- `is_for_all`: also for transactions that were there before the rule.
alter table tagging_rules add column conditions jsonb;
alter table tagging_rules add column label text not null default '';
alter table tagging_rules add column is_active boolean not null default true;
alter table tagging_rules add column is_for_all boolean not null default false;

-- The rule that decided the category, where the source is RULE. Null: not known, an earlier program applied it.
alter table transaction_tags add column rule_id uuid;

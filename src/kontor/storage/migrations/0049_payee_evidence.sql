-- Of the verification of payees: verdicts, the text that the user was shown, its language, the user's choice, and times.
alter table payments add column evidence jsonb;

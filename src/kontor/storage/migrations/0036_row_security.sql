-- What background work and operators see of everybody's rows: ids, states and times, never what a customer owns.
-- The application's role sees its own tables only for the user a connection is bound to; these views have the owner's
-- rights. The policies themselves come from the program, for every table that has them (storage/row_security.py).

create view all_accesses as
    select user_id, id, provider_id, status, is_synced, created_at, updated_at, expires_at, consent_until,
        consent_warned_for, refresh_pause, next_refresh_at, scheduled_since, form_session_id, lease_key,
        credentials_digest, credentials is not null as has_credentials
    from accesses;

create view all_fetches as
    select id, user_id, access_id, state, is_attended, all_history, lease_key, correlation_id, slot_at, requested_at,
        started_at, finished_at, failure, attempts, fence
    from fetches;

create view all_unattended_calls as select ctid as place, user_id, access_id, called_at from unattended_calls;

create view all_payments as
    select user_id, id, tenant_id, pseudonym, state, lease_key, fence, idempotency_key, lookups, next_lookup_at, created_at,
        expires_at
    from payments;

create view all_payment_fingerprints as select given_at from payment_fingerprints;

create view all_payee_verifications as select user_id, id, expires_at from payee_verifications;

create view all_dialogues as select id, expires_at from dialogues;

create view all_file_imports as select user_id, id, imported_at from file_imports;

create view all_analysis_results as select made_at from analysis_results;

create view all_removed_transactions as select user_id, removed_at from removed_transactions;

create view all_transaction_edits as select user_id, id, has_rows, made_at from transaction_edits;

create view all_tagging_states as select user_id, tagger_version from tagging_states;

-- An operator can stop the background refresh of an access, beside the pauses that follow from what the bank said:
-- those end when the customer has acted, this one when an operator ends it.
alter table accesses add column operator_paused_at timestamptz;
create or replace view all_accesses as
    select user_id, id, provider_id, status, is_synced, created_at, updated_at, expires_at, consent_until,
        consent_warned_for, refresh_pause, next_refresh_at, scheduled_since, form_session_id, lease_key,
        credentials_digest, credentials is not null as has_credentials, operator_paused_at
    from accesses;

-- Calls that the bank answered by refusing the login: the bank is up, and yet nobody got any data.
alter table provider_outcomes add column is_refused boolean not null default false;

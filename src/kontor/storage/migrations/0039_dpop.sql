-- Tokens that are bound to a key of the caller (DPoP, RFC 9449), and proofs that were used.

alter table access_tokens add column key_thumbprint bytea check (octet_length(key_thumbprint) = 32);
alter table clients add column requires_dpop boolean not null default false;

-- A proof is accepted once, by whichever process it reaches. `digest` is of the key and the proof's id. After
-- `expires_at` the proof is too old to be accepted, and the row is removed.
create table dpop_proofs (
    digest bytea primary key,
    expires_at timestamptz not null
);
create index dpop_proofs_by_expiry on dpop_proofs (expires_at);

#!/bin/sh
# Two roles, once, when the database is made: the owner changes tables, the application reads and writes rows.
set -eu
secrets=${KONTOR_SECRETS:-/run/secrets}
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set owner_password="$(cat "$secrets/owner_password")" --set app_password="$(cat "$secrets/app_password")" <<'SQL'
create role kontor_owner login password :'owner_password';
create role kontor login password :'app_password';
create database kontor owner kontor_owner;
SQL

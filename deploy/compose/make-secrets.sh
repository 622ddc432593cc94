#!/bin/sh
# Makes the secrets of compose.yaml, once. Keep a copy of secrets/master_key elsewhere: without it, stored bank
# credentials are lost. The folder is closed to others; the files are open because the containers' users are others.
set -eu
cd "${1:-$(dirname "$0")}"
if [ -e secrets ]; then
  echo "secrets/ is there already; nothing was changed." >&2
  exit 1
fi
random() { head -c "$1" /dev/urandom | od -An -vtx1 | tr -d ' \n'; }
mkdir -m 700 secrets
for name in postgres_password owner_password app_password metrics_token; do
  random 24 >"secrets/$name"
done
printf 'postgresql://kontor:%s@postgres/kontor' "$(cat secrets/app_password)" >secrets/database_url
printf 'postgresql://kontor_owner:%s@postgres/kontor' "$(cat secrets/owner_password)" >secrets/migration_database_url
head -c 32 /dev/urandom | base64 >secrets/master_key
chmod 444 secrets/*

#!/bin/sh
# Settings may lie in files, as secrets of a container do: KONTOR_DATABASE_URL_FILE=/run/secrets/database_url
# becomes KONTOR_DATABASE_URL. Then `kontor` takes the place of this script, and gets the signals itself.
set -eu
for name in $(env | sed -n 's/^\(KONTOR_[A-Z0-9_]*\)_FILE=.*/\1/p'); do
  eval "file=\$${name}_FILE"
  if [ ! -r "$file" ]; then
    echo "$file (${name}_FILE) cannot be read." >&2
    exit 1
  fi
  value=$(cat "$file")
  export "$name=$value"
  unset "${name}_FILE"
done
exec kontor "$@"

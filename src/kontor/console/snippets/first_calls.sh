base=http://127.0.0.1:8080
pick() { python3 -c 'import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]: value = value[int(key) if isinstance(value, list) else key]
print(value)' "$@"; }

# The tenant's admin client creates a user.
username=user-$RANDOM$RANDOM
password=$(head -c 16 /dev/urandom | base64)
token=$(curl -s -u "$KONTOR_ADMIN:$KONTOR_ADMIN_SECRET" $base/auth/oauth2/token \
  -d grant_type=client_credentials | pick access_token)
curl -s $base/auth/mgmt/v1/tenants/${KONTOR_CLIENT%%/*}/users -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -d '{"username": "'$username'", "password": "'$password'"}'

# The user logs in and adds a bank. Credentials travel encrypted for the tenant.
token=$(curl -s -u "$KONTOR_CLIENT:$KONTOR_SECRET" $base/auth/oauth2/token -d grant_type=password \
  --data-urlencode username=$username --data-urlencode password="$password" | pick access_token)
encrypt() { printf %s "$1" | base64 | curl -s -X PUT $base/encrypt -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/octet-stream+base64' --data-binary @-; }
curl -s $base/customer/v2/bankzugaenge -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -d '{"my-bank": {
  "providerId": "00000000-0000-0000-0000-000000000000",
  "credentials": {"userid": "'$(encrypt familie)'", "pin": "'$(encrypt demo)'"}}}'

# Transactions come in the background; then there they are, with their categories.
until curl -s $base/customer/v2/bankzugaenge/my-bank -H "Authorization: Bearer $token" | pick status | grep VOLLSTAENDIG
do sleep 1; done
product=$(curl -s $base/customer/v2/bankzugaenge/my-bank -H "Authorization: Bearer $token" \
  | pick bankprodukte 0 relations 0 href)
curl -s "$product/kontoumsaetze?limit=5&tag=categories" -H "Authorization: Bearer $token" | python3 -c 'import json, sys
for one in json.load(sys.stdin):
    category = one["tags"][0]["tagTreeItem"]["systemName"]
    print(one["buchungsdatum"][:10], one["betrag"], category, one.get("verwendungszweck", ""))'

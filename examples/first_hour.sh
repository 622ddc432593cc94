#!/usr/bin/env bash
# The first hour with Kontor: create a user, add the demo bank, list transactions with categories, print contracts.
# It needs curl and python3 (to read JSON). Start `./dev demo`, then: examples/first_hour.sh .kontor/demo.json
set -euo pipefail
demo=${1:?the path of demo.json}

pick() { python3 -c 'import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]: value = value[int(key) if isinstance(value, list) else key]
print(value)' "$@"; }

base=$(pick baseUrl <"$demo")
tenant=$(pick tenants 0 name <"$demo")
admin=$(pick tenants 0 adminClient username <"$demo"):$(pick tenants 0 adminClient password <"$demo")
app=$(pick tenants 0 userClient username <"$demo"):$(pick tenants 0 userClient password <"$demo")
json='Content-Type: application/json'

# The tenant's admin client creates a user.
username=first-hour-$RANDOM$RANDOM
password=$(head -c 16 /dev/urandom | base64)
token=$(curl -sf -u "$admin" "$base/auth/oauth2/token" -d grant_type=client_credentials | pick access_token)
curl -sf "$base/auth/mgmt/v1/tenants/$tenant/users" -H "Authorization: Bearer $token" -H "$json" \
  -d '{"username": "'"$username"'", "password": "'"$password"'"}'
echo "user $username"

# The user logs in through the tenant's app, and adds a bank.
token=$(curl -sf -u "$app" "$base/auth/oauth2/token" -d grant_type=password \
  --data-urlencode username="$username" --data-urlencode password="$password" | pick access_token)
auth="Authorization: Bearer $token"
encrypt() { printf %s "$1" | base64 | curl -sf -X PUT "$base/encrypt" -H "$auth" \
  -H 'Content-Type: application/octet-stream+base64' --data-binary @-; }
curl -sf "$base/customer/v2/bankzugaenge" -H "$auth" -H "$json" -d '{"my-bank": {
  "providerId": "00000000-0000-0000-0000-000000000000",
  "credentials": {"userid": "'"$(encrypt student)"'", "pin": "'"$(encrypt demo)"'"}}}'
until curl -sf "$base/customer/v2/bankzugaenge/my-bank" -H "$auth" | pick status | grep -q VOLLSTAENDIG; do sleep 1; done
access=$(curl -sf "$base/customer/v2/bankzugaenge/my-bank" -H "$auth")
python3 -c 'import json, sys
for product in json.load(sys.stdin)["bankprodukte"]:
    print("{:15} {:12.2f} {}  {}".format(
        product["kategorie"], product["saldo"], product["waehrung"], product["bezeichnung"]))' <<<"$access"

# Every object says where more is: here, the transactions of the first product.
product=$(pick bankprodukte 0 relations 0 href <<<"$access")
curl -sf "$product/kontoumsaetze?limit=5&tag=categories" -H "$auth" | python3 -c 'import json, sys
for transaction in json.load(sys.stdin):
    category = transaction["tags"][0]["tagTreeItem"]["systemName"]
    print("{} {:10.2f} {:30} {}".format(
        transaction["buchungsdatum"][:10], transaction["betrag"], category, transaction.get("verwendungszweck", "")))'

curl -sf "$base/customer/v2/ai/contracts" -H "$auth" | python3 -c 'import json, sys
for contract in json.load(sys.stdin):
    details, period = contract["details"], contract["tagTreeItemPeriod"]["displayName"]
    print("contract {:9.2f} {:15} {}".format(details["amountLatest"], period, details["counterpartyName"]))'

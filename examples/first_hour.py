"""The first hour with Kontor: create a user, add the demo bank, list transactions with categories, print contracts.

Start `./dev demo`, then: .venv/bin/python examples/first_hour.py .kontor/demo.json
"""

import json
import sys
from itertools import islice
from uuid import uuid4

from kontor_client import Kontor, ProductCategory

DEMO_BANK = "00000000-0000-0000-0000-000000000000"

with open(sys.argv[1], encoding="utf-8") as file:
    demo = json.load(file)
base_url, tenant = demo["baseUrl"], demo["tenants"][0]
admin, app = tenant["adminClient"], tenant["userClient"]

# The tenant's admin client creates a user.
username, password = f"first-hour-{uuid4().hex[:8]}", uuid4().hex
with Kontor.login_client(base_url, admin["username"], admin["password"]) as kontor:
    user = kontor.create_user(tenant["name"], username, password)
    print("user", user.username)

# The user logs in through the tenant's app, and adds a bank.
with Kontor.login(base_url, app["username"], app["password"], username, password) as kontor:
    access = kontor.add_access(DEMO_BANK, {"userid": "student", "pin": "demo"})
    access = kontor.wait_until_complete(access.id)
    for product in access.products:
        print(f"{product.category:15} {product.balance:>12} {product.currency}  {product.name}")

    giro = next(product for product in access.products if product.category == ProductCategory.CHECKING)
    for transaction in islice(kontor.iterate_transactions(access.id, giro.id, tag="categories"), 5):
        print(
            f"{transaction.booked_at:%Y-%m-%d} {transaction.amount:>10} {transaction.category:30} {transaction.purpose}"
        )

    for contract in kontor.list_contracts():
        details = contract.details
        print(f"contract {details.amount_latest:>9} {contract.period.display_name:15} {details.counterparty_name}")

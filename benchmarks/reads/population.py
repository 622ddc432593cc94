"""Customers whose data is read and refreshed: what they ask for, and how often."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from benchmarks.endpoints import Request
from benchmarks.environment import BenchmarkEnvironment, Customer
from benchmarks.fetching import ACCESSES
from benchmarks.scale.refresh_bank import install, name_login
from benchmarks.scale.refreshes import make_request
from kontor.config import Settings

TENANT = "bench-reads"
ACCESS = "bank"
ANALYSES = "/customer/v2/ai"
# How often each is asked for, of twenty.
MIX: dict[str, tuple[str, int]] = {
    "all accesses": (ACCESSES, 4),
    "one access": (f"{ACCESSES}/{ACCESS}", 2),
    "one account": (f"{ACCESSES}/{ACCESS}/{{product}}", 2),
    "50 transactions with categories": (f"{ACCESSES}/{ACCESS}/{{product}}/kontoumsaetze?limit=50&tag=categories", 4),
    "300 transactions": (f"{ACCESSES}/{ACCESS}/{{product}}/kontoumsaetze", 3),
    "balances by month": (f"{ACCESSES}/{ACCESS}/{{product}}/balances?interval=month", 1),
    "sum of transactions": ("/customer/v2/kontoumsaetze/summe", 1),
    "contracts": (f"{ANALYSES}/contracts", 1),
    "cashflow": (f"{ANALYSES}/cashflow", 1),
    "one user, by a client": ("/auth/mgmt/v1/tenants/{tenant}/users/{user}", 1),
}


@dataclass(frozen=True)
class Population:
    """`client_token` is that of an administrating client."""

    client_token: str
    requests: list[Request]
    users: list[UUID]


async def make_population(settings: Settings, customers: int, say: Callable[[str], None]) -> Population:
    """This process is the worker of the first fetch of each."""
    install()
    requests, users = [], []
    async with BenchmarkEnvironment(settings, tenant=TENANT) as environment:
        token = await environment.issue_client_token()
        for number in range(customers):
            customer = await environment.add_customer()
            product = await connect(environment, customer, number)
            users.append(customer.id)
            requests += make_requests(customer, product, token)
    say(f"{customers} customers with an access each")
    return Population(token, requests, users)


async def connect(environment: BenchmarkEnvironment, customer: Customer, number: int) -> str:
    """Returns the id of the account."""
    services = environment.services
    principal = await services.tokens.authenticate(customer.token)
    assert principal is not None
    request = await make_request(services, principal, name_login(number))
    call = asyncio.create_task(
        services.accesses.add_accesses(principal, {ACCESS: request}, refresh=False, is_attended=True)
    )
    with environment.owner() as owner:
        while not call.done():
            for (fetch_id,) in owner.execute("select id from fetches where state = 'QUEUED'").fetchall():
                await services.fetching.run(fetch_id)
            await asyncio.sleep(0.005)
        await call
        row = owner.execute("select id from products where user_id = %s", [customer.id]).fetchone()
    assert row is not None
    return str(row[0])


def make_requests(customer: Customer, product: str, client_token: str) -> list[Request]:
    names = {"product": product, "tenant": TENANT, "user": str(customer.id)}
    return [
        Request(path.format(**names), client_token if path.startswith("/auth") else customer.token)
        for path, weight in MIX.values()
        for _ in range(weight)
    ]


def make_webhook(url: str) -> bytes:
    return json.dumps({"url": url, "events": ["transactions.new"]}).encode()

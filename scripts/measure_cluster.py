"""Compare a Citus cluster with a single server, in turn: `python scripts/measure_cluster.py PLAIN CLUSTER`.

Both are addresses of the application's role, of migrated databases; the second is distributed. Users without a tenant
are made as the owner, whose addresses are `KONTOR_PLAIN_OWNER` and `KONTOR_CLUSTER_OWNER`.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg

from kontor.domain.searches import Window
from kontor.domain.secrets import Secret
from kontor.domain.tags import TagSource, TransactionTags
from kontor.domain.transactions import Transaction
from kontor.storage import tags, transactions
from kontor.storage.database import Database
from kontor.wire.transactions import FIELDS

ROWS, ROUNDS, USERS = 4500, 5, 50
START = datetime(2024, 1, 1, tzinfo=UTC)
TODAY = date(2026, 11, 18)
TAGS = TransactionTags("LEBENSMITTEL", "", "REWE", "", 0.9, 0.9, 0.9, 0.9, TagSource.TAGGER, None, "", None)
MAKE_TENANT = "insert into tenants (id, name, is_regulated, allowed_scopes) values (%(t)s, %(t)s::text, true, '{}')"
MAKE_KEY = "insert into tenant_keys (id, tenant_id, kind, sealed) values (%(t)s, %(t)s, 'wrapping', '')"
MAKE_USER = (
    "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
    " values (%(u)s, %(t)s, %(u)s::text, '', %(u)s, '', %(t)s)"
)
MAKE_ACCESS = "insert into accesses (user_id, id, provider_id, is_synced) values (%(u)s, 'a', %(u)s, true)"
MAKE_PRODUCT = (
    "insert into products (user_id, id, access_id, bank_key, ordinal, category, name, holder)"
    " values (%(u)s, %(u)s, 'a', '', 0, 'GIROKONTO', 'Girokonto', 'Anna')"
)


def make_transactions(count: int) -> list[Transaction]:
    return [
        Transaction(
            amount=Decimal(number % 200 - 150),
            currency="EUR",
            booked_at=START + timedelta(hours=number),
            value_at=START + timedelta(hours=number),
            purpose=f"REWE SAGT DANKE {number} // EC 5412 Karte 4711 2026-01-02T10:11",
            booking_text="KARTENZAHLUNG",
            counterparty_name="REWE Markt GmbH",
            counterparty_iban="DE89370400440532013000",
            counterparty_bic="COBADEFFXXX",
        )
        for number in range(count)
    ]


def make_users(owner: str, count: int) -> list[UUID]:
    tenant, made = uuid4(), [uuid4() for _ in range(count)]
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(MAKE_TENANT, {"t": tenant})
        connection.execute(MAKE_KEY, {"t": tenant})
        for user_id in made:
            for statement in (MAKE_USER, MAKE_ACCESS, MAKE_PRODUCT):
                connection.execute(statement, {"u": user_id, "t": tenant})
    return made


async def store(database: Database, user_id: UUID, count: int) -> None:
    async with database.transaction(user_id) as connection:
        await transactions.insert_transactions(connection, user_id, user_id, make_transactions(count), TODAY)
    async with database.transaction(user_id) as connection:
        await tags.lock_state(connection, user_id, "1")
        untagged = await tags.list_untagged(connection, user_id)
        await tags.insert_tags(connection, user_id, "1", [(row, TAGS) for row in untagged])


async def list_rows(database: Database, user_id: UUID, count: int) -> None:
    async with database.connect(user_id) as connection:
        _, found = await transactions.list_json(connection, user_id, user_id, Window(limit=count), FIELDS)
    assert found == count


async def measure(action: Callable[[], Awaitable[None]], repetitions: int) -> float:
    start = time.perf_counter()
    for _ in range(repetitions):
        await action()
    return (time.perf_counter() - start) * 1000 / repetitions


async def main() -> None:
    owners = [os.environ["KONTOR_PLAIN_OWNER"], os.environ["KONTOR_CLUSTER_OWNER"]]
    databases = [Database(Secret(address), 2, "measure cluster") for address in sys.argv[1:3]]
    for database in databases:
        await database.open()
    users = [make_users(owner, USERS) for owner in owners]
    times: dict[str, list[tuple[float, float]]] = {}
    for number in range(ROUNDS):
        for name, action, repetitions in (
            (f"store {ROWS:,} transactions with tags", lambda d, u: store(d, u, ROWS), 1),
            ("list 1,000", lambda d, u: list_rows(d, u, 1000), 20),
            ("list 50", lambda d, u: list_rows(d, u, 50), 50),
            ("list 1", lambda d, u: list_rows(d, u, 1), 100),
        ):
            pair = [
                await measure(lambda d=database, u=own[number]: action(d, u), repetitions)  # noqa: B023 (at once)
                for database, own in zip(databases, users, strict=True)
            ]
            times.setdefault(name, []).append((pair[0], pair[1]))
    for name, pairs in times.items():
        plain, cluster = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"| {name} | {plain:.1f} | {cluster:.1f} | {cluster / plain:.1f} |")
    for database in databases:
        await database.close()


asyncio.run(main())

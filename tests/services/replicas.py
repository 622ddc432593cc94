"""A user whose transactions change in every way, and readers that follow the changes and nothing else."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg

from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.annotations import Annotation
from kontor.domain.deltas import read_cursor
from kontor.domain.duplicates import find_repeated
from kontor.domain.merge_plans import plan_merge
from kontor.domain.parts import Part
from kontor.domain.principals import Principal
from kontor.domain.products import Product
from kontor.domain.searches import CustomerFilters, CustomerPosition, Window
from kontor.domain.transactions import Transaction
from kontor.services.accesses import delete_access_data
from kontor.services.analyses import Repetitions, TransactionTagging
from kontor.services.analyses.duplicates import load_shared
from kontor.services.compute import Compute
from kontor.services.fetching import write_plan
from kontor.services.transactions import (
    Correction,
    CustomerTransactions,
    Delta,
    Deltas,
    DeltaView,
    TransactionEdits,
    TransactionUpdates,
)
from kontor.storage import accesses, products, tag_views, transactions
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database
from kontor.wire.transactions import CUSTOMER_FIELDS, FIELDS
from stored_data import GIRO, PROVIDER, SAVINGS, TODAY, TWIN

CATEGORY = (("category", "category_confidence"),)
VERSIONS = (
    "select id, changed_version from transactions where user_id = %s",
    "select t.id, greatest(t.changed_version, g.category_version) from transactions t left join transaction_tags g"
    " on g.user_id = t.user_id and g.product_id = t.product_id and g.transaction_id = t.id where t.user_id = %s",
)
# Access `b` reports the same account as access `a`.
PLACES: dict[str, tuple[str, Product]] = {"giro": ("a", GIRO), "savings": ("a", SAVINGS), "twin": ("b", TWIN)}


def make_booking(number: int, *, is_pending: bool, is_reworded: bool, channel: str) -> Transaction:
    """A booking of its own by its number. Other words, or a pending one, are the same booking."""
    at = datetime(2026, 10, 1 + number, 11, tzinfo=UTC)
    return Transaction(
        Decimal(-10 - number),
        "EUR",
        at,
        at + timedelta(days=1) if is_reworded else at,
        purpose=f"Rechnung {1000 + number} Kunde {number}" + (" vielen Dank" if is_reworded else ""),
        counterparty_name=("REWE", "ARAL AG", "Stadtwerke")[number % 3],
        is_pending=is_pending,
        channel=channel,
    )


@dataclass
class Reader:
    """A replica. `early` are transactions that were told in a state later than the end of a reading.

    That happens when data changes between two answers of one reading: the next reading may tell them again, and may
    tell removals of transactions that were gone before they could be told.
    """

    view: DeltaView
    cursor: str | None = None
    rows: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    early: set[str] = field(default_factory=set)
    told_before: set[str] = field(default_factory=set)
    is_moved: bool = False
    was_moved: bool = False

    def begin(self) -> None:
        """Another reading."""
        self.told_before, self.early = self.early, set()
        self.was_moved, self.is_moved = self.is_moved, False

    def take(self, delta: Delta, versions: dict[str, int], *, is_moved: bool) -> None:
        """Apply an answer. What is told must be news: `versions` are those of the rows as they are now."""
        ids = [str(row[1]) for _, row in (*delta.new, *delta.changed)]
        self.is_moved |= is_moved
        self.early |= set(ids) if is_moved else set()
        for _, row in delta.new:
            assert str(row[1]) not in self.rows, "a known transaction is told as a new one"
            self.rows[str(row[1])] = show(row)
        for _, row in delta.changed:
            key, shown = str(row[1]), show(row)
            assert key in self.rows, "an unknown transaction is told as a changed one"
            is_news = key not in versions or versions[key] > self.versions[key]
            assert is_news or key in self.told_before, "a change is told twice"
            self.rows[key] = shown
        for change in delta.removed:
            ids.append(str(change.transaction_id))
            assert ids[-1] in self.rows or self.was_moved, "an unknown transaction is told as removed"
            self.rows.pop(ids[-1], None)
        assert len(ids) == len(set(ids)), "an id occurs twice in an answer"
        self.versions |= versions
        self.cursor = delta.cursor


def show(row: Any) -> tuple[Any, ...]:
    return json.loads(row[0]), *row[2:]


class ReplicatedUser:
    def __init__(self, database: Database, principal: Principal, compute: Compute) -> None:
        assert principal.user_id is not None
        self.database, self.principal, self.user_id = database, principal, principal.user_id
        self.tagging = TransactionTagging(database, compute)
        repetitions = Repetitions(database, compute)
        self.deltas = Deltas(database, self.tagging, repetitions)
        self.of_customer = CustomerTransactions(database, self.tagging, repetitions)
        self.updates = TransactionUpdates(database, self.tagging)
        self.edits = TransactionEdits(database, self.tagging, repetitions)
        self.readers = [
            Reader(DeltaView(None, CUSTOMER_FIELDS)),
            Reader(DeltaView(None, CUSTOMER_FIELDS, CATEGORY)),
            Reader(DeltaView(self.name("giro"), FIELDS)),
            Reader(DeltaView(self.name("giro"), FIELDS, CATEGORY)),
        ]

    def name(self, key: str) -> UUID:
        return make_product_id(self.user_id, PLACES[key][0], PLACES[key][1].key)

    # What happens

    async def merge(self, connection: Connection, key: str, fetched: list[Transaction], *, is_file: bool) -> None:
        """As a refresh or an import stores it, in the caller's transaction."""
        access_id, product = PLACES[key]
        if await accesses.lock_access(connection, self.user_id, access_id) is None:
            await accesses.insert_access(
                connection, self.user_id, access_id, PROVIDER, is_synced=True, selected_products=None
            )
            await accesses.set_status(connection, self.user_id, access_id, AccessStatus.COMPLETE)
        await products.upsert_product(connection, self.user_id, self.name(key), access_id, 0, product)
        stored = await transactions.load_transactions(connection, self.user_id, self.name(key), None)
        plan = plan_merge(stored, None, fetched, (), keeps_pending=is_file)
        await write_plan(connection, self.user_id, self.name(key), plan, TODAY)
        await self.tagging.retag_changed(connection, self.user_id)
        await products.set_products_seen(connection, self.user_id, [self.name(key)], [])

    async def refresh(self, key: str, fetched: list[Transaction], *, is_file: bool) -> None:
        async with self.database.transaction(self.user_id) as connection:
            await self.merge(connection, key, fetched, is_file=is_file)

    async def refresh_at_once(
        self, first: tuple[str, list[Transaction]], second: tuple[str, list[Transaction]], number: int, limit: int
    ) -> None:
        """Two connections: the second begins before the first commits, and somebody reads between the two commits.

        A reader that pairs bookings waits for the second, which then commits first.
        """
        is_read = asyncio.Event()

        async def refresh_second() -> None:
            async with self.database.transaction(self.user_id) as connection:
                await self.merge(connection, *second, is_file=False)
                await is_read.wait()

        async with self.database.transaction(self.user_id) as connection:
            await self.merge(connection, *first, is_file=False)
            waiting = asyncio.create_task(refresh_second())
            await asyncio.sleep(0.02)
        reading = asyncio.create_task(self.read(number, limit))
        await asyncio.wait([reading], timeout=0.1)
        is_read.set()
        await asyncio.gather(waiting, reading)

    async def delete(self, access_id: str) -> None:
        async with self.database.transaction(self.user_id) as connection:
            await delete_access_data(connection, self.user_id, access_id)

    async def correct(self, place: int, category: str, *, changes_existing: bool) -> None:
        async with self.database.connect(self.user_id) as connection:
            known = await transactions.load_transactions(connection, self.user_id, self.name("giro"), None)
        if known:
            row = sorted(known, key=lambda stored: stored.transaction.amount)[place % len(known)]
            await self.tagging.correct(
                self.principal,
                "a",
                self.name("giro"),
                row.id,
                category,
                changes_existing=changes_existing,
                creates_rule=changes_existing,
            )

    async def annotate(self, place: int, annotation: Annotation, correction: Correction | None = None) -> None:
        async with self.database.connect(self.user_id) as connection:
            known = await transactions.load_transactions(connection, self.user_id, self.name("giro"), None)
        if known:
            row = sorted(known, key=lambda stored: stored.transaction.amount)[place % len(known)]
            await self.updates.update(self.principal, "a", self.name("giro"), row.id, annotation, correction)

    async def split(self, place: int, euros: int | None) -> None:
        """Into so many euros and the rest, or no longer."""
        async with self.database.connect(self.user_id) as connection:
            known = await transactions.load_transactions(connection, self.user_id, self.name("giro"), None)
        if known:
            row = sorted(known, key=lambda stored: stored.transaction.amount)[place % len(known)]
            first = Decimal(-(euros or 0))
            amounts = () if euros is None else (first, row.transaction.amount - first)
            parts = tuple(Part(amount, "HOUSING_OTHER", {"systemName": "HOUSING_OTHER"}) for amount in amounts)
            change = Annotation(parts=parts)
            await self.updates.update(self.principal, "a", self.name("giro"), row.id, change, None)

    # Readers

    async def read(self, number: int, limit: int) -> bool:
        """One answer. True when there are more."""
        reader = self.readers[number]
        if reader.cursor is None or read_cursor(self.user_id, reader.cursor).progress is None:
            reader.begin()
        delta = await self.deltas.read(self.principal, reader.cursor, limit, reader.view)
        async with self.database.connect(self.user_id) as connection:
            version = await read_version(connection, self.user_id)
            cursor = await connection.execute(VERSIONS[bool(reader.view.columns)], [self.user_id])
            versions = {str(key): value for key, value in await cursor.fetchall()}
        told = {str(row[1]) for _, row in (*delta.new, *delta.changed)}
        reached = read_cursor(self.user_id, delta.cursor)
        until = reached.version if reached.progress is None else reached.progress.until
        reader.take(delta, {key: versions[key] for key in told & set(versions)}, is_moved=version > until)
        return delta.has_more

    async def finish(self, number: int, limit: int) -> None:
        """Read until there is no more, and once more: then nothing is told."""
        while await self.read(number, limit):
            pass
        while await self.read(number, limit):  # what had changed during the first
            pass
        delta = await self.deltas.read(self.principal, self.readers[number].cursor, limit, self.readers[number].view)
        assert (delta.new, delta.changed, delta.removed, delta.has_more) == ([], [], [], False)
        assert delta.cursor == self.readers[number].cursor

    async def check(self, number: int) -> None:
        """The replica equals the lists."""
        reader = self.readers[number]
        assert reader.rows == await self.list_rows(reader)
        if reader.view.product_id is None:
            assert reader.rows == await self.list_placed(reader)

    async def list_rows(self, reader: Reader) -> dict[str, Any]:
        """What the list says, by way of the list's own queries and the rule of pairs."""
        found: dict[str, Any] = {}
        hidden: set[str] = set()
        async with self.database.connect(self.user_id) as connection:
            stored = await products.list_products(connection, self.user_id)
            for product in stored:
                if reader.view.product_id in (None, product.id):
                    rows, _ = await tag_views.list_tag_rows(
                        connection, self.user_id, product.id, Window(limit=1000), FIELDS, CATEGORY
                    )
                    for row in rows:
                        shown = json.loads(row[0])
                        if reader.view.product_id is None:
                            shown |= {"zugangId": product.access_id, "produktId": str(product.id)}
                        found[str(row[1])] = (shown, *(row[2:] if reader.view.columns else ()))
            if reader.view.product_id is None:
                for shared in await load_shared(connection, self.user_id, stored):
                    hidden |= set(find_repeated(shared.ledgers))
        return {key: row for key, row in found.items() if key not in hidden}

    async def list_placed(self, reader: Reader) -> dict[str, Any]:
        """What the list over all accounts says, in pages."""
        found: dict[str, Any] = {}
        position: CustomerPosition | None = None
        while not found or position is not None:
            rows, position = await self.of_customer.list_page(
                self.principal, CustomerFilters(), position, 4, reader.view.fields, reader.view.columns
            )
            assert not found.keys() & {str(row[1]) for _, row in rows}
            found |= {str(row[1]): show(row) for _, row in rows}
            if not rows:
                break
        return found


def add_user(owner: psycopg.Connection[Any]) -> Principal:
    tenant_id, key_id, user_id, pseudonym = uuid4(), uuid4(), uuid4(), uuid4()
    owner.execute(
        "insert into tenants (id, name, is_regulated, allowed_scopes) values (%s, %s, true, '{}')",
        [tenant_id, str(tenant_id)],
    )
    # Services that start on a database that others use refuse a key of another master key.
    owner.execute(
        "insert into tenant_keys (id, tenant_id, kind, sealed)"
        " select %s, %s, 'wrapping', coalesce((select sealed from tenant_keys limit 1), '')",
        [key_id, tenant_id],
    )
    owner.execute(
        "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
        " values (%s, %s, 'anna', '', %s, '', %s)",
        [user_id, tenant_id, pseudonym, key_id],
    )
    nobody = Principal(tenant_id, str(tenant_id), True, uuid4(), "app", frozenset())
    return replace(nobody, user_id=user_id, user_pseudonym=pseudonym)


class Stage:
    """One event loop and one pool for all examples; each has a user of its own."""

    def __init__(self, own):
        self.runner = asyncio.Runner()
        self.database = Database(own.database_url, 6, "test replicas")
        self.runner.run(self.database.open())
        self.compute = Compute()
        self.owner = psycopg.connect(own.migration_database_url.reveal(), autocommit=True)

    def add_user(self) -> "ReplicatedUser":
        return ReplicatedUser(self.database, add_user(self.owner), self.compute)

    def run(self, task):
        return self.runner.run(task)

    def close(self):
        self.runner.run(self.database.close())
        self.runner.close()
        self.owner.close()

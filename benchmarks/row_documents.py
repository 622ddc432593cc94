"""What storing costs under row-level security: `python -m benchmarks.row_documents` (docs/benchmarks/row-security.md).

PostgreSQL refuses `copy` into such tables, so Kontor sends a JSON document. In turn, round by round: `copy` with the
owner's role, and the document with the application's. Each round stores the same rows in a product of its own.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from benchmarks.environment import BenchmarkEnvironment, open_database
from kontor.domain.accesses import make_product_id
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction
from kontor.logs import configure_logs
from kontor.storage import accesses, products, transactions
from kontor.storage.database import Connection, Database
from kontor.storage.transactions import FIELDS, insert_transactions

ROUNDS, ROWS = 15, 4500
TODAY = date(2026, 11, 1)
COPY = (
    "copy transactions (user_id, product_id, id, booked_on, ordinal, batch_id, created_version, changed_version,"
    f" {FIELDS}) from stdin"
)
Write = Callable[[Connection, UUID, UUID, list[Transaction]], Awaitable[None]]


def make_row(number: int) -> Transaction:
    return Transaction(
        amount=Decimal("-12.34") - number,
        currency="EUR",
        booked_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number % 7000),
        value_at=datetime(2026, 1, 2, tzinfo=UTC),
        purpose=f"EREF+ABC{number} MREF+X SVWZ+Einkauf bei Markt Nummer {number} 2026-01-01 Karte 1",
        booking_text="KARTENZAHLUNG",
        gv_code="106",
        prima_nota="9310",
        counterparty_name=f"Markt {number} GmbH & Co. KG",
        counterparty_iban="DE89370400440532013000",
        counterparty_bic="COBADEFFXXX",
    )


async def copy_rows(connection: Connection, user_id: UUID, product_id: UUID, rows: list[Transaction]) -> None:
    async with connection.cursor().copy(COPY) as copy:
        for number, row in enumerate(rows):
            values = transactions._values(row)
            await copy.write_row((user_id, product_id, uuid4(), TODAY, number, None, 1, 1, *values))


async def send_document(connection: Connection, user_id: UUID, product_id: UUID, rows: list[Transaction]) -> None:
    await insert_transactions(connection, user_id, product_id, rows, TODAY)


async def measure(database: Database, user_id: UUID, key: str, write: Write) -> tuple[float, float]:
    """Elapsed seconds, and seconds of this process."""
    product_id = make_product_id(user_id, "bench", key)
    async with database.transaction(user_id) as connection:
        product = Product(key, ProductCategory.CHECKING, "Konto", "", "EUR")
        await products.upsert_product(connection, user_id, product_id, "bench", 0, product)
    rows = [make_row(number) for number in range(ROWS)]
    started, busy = time.perf_counter(), time.process_time()
    async with database.transaction(user_id) as connection:
        await write(connection, user_id, product_id, rows)
    return time.perf_counter() - started, time.process_time() - busy


async def main() -> None:
    configure_logs("error", "json")
    with open_database() as settings:
        async with BenchmarkEnvironment(settings) as environment:
            assert settings.migration_database_url is not None
            owner = Database(settings.migration_database_url, 1, "kontor bench owner")
            await owner.open()
            user_id = (await environment.add_customer()).id
            async with environment.services.database.transaction(user_id) as connection:
                await accesses.insert_access(
                    connection, user_id, "bench", UUID(int=0), is_synced=True, selected_products=None
                )
            sides = {"copy": (owner, copy_rows), "document": (environment.services.database, send_document)}
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
            for number in range(ROUNDS):
                for name, (database, write) in sides.items():
                    found[name].append(await measure(database, user_id, f"{name}-{number}", write))
            await owner.close()
    for name, figures in found.items():
        elapsed, busy = (statistics.median(values) * 1000 for values in zip(*figures, strict=True))
        print(f"| {name} | {elapsed:.0f} | {busy:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())

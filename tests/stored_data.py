"""A user's rows, written by the functions of `storage`: one account in two accesses, another one, bookings and tags."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.products import Product, ProductCategory
from kontor.domain.tags import TransactionTags
from kontor.domain.transactions import Transaction
from kontor.storage import accesses, products, tags, transactions
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database
from kontor.storage.tags import TaggedRow

PROVIDER = UUID(int=0)
TODAY = date(2026, 11, 15)
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
GIRO = Product(
    "giro", ProductCategory.CHECKING, "Girokonto", "Anna Muster", "EUR",
    account_number="532013000", iban="DE89 3704 0044 0532 0130 00", bank_code="37040044",
    balance=Decimal("100.00"), balance_at=NOON,
)  # fmt: skip
# The same account in another access. Without an IBAN: it follows from bank code and number.
TWIN = replace(GIRO, key="twin", name="Konto", iban=None, balance=Decimal("200.00"))
SAVINGS = replace(GIRO, key="savings", category=ProductCategory.SAVINGS, account_number="4711", iban=None)
TAGS = TransactionTags("LIVING_GROCERIES", "UNRELATED_OTHER", "UNKNOWN", "UNRELATED", 0.9, 1.0, 0.5, 1.0)
ROWS = (
    Transaction(Decimal("-23.45"), "EUR", NOON, counterparty_name="REWE SAGT DANKE", purpose="Einkauf"),
    Transaction(Decimal("-61.20"), "EUR", NOON, counterparty_name="ARAL AG", purpose="Tankstelle"),
    Transaction(Decimal("-4.00"), "EUR", NOON, counterparty_name="Kiosk", purpose="Zeitung"),
)
TWINS = (replace(ROWS[0], purpose="EINKAUF"),)


@dataclass
class StoredUser:
    """`rows` are those of the account in access `a`, in the order of `ROWS`. The last one has no tags."""

    database: Database
    user_id: UUID
    giro: UUID = field(init=False)
    twin: UUID = field(init=False)
    savings: UUID = field(init=False)
    rows: list[TaggedRow] = field(init=False)

    def __post_init__(self) -> None:
        self.giro = make_product_id(self.user_id, "a", GIRO.key)
        self.twin = make_product_id(self.user_id, "b", TWIN.key)
        self.savings = make_product_id(self.user_id, "a", SAVINGS.key)

    async def store(self) -> None:
        user = self.user_id
        async with self.database.transaction(user) as connection:
            for access_id in ("a", "b", "empty"):
                await accesses.insert_access(
                    connection, user, access_id, PROVIDER, is_synced=True, selected_products=None
                )
                await accesses.set_status(connection, user, access_id, AccessStatus.COMPLETE)
            await products.upsert_product(connection, user, self.giro, "a", 0, GIRO)
            await products.upsert_product(connection, user, self.savings, "a", 1, SAVINGS)
            await products.upsert_product(connection, user, self.twin, "b", 0, TWIN)
            await products.set_products_seen(connection, user, [self.giro, self.savings, self.twin], [])
            await transactions.insert_transactions(connection, user, self.giro, ROWS, TODAY)
            await transactions.insert_transactions(connection, user, self.twin, TWINS, TODAY)
            untagged = await tags.list_untagged(connection, user)
            names = [row.counterparty_name for row in ROWS]
            own = [row for row in untagged if row.product_id == self.giro]
            self.rows = sorted(own, key=lambda row: names.index(row.transaction.counterparty_name))
            tagged = [row for row in untagged if row is not self.rows[-1]]
            await tags.insert_tags(connection, user, "1", [(row, TAGS) for row in tagged])

    async def version(self) -> int:
        async with self.database.connect(self.user_id) as connection:
            return await read_version(connection, self.user_id)

    async def set_looks(self, connection: Connection, giro: str, twin: str) -> None:
        """When the two accesses were last looked at: SQL expressions. Within a transaction `now()` stands still."""
        for product_id, at in ((self.giro, giro), (self.savings, giro), (self.twin, twin)):
            await connection.execute(
                f"update products set updated_at = {at} where user_id = %s and id = %s", [self.user_id, product_id]
            )

"""Tenants that know merchants, and users who pay them."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg

from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.principals import Principal
from kontor.domain.products import Product, ProductCategory
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.domain.transactions import Transaction
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.storage import accesses, products, tags, transactions

GIRO = Product("giro", ProductCategory.CHECKING, "Girokonto", "Mia Canarius", "EUR", balance=Decimal("1.00"))
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
TODAY = date(2026, 11, 15)
# Shops that the tagger does not know, and a category that a model may name.
SHOP, OTHER = "ZIRBELGLUECK", "NORDWIND ATELIER"
CATEGORY = "RECREATION_HOBBY"


def pay(shop: str, amount: str = "-12.30", **fields: object) -> Transaction:
    """By card, at a shop that the tagger does not know."""
    return Transaction(
        Decimal(amount), "EUR", NOON, purpose=f"{shop}//Celle/DE", booking_text="Kartenzahlung", **fields
    )


@dataclass
class Payer:
    services: object
    principal: Principal

    @property
    def product_id(self) -> UUID:
        return make_product_id(self.principal.user_id, "a", "giro")

    async def store(self, *rows: Transaction) -> None:
        """And tag them, as a fetch does."""
        user_id = self.principal.user_id
        async with self.services.database.transaction(user_id) as connection:
            await transactions.insert_transactions(connection, user_id, self.product_id, rows, TODAY)
            await self.services.transaction_tagging.retag_changed(connection, user_id)

    async def read(self) -> dict[str, object]:
        """Rows by the shop in their purpose."""
        user_id = self.principal.user_id
        async with self.services.database.connect(user_id) as connection:
            cursor = await connection.execute("select id from transactions where user_id = %s", [user_id])
            ids = [row[0] for row in await cursor.fetchall()]
            rows = await tags.list_tagged(connection, user_id, self.product_id, ids)
        return {row.transaction.purpose.partition("//")[0]: row for row in rows}

    async def categories(self) -> dict[str, tuple[str, float]]:
        return {
            shop: (row.tags.category, round(row.tags.category_confidence, 2))
            for shop, row in (await self.read()).items()
        }

    async def retag(self) -> None:
        while await self.services.transaction_tagging.retag_step(self.principal.user_id):
            pass

    async def explain(self, shop: str):
        row = (await self.read())[shop]
        found = await self.services.transaction_tagging.explain(self.principal, self.product_id, [row.id])
        return found[row.id]


@dataclass
class Tenant:
    services: object
    name: str
    principal: Principal

    async def add_payer(self, *rows: Transaction) -> Payer:
        new = await self.services.users.create_user_by_operator(
            self.name, NewUser(f"user-{uuid4().hex[:12]}", Secret("password"))
        )
        payer = Payer(self.services, replace(self.principal, user_id=new.id, user_pseudonym=new.pseudonym))
        async with self.services.database.transaction(new.id) as connection:
            await accesses.insert_access(connection, new.id, "a", UUID(int=0), is_synced=True, selected_products=None)
            await accesses.set_status(connection, new.id, "a", AccessStatus.COMPLETE)
            await products.upsert_product(connection, new.id, payer.product_id, "a", 0, GIRO)
        await payer.store(*rows)
        return payer

    async def switch(self, is_on: bool) -> None:
        await self.services.tenant_administration.change_tenant(self.name, asks_model=is_on)

    async def list(self) -> dict[str, object]:
        found = await self.services.tenant_merchants.list_merchants(self.principal, None, "", 1000)
        return {merchant.merchant: merchant for merchant in found}


async def make_tenant(services, owner, *, name: str | None = None, is_on: bool = True) -> Tenant:
    name = name or f"t-{uuid4().hex[:12]}"
    await services.tenant_administration.create_tenant(new_tenant(name, is_regulated=True, scopes=ALL_SCOPES))
    await services.tenant_administration.create_client(name, "app", ClientKind.USER, MANAGEMENT_SCOPES)
    query = "select c.tenant_id, c.id from clients c join tenants t on t.id = c.tenant_id where t.name = %s"
    tenant_id, client_id = owner.execute(query, [name]).fetchone()
    principal = Principal(tenant_id, name, True, client_id, "app", frozenset(ALL_SCOPES))
    tenant = Tenant(services, name, principal)
    if is_on:
        await tenant.switch(True)
    return tenant


def be_due_again(owner: psycopg.Connection) -> None:
    owner.execute("update users set merchants_checked_at = null")
    owner.execute("update tenant_merchants set due_at = now() - interval '1 second'")

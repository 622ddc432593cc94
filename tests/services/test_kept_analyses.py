"""Answers of analyses are kept while nothing has changed that they read, and no longer."""

import pickle
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

import pytest
from psycopg import sql
from refresh_harness import RefreshHarness

from kontor import bootstrap
from kontor.analysis.records import Record
from kontor.domain.annotations import Annotation
from kontor.domain.merging import StoredTransaction
from kontor.domain.parts import Part
from kontor.domain.products import ProductCategory
from kontor.domain.tags import TagSource
from kontor.services.accesses import delete_access_data
from kontor.services.analyses.analyses import Facts
from kontor.storage import analyses, annotations, products, tags, transactions
from kontor.storage.database import Connection
from kontor.storage.migrate import find_role
from stored_data import GIRO, NOON, ROWS, TAGS, TODAY, TWIN, StoredUser

READ = ("products", "transactions", "transaction_tags", "accesses", "contracts", "contract_states")
ABOUT_ANSWERS = ("analysis_results", "data_versions", "tagging_states", "users")
Change = Callable[[Connection, StoredUser], Awaitable[object]]


@dataclass
class Asking:
    """A user whose answers are all that analyses are told: accounts and bookings, duplicates joined."""

    harness: RefreshHarness
    user: StoredUser

    async def ask(self) -> bytes:
        return await self.harness.services.analyses.answer(self.harness.principal, "all facts", pickle.dumps)

    async def read(self) -> Facts:
        facts = pickle.loads(await self.ask())
        assert isinstance(facts, Facts)
        return facts

    async def change(self, change: Change) -> None:
        """As services do: what has no tags afterwards is tagged in the same transaction."""
        async with self.user.database.transaction(self.user.user_id) as connection:
            await change(connection, self.user)
            await self.harness.services.transaction_tagging.retag_changed(connection, self.user.user_id)


@pytest.fixture
async def asking(refreshing, refresh_bank):
    user = StoredUser(refreshing.services.database, refreshing.user_id)
    await user.store()
    asking = Asking(refreshing, user)
    await asking.change(look("now() - interval '2 seconds'", "now() - interval '1 second'"))
    return asking


def change_product(**facts):
    product = replace(GIRO, **facts)
    return lambda connection, user: products.upsert_product(connection, user.user_id, user.giro, "a", 0, product)


def change_twin(**facts):
    product = replace(TWIN, **facts)
    return lambda connection, user: products.upsert_product(connection, user.user_id, user.twin, "b", 0, product)


def change_row(number=1, **facts):
    def change(connection, user):
        changed = [StoredTransaction(user.rows[number].id, replace(ROWS[number], **facts))]
        return transactions.update_transactions(connection, user.user_id, user.giro, changed, TODAY)

    return change


def change_tags(number=1, **facts):
    return lambda connection, user: tags.update_tags(
        connection, user.user_id, "2", [(user.rows[number], replace(TAGS, **facts))]
    )


def look(giro, twin):
    return lambda connection, user: user.set_looks(connection, giro, twin)


def see(connection, user):
    return products.set_products_seen(connection, user.user_id, [user.giro, user.savings], [])


def delete_row(connection, user):
    return transactions.delete_transactions(connection, user.user_id, user.giro, [user.rows[1].id])


def add_row(connection, user):
    return transactions.insert_transactions(connection, user.user_id, user.giro, [replace(ROWS[1], purpose="2")], TODAY)


def forget_tags(connection, user):
    return tags.forget_tags(connection, user.user_id, user.giro, [user.rows[1].id])


def split_row(connection, user):
    half = Part(ROWS[1].amount / 2, "LIVING_OTHER", {"systemName": "LIVING_OTHER"})
    rows = [(user.giro, user.rows[1].id)]
    return annotations.annotate(connection, user.user_id, rows, Annotation(parts=(half, half)))


def keep_giro(connection, user):
    return products.delete_other_products(connection, user.user_id, "a", [user.giro])


def delete_access(connection, user):
    return delete_access_data(connection, user.user_id, "b")


# By what they change; columns of `analyses.RECORDS` by their names.
CHANGES = {
    "product.category": change_product(category=ProductCategory.SAVINGS),
    "product.name": change_product(name="Neu"),
    "product.holder": change_product(holder="Bert Muster"),
    "product.iban": change_product(iban="DE02 1203 0000 0000 2020 51"),
    "product.currency": change_product(currency="CHF"),
    "product.balance": change_product(balance=Decimal("7.00")),
    "product.balance_at": change_product(balance_at=NOON.replace(day=9)),
    "product.balance of a file": lambda connection, user: products.set_newer_balance(
        connection, user.user_id, user.giro, replace(GIRO, balance=Decimal("7.00"), balance_at=NOON.replace(day=9))
    ),
    "product.bank_code": change_twin(bank_code="12030000"),
    "product.account_number": change_twin(account_number="202051"),
    "products": keep_giro,
    "accesses": delete_access,
    "t.id": add_row,
    "t.product_id": delete_row,
    "t.booked_on": change_row(booked_at=NOON.replace(day=5)),
    "t.amount": change_row(amount=Decimal("-1.00")),
    "t.currency": change_row(currency="CHF"),
    "t.purpose": change_row(purpose="Neu"),
    "t.booking_text": change_row(booking_text="Neu"),
    "t.gv_code": change_row(gv_code="116"),
    "t.counterparty_name": change_row(counterparty_name="Neu"),
    "t.counterparty_iban": change_row(counterparty_iban="DE02120300000000202051"),
    "t.counterparty_bic": change_row(counterparty_bic="BYLADEM1001"),
    "t.ultimate_counterparty": change_row(ultimate_counterparty="Neu"),
    "t.is_pending": change_row(is_pending=True),
    "t.parts": split_row,
    "g.category": change_tags(category="HOUSING_RENT"),
    "g.insurance_type": change_tags(insurance_type="CAR"),
    "g.partner": change_tags(partner="ARAL"),
    "g.freelancer_category": change_tags(freelancer_category="TRAVEL"),
    "g.source": change_tags(number=0, category="HOUSING_RENT", source=TagSource.USER),
    "g.learnt_from": change_tags(learnt_from=UUID(int=1)),
    "g.own_category": change_tags(own_category="X_0123456789AB"),
    "g.transaction_id": forget_tags,
}  # fmt: skip


def test_every_column_that_analyses_read_has_a_change():
    read = set(re.findall(r"\b[tg]\.\w+", analyses.RECORDS)) - {"g.product_id"}  # the same as the transaction's
    assert len(read) > 15
    assert read - set(CHANGES) == set()


async def test_a_booking_is_read_with_every_field_of_a_record(asking):
    """A field that the statement leaves out would have its default, and nobody would notice."""
    async with asking.user.database.connect(asking.user.user_id) as connection:
        rows = await analyses.load_bookings(connection, asking.user.user_id)
    assert {len(row) for row in rows} == {len(Record.__struct_fields__)}


async def test_analyses_read_no_other_table(asking, refresh_settings):
    """Positions and tagging rules, for one. Of an access they read the provider, which never changes."""
    owner, role = asking.harness.owner, sql.Identifier(find_role(refresh_settings.database_url))
    owner.execute(sql.SQL("revoke select on all tables in schema public from {}").format(role))
    try:
        read = sql.SQL(", ").join(map(sql.Identifier, (*READ, *ABOUT_ANSWERS)))
        owner.execute(sql.SQL("grant select on {} to {}").format(read, role))
        facts = await asking.read()
    finally:
        bootstrap.migrate_database(refresh_settings)  # with all rights
    assert len(facts.accounts) == 2, "the third is a duplicate, so that bookings were compared too"
    assert len(facts.records) == len(ROWS)


@pytest.mark.parametrize("name", CHANGES)
async def test_a_kept_answer_ends_with_a_change_of(asking, name):
    await asking.ask()
    await asking.change(CHANGES[name])
    facts = await asking.read()
    assert facts == await asking.harness.services.analyses.load_facts_by_operator(asking.user.user_id)


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "g.transaction_id"])
async def test_analyses_do_read(asking, name):
    """Otherwise the test above would prove nothing. Where tags are deleted, the same ones follow."""
    before = await asking.read()
    await asking.change(CHANGES[name])
    assert await asking.read() != before


# Looks at a product that find nothing new


async def test_a_kept_answer_ends_with_the_first_look_of_a_day(asking):
    """Analyses say until which day there is data."""
    await asking.change(look("now() - interval '3 days'", "now() - interval '4 days'"))
    before = await asking.read()
    await asking.change(see)
    after = await asking.read()
    assert max(account.data_until for account in after.accounts) > max(
        account.data_until for account in before.accounts
    )


async def test_a_kept_answer_ends_with_a_look_that_makes_another_product_the_freshest(asking):
    """Both products are one account, with balances of the same day: the fresher one says what the balance is."""
    before = await asking.read()
    await asking.change(see)
    after = await asking.read()
    assert [TWIN.balance in [account.balance for account in facts.accounts] for facts in (before, after)] == [1, 0]
    assert after == await asking.harness.services.analyses.load_facts_by_operator(asking.user.user_id)


async def test_an_answer_is_kept_through_looks_that_change_nothing(asking):
    """What was kept is marked: it is still what is answered."""
    async with asking.user.database.transaction(asking.user.user_id) as connection:
        await look("now()", "now() - interval '1 second'")(connection, asking.user)
    await asking.ask()
    marked = asking.harness.owner.execute(
        "update analysis_results set answer = 'marked' where user_id = %s", [asking.user.user_id]
    )
    assert marked.rowcount == 1
    async with asking.user.database.transaction(asking.user.user_id) as connection:
        await look("now()", "now() - interval '1 second'")(connection, asking.user)
        await see(connection, asking.user)
    assert await asking.ask() == b"marked"

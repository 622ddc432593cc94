"""Contracts keep their ids through whatever happens to their bookings, also when several analyses find them at once."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import psycopg
import pytest
from replicas import ReplicatedUser, add_user

from kontor.domain.clocks import BERLIN
from kontor.domain.transactions import Transaction
from kontor.services.analyses import Analyses
from kontor.services.compute import Compute
from kontor.services.runtime import Clock
from kontor.storage import contracts, transactions
from kontor.storage.data_versions import increment_version, lock_data
from kontor.storage.database import Database

TODAY = datetime(2026, 11, 15, 12, tzinfo=UTC)
MONTHS = range(1, 11)


class FixedClock(Clock):
    def now(self):
        return TODAY

    def today(self):
        return TODAY.astimezone(BERLIN).date()


@pytest.fixture
async def user(own):
    database = Database(own.database_url, 8, "test kept contracts")
    await database.open()
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        principal = add_user(owner)
    yield ContractUser(database, principal, Compute())
    await database.close()


def describe_contracts(facts):
    """As an analysis writes its answer: id, transactions and period of each contract."""
    found = [(contract.id, contract.transaction_ids, contract.period) for contract in facts.contracts]
    return json.dumps(found).encode()


def pay(month, name="Hausverwaltung Meier", purpose="Miete Wohnung 12", amount="-900", channel="XS2A"):
    at = datetime(2026, month, 2, 11, tzinfo=UTC)
    return Transaction(
        Decimal(amount), "EUR", at, at, purpose=purpose, counterparty_name=name,
        counterparty_iban="DE02120300000000202051", booking_text="DAUERAUFTRAG", channel=channel,
    )  # fmt: skip


class ContractUser(ReplicatedUser):
    """A user whose account `giro` shows a rent."""

    def __init__(self, database, principal, compute):
        super().__init__(database, principal, compute)
        self.analyses = Analyses(database, FixedClock(), self.tagging, compute)

    async def find(self, question="contracts"):
        """Id and transactions of each contract."""
        found = json.loads(await self.analyses.answer(self.principal, question, describe_contracts))
        return {contract_id: rows for contract_id, rows, _ in found}

    async def find_one(self):
        [contract_id] = await self.find()
        return contract_id

    async def read_stored(self):
        async with self.database.connect(self.user_id) as connection:
            return await contracts.list_known(connection, self.user_id)

    async def read_periods(self):
        """Of all rows by product, in the order of their ids."""
        async with self.database.connect(self.user_id) as connection:
            cursor = await connection.execute(
                "select product_id, array_agg(period order by transaction_id) from transaction_tags where user_id = %s"
                " group by product_id",
                [self.user_id],
            )
            return dict(await cursor.fetchall())

    async def rename_rows(self, name):
        async with self.database.transaction(self.user_id) as connection:
            stored = await transactions.load_transactions(connection, self.user_id, self.name("giro"), None)
            renamed = [
                replace(row, transaction=replace(row.transaction, counterparty_name=name, counterparty_iban=None))
                for row in stored
            ]
            await transactions.update_transactions(connection, self.user_id, self.name("giro"), renamed, TODAY.date())

    async def delete_rows(self, months):
        async with self.database.transaction(self.user_id) as connection:
            stored = await transactions.load_transactions(connection, self.user_id, self.name("giro"), None)
            gone = [row.id for row in stored if row.transaction.booked_at.month in months]
            await transactions.delete_transactions(connection, self.user_id, self.name("giro"), gone)


async def test_the_id_stays_while_half_of_the_bookings_stay_and_goes_with_more(user):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=True)
    first = await user.find_one()
    await user.delete_rows(range(1, 6))
    assert await user.find_one() == first
    await user.refresh("giro", [pay(month) for month in (11,)], is_file=True)
    assert await user.find_one() == first
    await user.delete_rows(range(6, 10))
    await user.refresh("giro", [pay(month) for month in (1, 2, 3)], is_file=True)
    assert await user.find_one() != first


async def test_the_id_stays_over_new_names_and_corrected_categories(user):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=True)
    first = await user.find_one()
    await user.rename_rows("Meier Immobilien GmbH")
    assert await user.find_one() == first
    await user.correct(0, "LIVING_OTHER", changes_existing=True)
    assert await user.find_one() == first


async def test_the_id_stays_when_another_access_reports_the_account_and_when_the_first_one_goes(user):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=False)
    first, rows = next(iter((await user.find()).items()))
    await user.refresh("twin", [pay(month, channel="FINTS") for month in MONTHS], is_file=False)
    both = await user.find()
    assert list(both) == [first]
    assert set(both[first]).isdisjoint(rows), "the freshest access reports them now"
    assert set(map(len, (await user.read_stored())[0].bookings)) == {2}
    await user.delete("a")
    assert await user.find() == both


async def test_rows_that_repeat_a_booking_have_the_period_of_its_contract(user):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=False)
    await user.refresh("twin", [pay(month, channel="FINTS") for month in MONTHS], is_file=False)
    await user.find()
    both = dict.fromkeys((user.name("giro"), user.name("twin")), ["MONTH_ONE"] * len(MONTHS))
    assert await user.read_periods() == both


async def test_a_contract_goes_with_its_last_booking(user):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=False)
    await user.find()
    assert len(await user.read_stored()) == 1
    await user.delete("a")
    assert await user.read_stored() == []
    assert await user.find() == {}


async def test_analyses_at_the_same_time_give_a_contract_one_id(user):
    """Each from a service of its own, as in several processes, while data changes between them."""
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=True)
    others = [Analyses(user.database, FixedClock(), user.tagging, Compute()) for _ in range(4)]
    for step in range(3):
        # The first payment is another one each time: the id would follow it, were it not kept.
        await user.refresh("giro", [pay(month, amount=f"-{899 - step}") for month in range(1, 3 + step)], is_file=True)
        tasks = [
            analyses.answer(user.principal, f"{step} {number}", describe_contracts)
            for number, analyses in enumerate(others)
        ]
        found = [json.loads(answer) for answer in await asyncio.gather(*tasks)]
        assert all(answer == found[0] for answer in found)
        stored = await user.read_stored()
        assert len(stored) == len({contract.id for contract in stored})
        assert {contract.id for contract in stored if contract.is_found} == {contract[0] for contract in found[0]}


async def test_data_that_changes_all_the_time_is_locked_in_the_end(user, monkeypatch):
    await user.refresh("giro", [pay(month) for month in MONTHS], is_file=True)
    kept = user.analyses._contracts
    run, changes = kept._compute.run, 0

    async def run_and_change(*arguments, **options):
        nonlocal changes
        found = await run(*arguments, **options)
        if changes < 2:
            changes += 1
            async with user.database.transaction(user.user_id) as connection:
                await lock_data(connection, user.user_id)
                await increment_version(connection, user.user_id)
        return found

    monkeypatch.setattr(kept, "_compute", type("Changing", (), {"run": staticmethod(run_and_change)})())
    await user.analyses.update_contracts(user.principal)
    assert changes == 2
    assert len(await user.read_stored()) == 1

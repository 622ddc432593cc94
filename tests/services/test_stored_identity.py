"""Bookings that come again through PostgreSQL: nothing is stored twice, whatever days a bank answers for."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from fake_bank import GIRO, NOON

from kontor.connectors.base import Done, Fetched
from kontor.domain.balances import make_span
from kontor.domain.transactions import Transaction

OLD = tuple(
    Transaction(Decimal("-4.50"), "EUR", NOON - timedelta(60 - day), purpose=f"Kaffee {day}", channel="XS2A")
    for day in range(3)
)
NEW = Transaction(Decimal("-9.00"), "EUR", NOON, purpose="Mittagessen", channel="XS2A")


def serve(bank, rows, spans=()):
    bank.products, bank.transactions, bank.positions = (GIRO,), {"giro": tuple(rows)}, {}
    done = Done(Fetched({"giro": tuple(rows)}, spans={"giro": tuple(spans)}), {"known": True})
    bank.resume = lambda *_: bank._answer("resume", bank.on_resume, None, done)


def read(harness, table, columns):
    query = f"select {columns} from {table} where user_id = %s order by 1"
    return harness.owner.execute(query, [harness.user_id]).fetchall()


@pytest.fixture
def webhook(refreshing):
    """A receiver of the tenant's events; nobody calls it here."""
    tenant_id = refreshing.principal.tenant_id
    key = refreshing.owner.execute(
        "select id from tenant_keys where tenant_id = %s order by id limit 1", [tenant_id]
    ).fetchone()
    refreshing.owner.execute(
        "insert into webhooks (id, tenant_id, url, events, wrapping_key_id, secrets)"
        " values (gen_random_uuid(), %s, 'https://receiver.example', array['transactions.new'], %s, 'x')",
        [tenant_id, key[0]],
    )
    yield
    refreshing.owner.execute("delete from webhooks where tenant_id = %s", [tenant_id])


@pytest.mark.usefixtures("webhook")
async def test_rows_before_the_day_that_was_asked_for_are_neither_stored_nor_told_twice(refreshing, refresh_bank):
    """A bank that ignores the start date answers everything; one that filters by value date answers some of it."""
    serve(refresh_bank, [*OLD, NEW])
    await refreshing.add()
    before = read(refreshing, "transactions", "id, amount")
    assert len(before) == 4
    await refreshing.refresh_at_slot()
    assert refresh_bank.jobs[-1].since["giro"] > OLD[-1].booked_at.date(), "the bank was asked for the newest days only"
    assert read(refreshing, "transactions", "id, amount") == before
    assert read(refreshing, "webhook_deliveries", "type, products") == []
    serve(refresh_bank, [*OLD, NEW, replace(NEW, amount=Decimal("-1.00"), purpose="Trinkgeld")])
    await refreshing.refresh_at_slot()
    (told,) = read(refreshing, "webhook_deliveries", "type, products")
    assert (told[0], len(read(refreshing, "transactions", "id, amount"))) == ("transactions.new", 5)


async def test_a_booking_whose_value_is_later_than_its_day_is_stored_once(refreshing, refresh_bank):
    late = replace(OLD[0], value_at=NOON)
    serve(refresh_bank, [late, NEW])
    await refreshing.add()
    serve(refresh_bank, [replace(late, purpose="KAFFEE 0"), NEW])
    await refreshing.refresh_at_slot()
    purposes = Counter(row[1] for row in read(refreshing, "transactions", "id, purpose"))
    assert purposes == {"KAFFEE 0": 1, "Mittagessen": 1}


async def test_a_gap_between_balances_and_bookings_is_noted_and_goes_when_it_is_filled(refreshing, refresh_bank):
    span = make_span(Decimal("100.00"), Decimal("86.50"), "EUR", [OLD[0], NEW])
    missing = Transaction(Decimal("-4.50"), "EUR", NOON - timedelta(30), purpose="vergessen", channel="XS2A")

    def gaps():
        return [row[1] for row in read(refreshing, "products", "id, balance_gap->>'difference'")]

    serve(refresh_bank, [OLD[0], NEW], [make_span(Decimal("100.00"), Decimal("82.00"), "EUR", [OLD[0], NEW])])
    await refreshing.add()
    assert gaps() == ["-4.50"]
    serve(refresh_bank, [NEW])  # nothing is told about balances: the gap is still there
    await refreshing.refresh(is_attended=True)
    assert gaps() == ["-4.50"]
    serve(refresh_bank, [missing, NEW])
    await refreshing.refresh(is_attended=True)
    assert gaps() == [None]
    serve(refresh_bank, [OLD[0], NEW], [span])  # a balance that does not know the booking between
    await refreshing.refresh(is_attended=True)
    assert gaps() == ["4.50"]


async def test_newer_rows_of_a_file_do_not_hide_days_that_the_bank_has_not_told_yet(refreshing, refresh_bank):
    """A file of this month, pushed into an account that was fetched a year ago: the months between are asked for."""
    serve(refresh_bank, OLD)
    await refreshing.add()
    fetched_at = OLD[-1].booked_at
    refreshing.owner.execute("update accesses set updated_at = %s where user_id = %s", [fetched_at, refreshing.user_id])
    refreshing.owner.execute(
        "insert into transactions"
        " (user_id, product_id, id, booked_on, ordinal, amount, currency, booked_at, is_pending)"
        " select user_id, id, gen_random_uuid(), %s, 1000, -1, 'EUR', %s, false from products where user_id = %s",
        [NOON.date(), NOON, refreshing.user_id],
    )
    await refreshing.refresh_at_slot()
    assert refresh_bank.jobs[-1].since["giro"] < fetched_at.date()


# Tags


async def test_a_row_keeps_its_tags_when_only_its_channel_or_its_state_changes_and_loses_them_with_its_words(
    refreshing, refresh_bank
):
    """Rows of earlier versions have no channel; the first refresh writes it."""
    serve(refresh_bank, [replace(NEW, is_pending=True, counterparty_name="Kantine")])
    await refreshing.add()
    where = [refreshing.user_id]
    refreshing.owner.execute("update transactions set channel = null where user_id = %s", where)
    # The rule that gave this tag has been deleted since.
    decided = "set category = 'HOBBY_BOOKS', source = 'RULE'"
    refreshing.owner.execute(f"update transaction_tags {decided} where user_id = %s", where)
    final = replace(NEW, counterparty_name="Kantine", bank_id="4711", value_at=NOON)
    serve(refresh_bank, [final])
    await refreshing.refresh_at_slot()
    assert [row[1:] for row in read(refreshing, "transactions", "id, channel, bank_id")] == [("XS2A", "4711")]
    assert read(refreshing, "transaction_tags", "category, source") == [("HOBBY_BOOKS", "RULE")]
    serve(refresh_bank, [replace(final, purpose="Mittagessen im November")])
    await refreshing.refresh_at_slot()
    assert [row[0] for row in read(refreshing, "transaction_tags", "source")] == ["TAGGER"]

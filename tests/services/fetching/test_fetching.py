"""What a fetch asks for and stores, whatever the bank sends."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from fake_bank import DEPOT, GIRO, POSITIONS, ROWS, SAVINGS

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.sca import MediumClass, ScaMedium, ScaMethod
from kontor.services.accesses.requests import AccessRequest
from kontor.services.fetching.fetching import Outcome
from kontor.services.transactions.transactions import PushedTransaction
from kontor.storage import accesses

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)

# The whole of it


async def test_first_fetch_stores_products_transactions_and_positions(harness, bank):
    assert await harness.add() is Outcome.FINISHED
    view = await harness.view()
    assert view.access.status == "COMPLETE"
    assert [stored.product for stored in view.products] == [GIRO, SAVINGS, DEPOT]
    assert {str(stored.status) for stored in view.products} == {"COMPLETE"}
    assert len(harness.rows("transactions")) == 12
    assert len(harness.rows("positions")) == 1
    assert bank.calls == ["begin", "resume"]
    assert harness.owner.execute("select count(*) from credential_leases").fetchone() == (0,)


async def test_header_data_is_stored_before_the_rest_is_asked_for(harness, bank):
    seen = []
    bank.on_resume = lambda: seen.append((harness.rows("accesses", "status, 1"), len(harness.rows("products"))))
    await harness.add()
    assert seen == [([("HEADERS", 1)], 3)]


async def test_refresh_stores_nothing_before_its_end(harness, bank):
    await harness.add()
    before, seen = harness.data(), []
    bank.products = (replace(GIRO, balance=Decimal("9.00")), SAVINGS, DEPOT)
    bank.on_resume = lambda: seen.append(harness.data() == before)
    await harness.refresh()
    assert seen == [True]
    assert (await harness.view()).products[0].product.balance == Decimal("9.00")


# A failed refresh


@pytest.mark.parametrize("kind", FailureKind)
@pytest.mark.parametrize("moment", ["refusal", "refusal_at_the_end"])
async def test_failed_refresh_leaves_the_stored_data_byte_for_byte(harness, bank, kind, moment):
    await harness.add()
    before = harness.data()
    bank.products = (replace(GIRO, balance=Decimal("9.00")),)
    bank.transactions, bank.positions = {"giro": ROWS[:1]}, {}
    setattr(bank, moment, Failed(kind))
    await harness.refresh()
    assert harness.data() == before
    assert (await harness.view()).access.status == "COMPLETE"
    messages, issues = await harness.notices()
    assert len(issues) == 1
    is_told = kind in (FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED, FailureKind.INCOMPLETE_CREDENTIALS)
    assert messages == (issues if is_told else [])


async def test_connector_that_raises_is_an_internal_error_of_this_access_alone(harness, bank):
    bank.refusal = ValueError("a defect")
    await harness.add()
    assert await harness.notices() == ([], ["INTERNAL"])


async def test_next_success_clears_what_was_said_about_the_failure(harness, bank):
    bank.refusal = Failed(FailureKind.UNREACHABLE)
    await harness.add()
    assert await harness.notices() == ([], ["UNREACHABLE"])
    bank.refusal = None
    await harness.refresh()
    assert await harness.notices() == ([], [])


# What a bad bank sends


async def test_unstorable_parts_of_products_and_positions_do_not_stop_the_fetch(harness, bank):
    broken = replace(
        GIRO, name="Giro\x00konto", holder="A\ud800nna", balance=Decimal("NaN"), overdraft_limit=Decimal("1E+30")
    )
    bank.products = (broken, replace(SAVINGS, balance=Decimal(5), institution="x" * 9000), DEPOT)
    bank.positions = {"depot": (replace(POSITIONS[0], name="\x00Aktie", quantity=Decimal("Infinity")),)}
    await harness.add()
    view = await harness.view()
    assert view.access.status == "COMPLETE"
    giro, savings, _ = [stored.product for stored in view.products]
    assert (giro.name, giro.holder, giro.balance, giro.overdraft_limit) == ("Girokonto", "Anna", None, None)
    assert str(savings.balance) == "5.00"
    assert harness.rows("positions", "name, quantity") == [("Aktie", None)]


@pytest.mark.parametrize(
    "change",
    [
        {"currency": "EUR\n"},
        {"currency": '"x'},
        {"amount": Decimal("sNaN")},
        {"amount": Decimal("1E+19")},
        {"booked_at": ROWS[0].booked_at.replace(year=9999, month=12, day=31, hour=23)},
        {"value_at": ROWS[0].booked_at.replace(year=1)},
    ],
)
async def test_unstorable_row_is_left_out_and_said(harness, bank, change):
    bank.transactions = {"giro": (replace(ROWS[0], **change), *ROWS[1:])}
    await harness.add()
    assert len(harness.rows("transactions")) == 9
    assert await harness.notices() == ([], ["ACCESS_INCOMPLETE", "TRANSACTIONS"])


async def test_product_that_the_bank_no_longer_names_keeps_its_history(harness, bank):
    await harness.add()
    bank.products, bank.transactions, bank.positions = (GIRO,), {"giro": ROWS}, {}
    await harness.refresh()
    assert len((await harness.view()).products) == 3
    assert len(harness.rows("transactions")) == 12


# Pushed transactions are not the bank's


async def test_fetch_neither_changes_nor_removes_what_was_pushed(harness, bank):
    await harness.add()
    giro = (await harness.view()).products[0].id
    pushed = [PushedTransaction("b", row) for row in (ROWS[0], ROWS[9], replace(ROWS[0], purpose="pushed"))]
    await harness.services.transactions.push(harness.principal, "a", giro, pushed)
    own_rows = "select transactions::text from transactions where user_id = %s and batch_id is not null order by id"
    before = harness.owner.execute(own_rows, [harness.user_id]).fetchall()
    bank.transactions = {"giro": ROWS[:8], "spar": ()}
    await harness.refresh()
    assert harness.owner.execute(own_rows, [harness.user_id]).fetchall() == before
    assert len(harness.rows("transactions")) == 3 + 8 + 2


# Planning


async def test_selected_products_are_asked_for_alone_and_new_ones_are_fetched_too(harness, bank):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    await harness.refresh(request=AccessRequest(selected_products=(ids["giro"],)))
    assert bank.jobs[-1].selected == ("giro",)
    assert [stored.product.key for stored in (await harness.view()).products] == ["giro"]
    await harness.refresh(request=AccessRequest(selected_products=(ids["giro"], ids["spar"])))
    assert bank.jobs[-1].selected is None
    found = (await harness.view()).products
    assert [(stored.product.key, str(stored.status)) for stored in found] == [
        ("giro", "COMPLETE"),
        ("spar", "COMPLETE"),
    ]
    assert len(harness.rows("transactions")) == 12


async def test_fetch_of_recent_days_asks_from_some_weeks_before_the_newest_final_booking(harness, bank):
    await harness.add()
    posted = harness.post({"a": AccessRequest()}, refresh=True)
    fetch_id = await harness.queued()
    harness.owner.execute("update fetches set all_history = false where id = %s", [fetch_id])
    before = harness.rows("transactions", "id, purpose")
    await harness.services.fetching.run(fetch_id)
    await posted
    assert bank.jobs[-1].since == {"giro": date(2026, 10, 3), "spar": date(2026, 10, 3)}
    assert harness.rows("transactions", "id, purpose") == before


async def test_methods_and_media_of_a_consent_stay_where_a_fetch_tells_none(harness, bank):
    await harness.add()
    method = ScaMethod("901", "mockTAN")
    medium = ScaMedium("Mein Handy", MediumClass.MOBILE, NOON, NOON + timedelta(days=365))
    async with harness.services.database.transaction(harness.user_id) as connection:
        await accesses.store_sca_options(connection, harness.user_id, "a", [method], [medium], method)
    await harness.refresh()
    access = (await harness.view()).access
    assert (access.methods, access.media, access.active_method) == ((method,), (medium,), method)

"""Contracts by the client: what is set is read again, what is left out stays, and None resets."""

from datetime import date
from decimal import Decimal

import pytest

from banking import DEMO_BANK
from kontor_client import Batch, NewTransaction


def make_rent(month):
    return NewTransaction(
        batch=Batch(id=f"rent {month}"),
        amount=Decimal("-900.00"),
        booked_at=f"2026-{month:02}-02",
        counterparty_name="Hausverwaltung Meier",
        counterparty_iban="DE02120300000000202051",
        purpose="Miete Wohnung 12",
    )


@pytest.fixture
async def rent(own):
    """The one contract of an account."""
    access = await own.add_access(DEMO_BANK, {"userid": "leer", "pin": "demo"})
    product_id = (await own.wait_until_complete(access.id)).products[0].id
    await own.push_transactions(access.id, product_id, [make_rent(month) for month in range(6, 12)])
    (contract,) = await own.list_contracts()
    return contract


async def test_a_contract_is_named_and_its_notice_is_set_and_reset(own, rent):
    await own.update_contract(rent.id, name="Wohnung", notice_period="P3M", minimum_term_end=date(2031, 5, 31))
    (named,) = await own.list_contracts()
    assert (named.id, named.details.name, named.details.notice_period) == (rent.id, "Wohnung", "P3M")
    assert (named.details.minimum_term_end, named.details.notice_date) == (date(2031, 5, 31), date(2031, 2, 28))
    await own.update_contract(rent.id, minimum_term_end=None)
    (reset,) = await own.list_contracts()
    assert (reset.details.name, reset.details.minimum_term_end, reset.details.notice_date) == ("Wohnung", None, None)


async def test_a_contract_is_excluded_and_listed_apart(own, rent):
    await own.update_contract(rent.id, is_contract=False)
    assert await own.list_contracts() == []
    assert [contract.id for contract in await own.list_contracts(excluded=True)] == [rent.id]


async def test_a_cancellation_is_a_pdf(own, rent):
    for options in ({}, {"day": date(2031, 5, 31), "language": "en"}):
        assert (await own.write_cancellation(rent.id, **options)).startswith(b"%PDF-")

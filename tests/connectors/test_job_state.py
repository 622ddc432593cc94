"""Jobs in the state of a dialogue: nothing is lost, and what an earlier version stored stays readable."""

import json
from dataclasses import fields
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest

from kontor.connectors.base import Fetch, Pay
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.domain.accesses import History
from kontor.domain.payments import Order

ORDER = Order("Erika Mustermann", "DE02120300000000202051", Decimal("12.30"), purpose="Miete", bic="BYLADEM1001")
FETCH = Fetch(
    ("a", "b"), {"a": date(2026, 2, 3)}, History.RECENT, is_renewal=True, statements={"a": ((2026, 1), (None, 2))}
)
PAY = Pay(UUID(int=7), "a", (ORDER,), is_instant=True, execution_date=date(2026, 3, 4), prefers_rejection=True)


@pytest.mark.parametrize("job", [FETCH, Fetch(), PAY, Pay(UUID(int=8), "b", (ORDER, ORDER), is_bulk=True)])
def test_a_job_comes_back_whole_from_json(job: Fetch | Pay) -> None:
    assert deserialize_job(json.loads(json.dumps(serialize_job(job)))) == job


def test_every_field_of_a_fetch_differs_from_its_default_above() -> None:
    """So that the test before notices a field that is forgotten."""
    assert all(getattr(FETCH, field.name) != getattr(Fetch(), field.name) for field in fields(Fetch))


def test_state_of_the_version_before_is_read() -> None:
    stored = {"selected": ["a"], "since": {"a": "2026-02-03"}, "history": "ALL"}
    assert deserialize_job(stored) == Fetch(("a",), {"a": date(2026, 2, 3)})
    assert deserialize_job({"kind": "fetch", **stored}) == Fetch(("a",), {"a": date(2026, 2, 3)})
    order = {
        "recipient": "Erika Mustermann",
        "iban": "DE02120300000000202051",
        "amount": "12.30",
        "currency": "EUR",
        "purpose": "Miete",
        "bic": "BYLADEM1001",
        "end_to_end_id": None,
        "purpose_code": None,
        "ultimate_debtor": None,
        "ultimate_creditor": None,
    }
    paid = {
        "kind": "pay",
        "payment_id": str(UUID(int=7)),
        "product_key": "a",
        "orders": [order],
        "is_bulk": False,
        "is_instant": True,
        "execution_date": "2026-03-04",
        "prefers_rejection": True,
        "is_payee_accepted": False,
    }
    assert deserialize_job(paid) == PAY
    assert serialize_job(PAY) == paid, "processes of the version before read it too"

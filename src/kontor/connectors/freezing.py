"""Jobs as JSON, so that a dialogue's state can carry them."""

from dataclasses import asdict
from datetime import date
from decimal import Decimal
from uuid import UUID

from kontor.connectors.base import Fetch, Pay, State
from kontor.domain.accesses import History
from kontor.domain.payments import Order


def freeze_job(job: Fetch | Pay) -> State:
    if isinstance(job, Pay):
        return {
            "kind": "pay",
            "payment_id": str(job.payment_id),
            "product_key": job.product_key,
            "orders": [asdict(one) | {"amount": str(one.amount)} for one in job.orders],
            "is_bulk": job.is_bulk,
            "is_instant": job.is_instant,
            "execution_date": None if job.execution_date is None else job.execution_date.isoformat(),
            "prefers_rejection": job.prefers_rejection,
            "is_payee_accepted": job.is_payee_accepted,
        }
    return {
        "kind": "fetch",
        "selected": None if job.selected is None else list(job.selected),
        "since": {key: day.isoformat() for key, day in job.since.items()},
        "history": str(job.history),
    }


def thaw_job(frozen: State) -> Fetch | Pay:
    if frozen.get("kind") == "pay":
        facts = {key: value for key, value in frozen.items() if key != "kind"}
        day = facts["execution_date"]
        orders = tuple(Order(**one | {"amount": Decimal(one["amount"])}) for one in facts["orders"])
        return Pay(
            **facts
            | {
                "payment_id": UUID(facts["payment_id"]),
                "orders": orders,
                "execution_date": None if day is None else date.fromisoformat(day),
            }
        )
    return Fetch(
        selected=None if frozen["selected"] is None else tuple(frozen["selected"]),
        since={key: date.fromisoformat(day) for key, day in frozen["since"].items()},
        history=History(frozen["history"]),
    )

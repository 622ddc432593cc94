"""Simulated faults of payments, in a process of its own: they change psycopg and httpx for good.

    python fault_samples.py PART …

Prints a list of results for each part as JSON. The broken Kontors prove that the checker finds what it is there for.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import count, islice
from typing import Any
from unittest.mock import patch

from payment_faults.plans import Connector, Entrance, Fault, Form, Sca, Scenario, Victim, draw_fault
from payment_faults.processes import run_faults

from kontor.domain.payments import PaymentState
from kontor.services.payments import ordering, payments, recovery, requests
from kontor.services.payments.dialogues import PaymentDialogues
from kontor.services.payments.ordering import PaymentOrdering
from kontor.services.payments.recovery import PaymentRecovery

SEED = 7


def list_sample(number: int, is_fitting: Callable[[Fault], bool] = lambda _: True) -> list[Fault]:
    return list(islice(filter(is_fitting, (draw_fault(SEED, index) for index in count())), number))


def is_cheap(fault: Fault) -> bool:
    """Each kind of SCA needs customers of its own, and FinTS takes longer than the others."""
    return fault.scenario.sca is Sca.TAN and fault.scenario.connector is not Connector.FINTS


def is_over_fints(fault: Fault) -> bool:
    scenario = fault.scenario
    return (scenario.connector, scenario.sca, scenario.victim) == (Connector.FINTS, Sca.TAN, Victim.SERVER)


def list_late(connector: Connector, *places: float, form: Form = Form.SINGLE) -> list[Fault]:
    """Of one plain payment, at these places."""
    scenario = Scenario(connector, form, Entrance.NEWER, Sca.TAN, Victim.SERVER)
    return [Fault(0, 0, scenario, place, True) for place in places]


# Kontors that are broken


async def find_nothing(*_: Any) -> None:
    return None


async def always(*_: Any, **__: Any) -> bool:
    return True


async def do_nothing(*_: Any, **__: Any) -> int:
    return 0


def forget_keys() -> list[Any]:
    """Every request is a new order."""
    make = requests.make_payment

    def make_new(principal: Any, debtor: Any, request: Any, *others: Any) -> Any:
        return make(principal, debtor, replace(request, payment_id=None, idempotency_key=None), *others)

    return [
        patch.object(PaymentOrdering, "find_existing", find_nothing),
        patch.object(ordering, "make_payment", make_new),
        patch.object(payments, "make_payment", make_new),
        patch.object(ordering.payments, "claim_order", always),
    ]


def leave_out_the_guard() -> list[Any]:
    """Nobody writes down that the order leaves."""
    return [patch.object(PaymentDialogues, "_pass_send_guard", always)]


def believe_that_it_arrived() -> list[Any]:
    """Whatever was left behind counts as executed."""

    def end(payment: Any, _: Any) -> Any:
        return replace(payment, state=PaymentState.EXECUTED, fence=None) if payment.is_orphaned else None

    return [patch.object(recovery, "end_orphaned", end)]


def never_recover() -> list[Any]:
    return [
        patch.object(PaymentRecovery, "recover", do_nothing),
        patch.object(PaymentRecovery, "close_orphaned", find_nothing),
    ]


LATE = (0.7, 0.8, 0.9)
STANDING = [
    *((connector, Form.STANDING) for connector in Connector),
    *((Connector.DEMO, form) for form in (Form.STANDING_CHANGE, Form.STANDING_DELETION)),
]
DEBITS = [
    (connector, form) for connector in (Connector.DEMO, Connector.FINTS) for form in (Form.DEBIT, Form.DEBIT_BULK)
]
PARTS: dict[str, tuple[list[Fault], Callable[[], list[Any]]]] = {
    "few": ([*list_sample(26, is_cheap), *list_sample(4, is_over_fints), *list_sample(3, is_cheap)], list),
    "many": (list_sample(300), list),
    "no keys": ([fault for connector in Connector for fault in list_late(connector, 0.9)], forget_keys),
    "standing": ([fault for where, form in STANDING for fault in list_late(where, 0.4, 0.8, form=form)], list),
    "no keys, standing": (
        # A standing order that has ended is not deleted again, whatever the key.
        [fault for where, form in STANDING[:-1] for fault in list_late(where, 0.9, form=form)],
        forget_keys,
    ),
    "debits": ([fault for where, form in DEBITS for fault in list_late(where, 0.4, 0.8, form=form)], list),
    "no keys, debits": (
        [fault for where, form in DEBITS for fault in list_late(where, 0.9, form=form)],
        forget_keys,
    ),
    "no guard": (list_late(Connector.DEMO, *LATE), leave_out_the_guard),
    "believing": (list_late(Connector.DEMO, *LATE), believe_that_it_arrived),
    "no recovery": (list_late(Connector.DEMO, *LATE), never_recover),
}


def list_faults(names: list[str], ends: list[int]) -> Iterator[Fault]:
    """The broken Kontor of a part is there while its faults are drawn from here."""
    for name in names:
        faults, break_kontor = PARTS[name]
        with ExitStack() as stack:
            for change in break_kontor():
                stack.enter_context(change)
            yield from faults
        ends.append(len(faults))


def main(names: list[str]) -> None:
    numbers: list[int] = []
    results = iter(asyncio.run(run_faults(list_faults(names, numbers))))
    found = {
        name: [asdict(next(results)[0]) for _ in range(number)] for name, number in zip(names, numbers, strict=True)
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The points where faults are injected: each is reached, and none does anything without a hook."""

import sys
from types import ModuleType

import pytest
from paying import CUSTOMER

from kontor.services import fault_points


@pytest.fixture
def reached(monkeypatch):
    """The names of the points, as they are reached."""
    seen: list[str] = []
    module = ModuleType("fault_hook_under_test")
    module.note = seen.append
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setenv(fault_points.VARIABLE, f"{module.__name__}:note")
    fault_points._find_hook.cache_clear()
    yield seen
    fault_points._find_hook.cache_clear()


async def test_a_payments_way_leads_through_every_point(desk, reached):
    payer = await desk.new_payer(fault="unknown")
    transfer = await (await payer.pay()).tan()
    await desk.execute("update payments set next_lookup_at = now() where id = %s", transfer.id)
    await desk.services.payments.recovery.recover()
    assert (await payer.get(f"{CUSTOMER}/payment/single-transfer/{transfer.id}")).json()["messages"][0][
        "code"
    ] == "BA1111"
    assert set(reached) == set(fault_points.POINTS)
    first = [reached.index(one) for one in ("payment.inserted", "payment.call", "payment.sending", "payment.settled")]
    assert reached.index("payment.send") < reached.index("payment.sending")
    assert first[0] < first[1]


def test_without_a_hook_nothing_happens(monkeypatch):
    monkeypatch.delenv(fault_points.VARIABLE, raising=False)
    fault_points._find_hook.cache_clear()
    for one in fault_points.POINTS:
        fault_points.reach(one)

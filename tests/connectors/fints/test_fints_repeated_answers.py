"""A bank that sends an old answer again: nothing in it is taken for the answer to what was asked."""

from uuid import uuid4

import pytest
from fints_payer import PROVIDER

from fints_banks import BANK_CODE, TODAY, running_fints_bank
from kontor.connectors.base import Context, Continue, Failed, FailureKind, Fetch, Progress
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan, RequestKind
from kontor.domain.secrets import Secret

pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")


@pytest.fixture
def faults():
    return FaultInjector()


@pytest.fixture
def connector(settings, faults, tmp_path):
    with running_fints_bank(settings, tmp_path, faults=faults) as bank:
        known = FintsBank(BANK_CODE, bank.url)
        yield FintsConnector(lambda provider: known, "9FA6681DEC0CF3046BFC2F8A6", bank.authority)


@pytest.fixture
def credentials():
    return {"userid": Secret(f"test_vop_close+{uuid4().hex[:8]}"), "pin": Secret("demo")}


def test_rows_of_one_account_are_not_taken_for_those_of_another(connector, faults, credentials):
    login = credentials["userid"].reveal()
    step = connector.begin(PROVIDER, credentials, Fetch(), None, Context(TODAY))
    assert isinstance(step, Progress)
    requests = len(faults.visits[login])
    # The list of the first account comes; in place of that of the second it comes again.
    faults.assign(login, repeat_at(requests + 1))
    fetched = connector.resume(PROVIDER, credentials, step.state, Continue(), Context(TODAY))
    assert faults.visits[login][requests + 1].fault is Fault.REPEATED_ANSWER
    assert isinstance(fetched, Failed)
    assert fetched.kind is FailureKind.UNREACHABLE


def repeat_at(number):
    """A plan with which the customer's n-th request, but not the one before it, meets the fault."""
    plans = (FaultPlan(seed, (Fault.REPEATED_ANSWER,)) for seed in range(1000))
    return next(
        plan
        for plan in plans
        if plan.draw(number, RequestKind.STATEMENT, "fints")
        and not plan.draw(number - 1, RequestKind.STATEMENT, "fints")
    )


@pytest.mark.parametrize("pin", ["demo", "wrong"])
def test_no_message_follows_a_refused_pin(connector, faults, credentials, pin):
    """Each message carries the PIN, and some banks count each of them."""
    login = credentials["userid"].reveal()
    if pin == "demo":
        faults.assign(login, FaultPlan(1, (Fault.REFUSED_PIN,), rate=1))
    step = connector.begin(PROVIDER, credentials | {"pin": Secret(pin)}, Fetch(), None, Context(TODAY))
    assert isinstance(step, Failed)
    assert step.kind is FailureKind.WRONG_CREDENTIALS
    assert len(faults.visits[login]) == 1

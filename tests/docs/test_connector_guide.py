"""The example of the connector guide is complete, keeps the contract, and runs inside Kontor."""

import json
import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from kontor.connectors.base import Connector, Context, Continue, Done, Failed, FailureKind, Fetch, ProblemKind, Progress
from kontor.connectors.registry import Registry
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "write-a-connector.md"
PROVIDER = Provider(UUID(int=1), "Schulbank", "schoolbank", (), ())
CONTEXT = Context(date(2026, 9, 30))


@pytest.fixture
def make_connector():
    """Each call makes one from scratch, as another process would."""
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    code = compile(block, str(GUIDE), "exec")

    def make() -> Connector:
        names: dict[str, object] = {}
        exec(code, names)
        return names["SchoolBankConnector"]()

    return make


def fetch(make_connector, login, pin, job=None):
    """A whole dialogue; between two steps only JSON survives."""
    credentials = {"userid": Secret(login), "pin": Secret(pin)}
    step = make_connector().begin(PROVIDER, credentials, job or Fetch(), None, CONTEXT)
    steps = [step]
    while isinstance(step, Progress):
        kept = json.dumps(step.state)
        assert pin not in kept
        step = make_connector().resume(PROVIDER, credentials, json.loads(kept), Continue(), CONTEXT)
        steps.append(step)
    return steps


def test_the_registry_finds_it(make_connector):
    connector = make_connector()
    assert Registry([connector]).find(PROVIDER) is connector


def test_products_come_first_and_then_the_transactions(make_connector):
    progress, done = fetch(make_connector, "mia", "4711")
    (product,) = progress.partial.products
    assert isinstance(done, Done)
    amounts = [transaction.amount for transaction in done.result.transactions[product.key]]
    assert amounts == [Decimal("20.00"), Decimal("-3.50")]


def test_only_the_days_that_are_wanted_are_sent(make_connector):
    job = Fetch(since={"pupil-mia": date(2026, 9, 2)})
    _, done = fetch(make_connector, "mia", "4711", job)
    assert [transaction.purpose for transaction in done.result.transactions["pupil-mia"]] == ["Kakao"]


@pytest.mark.parametrize(("login", "pin"), [("mia", "0000"), ("nobody", "4711")])
def test_a_wrong_login_is_a_value(make_connector, login, pin):
    assert fetch(make_connector, login, pin) == [Failed(FailureKind.WRONG_CREDENTIALS)]


def test_a_part_that_fails_is_a_problem_of_a_fetch_that_is_done(make_connector):
    _, done = fetch(make_connector, "tom", "0815")
    assert done.result.transactions == {}
    assert [problem.kind for problem in done.result.problems] == [ProblemKind.TRANSACTIONS]

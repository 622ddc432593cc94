"""The list of transactions is the same from Kontor, from its limit and from the conventional reference."""

import json
import re
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import httpx
import pytest
from benchmarks.endpoints import Request
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.servers import CONVENTIONAL, LIMIT, ServerProcess

from kontor.domain.scopes import PROVIDER_READ
from kontor.domain.transactions import Transaction
from kontor.services.transactions.transactions import PushedTransaction

pytestmark = pytest.mark.bench

ROWS = 1000
COMPARED_HEADERS = ("content-type", "www-authenticate", "x-correlation-id")
MONEY = re.compile(rb'"betrag": ?(-?[0-9.]+)')


@pytest.fixture(scope="module")
def others(settings, data_dir):
    with ExitStack() as exits:
        yield {
            name: exits.enter_context(ServerProcess(name, settings, "listing", data_dir / f"list-{name}.log", set()))
            for name in (CONVENTIONAL, LIMIT)
        }


@pytest.fixture(scope="module")
async def listed(settings, others):
    """A customer with a thousand bookings of the demo bank, and its request."""
    async with BenchmarkEnvironment(settings, tenant=f"list-{uuid4().hex[:8]}") as environment:
        customer = await environment.add_customer()
        request = Request(await environment.add_transactions(customer, ROWS), customer.token)
        for server in others.values():
            server.wait_for(request)
        yield environment, customer, request


@pytest.fixture
def ask(others, listed, http):
    """Sends one request to all three, and wants the same status and, from the reference, the same headers."""
    request = listed[2]

    def send(path=None, status=200, token=None, **headers):
        path = path or request.path
        headers = {"X-Correlation-Id": f"test-{uuid4()}", "Authorization": f"Bearer {token or request.token}"} | headers
        ours = http.get(path, headers=headers)
        theirs = httpx.get(f"http://127.0.0.1:{others[CONVENTIONAL].port}{path}", headers=headers, timeout=30)
        assert (ours.status_code, theirs.status_code) == (status, status), ours.text + theirs.text
        for name in COMPARED_HEADERS:
            assert theirs.headers.get(name) == ours.headers.get(name), name
        limit = httpx.get(f"http://127.0.0.1:{others[LIMIT].port}{path}", headers=headers, timeout=30)
        return ours, theirs, limit

    return send


def assert_same_list(ours, theirs, limit, count):
    rows = json.loads(ours.content, parse_float=Decimal)
    assert len(rows) == count
    assert json.loads(theirs.content, parse_float=Decimal) == rows
    assert limit.content == ours.content
    ours_money, their_money = (MONEY.findall(answer.content) for answer in (ours, theirs))
    assert len(ours_money) == count
    assert all(re.fullmatch(rb"-?\d+\.\d\d", amount) for amount in ours_money)
    assert [b"%.2f" % float(amount) for amount in their_money] == ours_money
    return rows


def test_a_thousand_transactions_are_the_same(ask):
    rows = assert_same_list(*ask(), ROWS)
    assert [row["hash"] for row in rows] == sorted((row["hash"] for row in rows), reverse=True)
    assert len({row["verwendungszweck"] for row in rows}) > ROWS / 4  # texts as of a bank, not one again and again
    # Pending ones have `vorgemerkt`; some mornings all are booked.
    assert {"gegenkontoIban", "gvCode", "primanotaNummer"} <= set().union(*rows)


async def test_pushed_ones_and_odd_texts_are_the_same(ask, listed, services):
    environment, _, request = listed
    customer = await environment.add_customer()
    path = await environment.add_transactions(customer, 3)
    principal = await services.tokens.authenticate(customer.token)
    access_id, product_id = path.split("/")[4:6]
    winter, summer = datetime(2025, 1, 31, 22, 59, 59, tzinfo=UTC), datetime(2025, 7, 1, 22, 0, tzinfo=UTC)
    odd = [
        Transaction(Decimal("0.01"), "EUR", winter, summer, purpose='"ß" 漢字 😀 \\ </script> / \t'),
        Transaction(Decimal("-1234567.80"), "CHF", None, summer, counterparty_name="O'Neil & Söhne"),
        Transaction(Decimal("-5.00"), "EUR", summer, is_pending=True),
    ]
    pushed = [PushedTransaction(f"batch {number}", transaction) for number, transaction in enumerate(odd)]
    await services.transactions.push(principal, access_id, UUID(product_id), pushed)
    rows = assert_same_list(*ask(path, token=customer.token), 6)
    assert {"batchId": "batch 0"} in [row.get("identifier") for row in rows]
    assert request.path != path


def test_another_users_list_is_404(ask, listed):
    path = listed[2].path
    for other in (path.replace(path.split("/")[4], "nothing"), path.replace(path.split("/")[5], str(uuid4()))):
        ours, theirs, limit = ask(other, 404)
        assert theirs.content == ours.content
        assert limit.status_code == 404
    ours, theirs, _ = ask(path.replace(path.split("/")[5], "nonsense"), 404)
    assert theirs.content == ours.content


async def test_refusals_are_the_same(ask, listed):
    for path, status, token in (
        (None, 403, "kontor_at_unknown"),
        (None, 403, await listed[0].issue_client_token()),
        (None, 403, await listed[0].issue_user_token(listed[1], PROVIDER_READ)),
    ):
        ours, theirs, _ = ask(path, status, token)
        assert theirs.content == ours.content

"""When a call is made again, and when never: against a service that fails as it is told."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import httpx
import pytest

from kontor_client import ApiError, AsyncKontor, Kontor, Order, UnreachableError
from kontor_client.plans import Call
from kontor_client.retries import Retries

BASE = "https://kontor.example"
ORDER = Order(recipient="Erika", iban="DE89370400440532013000", amount=Decimal("1.00"), purpose="x", bic="COBADEFFXXX")


class Failing:
    """Answers with what is in the list, one after the other; an exception is raised."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.seen = []

    def __call__(self, request):
        self.seen.append(request)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome if isinstance(outcome, httpx.Response) else httpx.Response(outcome, content=b"{}")


@pytest.fixture
def pauses(monkeypatch):
    """How long was waited; nobody waits."""
    found = []

    async def sleep(seconds):
        found.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return found


def client_of(service, retries=3, **options):
    return AsyncKontor(BASE, "token", transport=httpx.MockTransport(service), retries=retries, **options)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_reading_and_deleting_are_tried_again(pauses, method, status):
    service = Failing(status, status, 200)
    assert (await client_of(service).request(method, "/x")).status == 200
    assert len(service.seen) == 3
    assert 0.125 <= pauses[0] <= 0.25
    assert 0.25 <= pauses[1] <= 0.5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500])
async def test_what_will_not_pass_is_not_tried_again(pauses, status):
    service = Failing(status)
    with pytest.raises(ApiError) as caught:
        await client_of(service).request("GET", "/x")
    assert (caught.value.status, len(service.seen), pauses) == (status, 1, [])


async def test_attempts_are_bounded(pauses):
    service = Failing(*[503] * 4)
    with pytest.raises(ApiError):
        await client_of(service).request("GET", "/x")
    assert len(service.seen) == 4


@pytest.mark.parametrize(
    "failure",
    [
        429,
        502,
        503,
        504,
        httpx.ReadTimeout(""),
        httpx.ReadError(""),
        httpx.RemoteProtocolError(""),
        httpx.WriteError(""),
    ],
    ids=str,
)
async def test_a_post_is_never_sent_twice(pauses, failure):
    service = Failing(failure)
    with pytest.raises((ApiError, UnreachableError)):
        await client_of(service).request("POST", "/x", json={})
    assert len(service.seen) == 1


@pytest.mark.parametrize("failure", [503, 504, httpx.ReadTimeout(""), httpx.WriteError("")], ids=str)
async def test_a_payment_is_never_sent_twice(pauses, failure):
    service = Failing(failure)
    with pytest.raises((ApiError, UnreachableError)):
        await client_of(service).order_transfer(
            "a", "p", ORDER, callback_url="https://a.example", customer_ip="8.8.8.8"
        )
    assert len(service.seen) == 1


@pytest.mark.parametrize("failure", [503, httpx.ReadTimeout("")], ids=str)
async def test_an_unknown_put_and_a_new_secret_are_not_sent_twice(pauses, failure):
    service = Failing(failure, failure)
    with pytest.raises((ApiError, UnreachableError)):
        await client_of(service).request("PUT", "/x", json={})
    with pytest.raises((ApiError, UnreachableError)):
        await client_of(service).change_webhook("t", "w", rotate_secret=True)
    assert len(service.seen) == 2


async def test_an_idempotent_put_is_retried(pauses):
    service = Failing(503, 200)
    await client_of(service).correct_category("a", "p", "t", "RENT")
    assert len(service.seen) == 2


@pytest.mark.parametrize("error", [httpx.ConnectError(""), httpx.ConnectTimeout(""), httpx.PoolTimeout("")], ids=repr)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
async def test_what_never_left_is_sent_again(pauses, method, error):
    service = Failing(error, error, 200)
    assert (await client_of(service).request(method, "/x")).status == 200


async def test_reading_is_tried_again_after_a_broken_connection(pauses):
    service = Failing(httpx.ReadError(""), httpx.RemoteProtocolError(""), 200)
    assert (await client_of(service).request("GET", "/x")).status == 200


async def test_retry_after_is_kept_to(pauses):
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    service = Failing(
        httpx.Response(503, headers={"Retry-After": "7"}), httpx.Response(429, headers={"Retry-After": at}), 200
    )
    await client_of(service).request("GET", "/x")
    assert pauses[0] == 7
    assert 20 < pauses[1] <= 30


async def test_a_retry_after_that_is_too_long_is_the_callers_to_keep(pauses):
    service = Failing(httpx.Response(429, headers={"Retry-After": "900"}))
    with pytest.raises(ApiError) as caught:
        await client_of(service).request("GET", "/x")
    assert (caught.value.retry_after_seconds, pauses) == (900, [])


async def test_gone_after_an_answer_was_lost_is_deleted(pauses):
    service = Failing(httpx.ReadTimeout(""), 404)
    assert (await client_of(service).request("DELETE", "/x")).status == 200
    with pytest.raises(ApiError):
        await client_of(Failing(404)).request("DELETE", "/x")


async def test_no_retries_means_none(pauses):
    service = Failing(503)
    with pytest.raises(ApiError):
        await client_of(service, retries=0).request("GET", "/x")
    assert len(service.seen) == 1


def test_pauses_grow_to_a_limit_and_differ_by_chance():
    retries = Retries(20, chance=random.Random(1))
    longest = [retries.seconds_after_error(Call("GET", "/"), httpx.ReadError(""), attempt) for attempt in range(12)]
    assert all(0.125 * 2**attempt <= seconds <= 0.25 * 2**attempt for attempt, seconds in enumerate(longest[:5]))
    assert all(5 <= seconds <= 10 for seconds in longest[6:])
    assert len(set(longest)) == len(longest)


def test_the_client_without_asyncio_waits_the_same_way(monkeypatch):
    pauses = []
    monkeypatch.setattr("kontor_client.running.time.sleep", pauses.append)
    service = Failing(503, httpx.ReadError(""), 200)
    with Kontor(BASE, "token", transport=httpx.MockTransport(service)) as client:
        assert client.request("GET", "/x").status == 200
    assert len(pauses) == 2


async def test_nobody_there_is_unreachable():
    async with AsyncKontor("http://127.0.0.1:9", retries=0) as client:
        with pytest.raises(UnreachableError, match="GET /health/ready: ConnectError"):
            await client.read_health()


async def test_an_error_page_of_a_proxy_is_an_api_error_too(pauses):
    service = Failing(httpx.Response(500, content=b"<html>", headers={"X-Correlation-ID": "7"}))
    with pytest.raises(ApiError, match=r"500: no explanation \(correlation id 7\)"):
        await client_of(service).request("GET", "/x")

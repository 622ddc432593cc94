"""What is counted of a connection, by each way that there is, and who sees it."""

import asyncio
import ssl
from uuid import uuid4

import httpx
import psycopg
import pytest

from hostile_banks import answer, running_hostile_bank
from kontor.config import Settings, read_settings
from kontor.connectors.bank_http import BankHttp, BankHttpError, HttpLimits
from kontor.egress import (
    CONNECTION_COUNTERS,
    ConnectionCounters,
    Counts,
    Destination,
    EgressRefusedError,
    GuardedTransport,
    Purpose,
)
from kontor.egress.connection_counters import MANY_HOSTS, MAX_KEYS
from kontor.services.operations import EgressReport
from kontor.services.webhooks import WebhookCalls
from receivers import Receiver

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
LIMITS = HttpLimits(5, 9, 9, 100_000, 100_000)
LOCAL = frozenset({"127.0.0.1"})


@pytest.fixture(autouse=True)
def nothing_counted():
    CONNECTION_COUNTERS.drain()
    yield
    CONNECTION_COUNTERS.drain()


def counted() -> dict[tuple[str, str], Counts]:
    return {(key.host, str(key.purpose)): counts for key, counts in CONNECTION_COUNTERS.drain().items()}


def test_a_call_to_a_bank_is_counted_with_the_bytes_that_went_over_the_connection():
    with running_hostile_bank(answer(b"{}")) as bank:
        http = BankHttp(TLS, LIMITS, Destination(Purpose.BANK, LOCAL))
        for _ in range(2):
            with http.stream("POST", bank.url, {}, b"x" * 1000) as told:
                told.read()
        http.close()
        sent = len(bank.received)
    [(key, counts)] = counted().items()
    assert key == ("127.0.0.1", "bank")
    assert (counts.connections, counts.failures, counts.refused) == (1, 0, 0)
    assert counts.bytes_sent == sent > 2000
    assert counts.bytes_received > 4


def test_a_bank_that_leads_elsewhere_is_not_followed_and_the_refusal_is_counted():
    with running_hostile_bank(answer(b"{}")) as bank:
        http = BankHttp(TLS, LIMITS, Destination(Purpose.BANK, frozenset({"bank.example"})))
        with pytest.raises(BankHttpError, match="EgressRefusedError"), http.stream("GET", bank.url, {}, b""):
            pass
        http.close()
        assert bank.visits == []
    assert counted() == {("127.0.0.1", "bank"): Counts(refused=1)}


@pytest.mark.parametrize(("purpose", "name"), [(Purpose.WEBHOOK, "webhook"), (Purpose.PUSH, "push")])
async def test_a_webhook_and_a_push_are_counted_by_the_receivers_name(purpose, name):
    async def resolve(host, port):
        return ["127.0.0.1"]

    with Receiver() as receiver:
        calls = WebhookCalls(is_loopback_allowed=True, resolve=resolve)
        url = f"http://receiver.localhost:{receiver.port}/hook"
        result = await calls.post(url, b"x" * 500, dict, purpose)
    assert result.status is not None
    [(key, counts)] = counted().items()
    assert key == ("receiver.localhost", name)
    assert counts.connections == 1
    assert 500 < counts.bytes_sent < 1000
    assert counts.bytes_received > 0


def test_a_service_that_does_not_answer_is_counted_as_a_failure():
    with running_hostile_bank(answer(b"")) as gone:
        url = gone.url
    transport = GuardedTransport(Destination(Purpose.VAULT, LOCAL), TLS)
    with httpx.Client(transport=transport) as client:
        with pytest.raises(httpx.ConnectError):
            client.get(url)
        with pytest.raises(EgressRefusedError):
            client.get("http://192.0.2.1/")
    found = counted()
    assert found["127.0.0.1", "vault"] == Counts(failures=1)
    assert found["192.0.2.1", "vault"] == Counts(refused=1)


def test_the_number_of_hosts_between_two_looks_is_bounded():
    counters = ConnectionCounters()
    for number in range(MAX_KEYS + 50):
        counters.add(Purpose.WEBHOOK, f"host-{number}", Counts(connections=1))
    drained = counters.drain()
    assert len(drained) == MAX_KEYS + 1
    assert sum(counts.connections for counts in drained.values()) == MAX_KEYS + 50
    assert MANY_HOSTS in {key.host for key in drained}


# Over processes


async def test_counts_of_several_processes_add_up(services, owner):
    host = f"{uuid4().hex}.example"
    processes = [ConnectionCounters() for _ in range(4)]
    stores = [EgressReport(services.database, counters) for counters in processes]
    for _ in range(3):
        for counters in processes:
            counters.add(Purpose.BANK, host, Counts(1, 1, 0, 10, 20))
            counters.add(Purpose.BANK, "zz-" + host, Counts(1))
        await asyncio.gather(*[store.store() for store in stores])
    query = "select connections, failures, refused, bytes_sent, bytes_received from egress_days where host = %s"
    assert owner.execute(query, [host]).fetchall() == [(12, 12, 0, 120, 240)]
    owner.execute("delete from egress_days where host like %s", ["%" + host])


async def test_without_a_database_the_counts_wait(services, owner, monkeypatch):
    host = f"{uuid4().hex}.example"
    counters = ConnectionCounters()
    store = EgressReport(services.database, counters)
    counters.add(Purpose.BANK, host, Counts(connections=1))
    with monkeypatch.context() as patch:

        def fail():
            raise psycopg.OperationalError

        patch.setattr(services.database, "transaction", fail)
        await store.store()
    counters.add(Purpose.BANK, host, Counts(connections=1))
    await store.store()
    query = "select connections from egress_days where host = %s"
    assert owner.execute(query, [host]).fetchall() == [(2,)]
    assert counters.drain() == {}
    owner.execute("delete from egress_days where host = %s", [host])


def test_telemetry_is_off_unless_it_is_asked_for():
    """The only setting that sends figures anywhere has no default. Without it no exporter is made."""
    from kontor.api.tracing import OpenTelemetryTracing, make_tracing

    assert read_settings({}).otlp_endpoint is None
    assert not isinstance(make_tracing(Settings().otlp_endpoint), OpenTelemetryTracing)


def test_spans_are_counted_by_the_collectors_host():
    from kontor.api.tracing import make_tracing

    with running_hostile_bank(answer(b"")) as collector:
        tracing = make_tracing(collector.url)
        with tracing.request_span({"method": "GET", "headers": []}) as span:
            span.finish({"method": "GET"}, 200)
        tracing.shut_down()
        assert b"/v1/traces" in collector.received
    [(key, counts)] = counted().items()
    assert key == ("127.0.0.1", "tracing")
    assert counts.connections >= 1
    assert counts.bytes_sent > 100

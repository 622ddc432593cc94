"""What holds for every answer of any operation: correlation ids, caching, the Host header, slow bodies."""

import asyncio
import socket
import time
from dataclasses import replace
from uuid import RFC_4122, UUID

import pytest

from kontor.api import slow_bodies
from kontor.api.edge import make_random_id
from kontor.api.slow_bodies import BodyLimit, SlowBodyError
from processes import free_port, running_server

LIVE = "GET /health/live HTTP/1.1\r\n"


# Correlation ids


def test_made_correlation_ids_are_random_uuids_as_python_reads_and_writes_them():
    made = [make_random_id() for _ in range(100)]
    assert len(set(made)) == 100
    for text in made:
        read = UUID(text)
        assert (str(read), read.version, read.variant) == (text, 4, RFC_4122)


# Caching


def test_answers_with_data_of_customers_tenants_and_operators_are_never_stored(shared, http):
    user = shared.as_user
    answers = [
        http.get("/customer/v2", headers=user),
        http.get("/customer/v2/bankzugaenge", headers=user),
        http.get("/customer/v2/kontoumsaetze", headers=user),
        http.get("/customer/v2/ai/contracts/", headers=user),
        http.get(f"{shared.url}/users", headers=shared.as_admin),
        http.get(f"{shared.url}", headers=shared.as_admin),
        http.get("/health/ready"),
    ]
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    refused = [
        http.get("/customer/v2"),
        http.get("/customer/v2/bankzugaenge/none", headers=user),
        http.get("/nowhere"),
        http.request("PATCH", "/customer/v2", headers=user),
    ]
    assert [answer.status_code for answer in refused] == [401, 404, 404, 405]
    assert {answer.headers["cache-control"] for answer in answers + refused} == {"no-store"}


def test_the_list_of_providers_may_be_kept_by_the_caller_and_is_asked_about_each_time(shared, http):
    user = shared.as_user
    first = http.get("/providers/v2", headers=user)
    again = http.get("/providers/v2", headers=user | {"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    assert first.headers["cache-control"] == again.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/docs/assets/docs.js", "/console/sign-in"])
def test_every_answer_says_once_whether_it_may_be_kept(http, path):
    answer = http.get(path)
    assert answer.status_code == 200
    assert len(answer.headers.get_list("cache-control")) == 1


# The Host header


def ask(server, text):
    host, _, port = server.removeprefix("http://").partition(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(text.encode("latin-1"))
        while chunk := connection.recv(65536):
            received += chunk
    return int(received[9:12])


@pytest.mark.parametrize(
    "headers",
    ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nHost: a\r\n"]
    + [f"Host:{odd}\r\n" for odd in ("", " a, b", " a/b", " u@a", " a b")],
)
def test_a_missing_repeated_or_odd_host_is_400(server, headers):
    assert ask(server, f"{LIVE}{headers}Connection: close\r\n\r\n") == 400


@pytest.mark.parametrize("host", ["a", "127.0.0.1:8080", "[::1]:8080", "bank.example.com"])
def test_one_host_is_served(server, host):
    assert ask(server, f"{LIVE}Host: {host}\r\nConnection: close\r\n\r\n") == 200


def test_http_1_0_needs_no_host(server):
    assert ask(server, "GET /health/live HTTP/1.0\r\n\r\n") == 200


# Slow bodies


def feed(*pauses):
    """Events of one byte each, after these pauses; then none for long."""
    waiting = list(pauses)

    async def receive():
        await asyncio.sleep(waiting.pop(0) if waiting else 60)
        return {"type": "http.request", "body": b"x", "more_body": True}

    return receive


async def read_all(limit):
    size = 0
    while (await limit.receive()).get("more_body"):
        size += 1
    return size


async def test_a_body_that_stops_arriving_is_given_up(monkeypatch):
    monkeypatch.setattr(slow_bodies, "IDLE_SECONDS", 0.02)
    limit = BodyLimit(feed(0), 60)
    with pytest.raises(SlowBodyError):
        await read_all(limit)
    assert limit.is_exceeded


async def test_bytes_that_keep_arriving_slowly_do_not_extend_the_limit():
    received = 0

    async def trickle():
        nonlocal received
        received += 1
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(SlowBodyError):
        await read_all(BodyLimit(trickle, 0.1))
    assert 1 < received <= 11


async def test_a_large_body_that_arrives_fast_enough_is_read_whole():
    events = [{"type": "http.request", "body": b"x" * 128 * 1024, "more_body": number < 20} for number in range(21)]

    async def receive():
        await asyncio.sleep(0.01)
        return events.pop(0)

    assert await read_all(BodyLimit(receive, 0.1)) == 20


async def test_the_end_of_the_connection_may_be_waited_for_as_long_as_it_takes(monkeypatch):
    events = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]

    async def receive():
        await asyncio.sleep(0.05 if len(events) == 1 else 0)
        return events.pop(0)

    monkeypatch.setattr(slow_bodies, "IDLE_SECONDS", 0.01)
    limit = BodyLimit(receive, 0.01)
    await limit.receive()
    assert (await limit.receive())["type"] == "http.disconnect"


FORM = "application/x-www-form-urlencoded"


def send_slowly(server, path, media_type, most=200):
    """A body, a byte at a time: the status, and how many bytes were taken."""
    host, _, port = server.removeprefix("http://").partition(":")
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {media_type}\r\nContent-Length: 5000\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=0.1) as connection:
        connection.sendall(head.encode())
        for number in range(most):
            try:
                connection.sendall(b"x")
                return int(connection.recv(65536)[9:12]), number
            except TimeoutError:
                time.sleep(0)
    return None, most


@pytest.fixture(scope="module")
def impatient(settings, tmp_path_factory, program):
    log = tmp_path_factory.mktemp("impatient") / "server.log"
    hasty = replace(settings, base_url=f"http://127.0.0.1:{free_port()}", body_seconds=1)
    with running_server(hasty, log, program=program) as address:
        yield address


@pytest.mark.parametrize("path", ["/auth/oauth2/token", "/console/sign-in", "/console/ops/sign-in"])
def test_a_byte_at_a_time_is_408_at_the_api_and_at_the_pages(impatient, path):
    status, _ = send_slowly(impatient, path, FORM)
    assert status == 408


def test_a_slow_confirmation_at_the_demo_bank_is_408(impatient):
    status, _ = send_slowly(impatient, "/demobank/confirm/00000000-0000-0000-0000-000000000000", FORM)
    assert status == 408

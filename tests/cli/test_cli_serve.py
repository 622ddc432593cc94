"""`kontor serve`: several processes and servers act as one, and none is ever cut off in mid-sentence."""

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from kontor.config import Settings, export_settings
from kontor.domain.secrets import Secret
from process_tree import (
    Running,
    children_of,
    clean_environment,
    find_port,
    is_alive,
    is_port_free,
    own_database,
    running_kontor,
    running_servers,
    status_of,
    wait_until,
)
from timeouts import WAIT_TIMEOUT_SECONDS

METRICS_TOKEN = "a token for metrics"


@pytest.fixture(scope="module")
def two_servers(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str, Running]]]:
    """Two separate servers on one database; the first with two processes."""
    own = replace(settings, metrics_token=Secret(METRICS_TOKEN), log_level="info")
    with running_servers(own, tmp_path_factory.mktemp("servers"), 2, 1) as servers:
        yield servers


def read_tenant(address: str, tenant, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{address}{tenant.url}", headers=headers).status_code


def count_requests(address: str, operation: str) -> float:
    answer = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert answer.status_code == 200
    pattern = rf'^kontor_requests_total{{[^}}]*operation="{operation}"[^}}]*}} (\S+)$'
    return sum(float(value) for value in re.findall(pattern, answer.text, re.MULTILINE))


def test_a_token_revoked_on_one_server_is_dead_on_the_other_at_once(two_servers, shared):
    (first, _), (second, _) = two_servers
    token = shared.client_token()
    assert read_tenant(second, shared, token) == 200
    httpx.post(f"{first}/auth/oauth2/revoke", data={"token": token}, auth=shared.admin).raise_for_status()
    assert [read_tenant(address, shared, token) for address in (first, second) * 3] == [403] * 6


def test_a_user_deactivated_or_erased_on_one_server_is_out_on_the_other_at_once(two_servers, tenant):
    (first, _), (second, _) = two_servers
    token = tenant.user_token()
    user = f"{tenant.url}/users/{tenant.user_reference}"

    def introspect(address: str) -> bool:
        answer = httpx.post(f"{address}/auth/oauth2/introspect", data={"token": token}, auth=tenant.app)
        return answer.status_code == 200 and answer.json().get("active") is not False

    assert introspect(second)
    httpx.put(f"{first}{user}/deactivate", headers=tenant.as_admin).raise_for_status()
    assert not introspect(second)
    assert not introspect(first)
    form = {"grant_type": "password", "username": tenant.username, "password": tenant.password}
    assert httpx.post(f"{second}/auth/oauth2/token", data=form, auth=tenant.app).status_code == 401
    httpx.delete(f"{first}{user}", headers=tenant.as_admin).raise_for_status()
    assert not introspect(second)
    assert httpx.get(f"{second}{user}", headers=tenant.as_admin).status_code == 404


def test_metrics_of_several_processes_add_up(two_servers):
    """Each connection meets one of the two processes; every one of them tells the sum."""
    (address, server), _ = two_servers
    assert len(children_of(server.pid)) == 2
    for _ in range(40):
        assert status_of(f"{address}/health/live") == 200
    told = {count_requests(address, "live") for _ in range(6)}
    assert len(told) == 1
    assert told.pop() >= 40


def test_metrics_ask_for_their_token(two_servers):
    address, _ = two_servers[0]
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {METRICS_TOKEN}"}):
        answer = httpx.get(f"{address}/metrics", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "kontor_requests_total" not in answer.text


def test_a_process_that_dies_is_replaced(two_servers):
    address, server = two_servers[0]
    victim = children_of(server.pid)[0]
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len(children_of(server.pid)) == 2 and victim not in children_of(server.pid), "replaced")
    wait_until(lambda: [status_of(f"{address}/health/ready") for _ in range(8)] == [200] * 8, "all ready")


def test_after_kill_9_of_the_server_its_processes_end_and_the_port_is_free(settings, tmp_path):
    own = replace(settings, compute_processes=1)
    with running_servers(own, tmp_path, 2, preloads=True) as [(address, server)]:
        children = children_of(server.pid)
        server.end(signal.SIGKILL)
        wait_until(lambda: not any(is_alive(pid) for pid in children), "the children end")
        assert is_port_free(int(address.rpartition(":")[2]))


def test_sigterm_while_the_processes_are_still_loading_ends_them_at_once(settings, tmp_path):
    """They are forked with signal handlers that are not theirs."""
    port = find_port()
    with running_kontor(settings, ["serve", "--port", str(port)], tmp_path / "loading.log") as server:
        wait_until(lambda: children_of(server.pid), "a process is forked")
        assert server.end(signal.SIGTERM, seconds=10) == 0
        assert is_port_free(port)


def test_requests_in_flight_are_answered_before_the_end(settings, shared, tmp_path):
    """Password hashing keeps both cores busy for a while; the stop comes in the middle of it."""
    user = {"username": f"user-{uuid4().hex[:12]}", "password": "a password"}
    form = {"grant_type": "password"} | user
    count = 12
    with running_servers(settings, tmp_path, 1) as [(address, server)]:
        # Created here, so that the password is hashed with production's parameters.
        httpx.post(f"{address}{shared.url}/users", json=user, headers=shared.as_admin).raise_for_status()

        async def ask() -> list[int]:
            limits = httpx.Limits(max_connections=count, max_keepalive_connections=count)
            async with httpx.AsyncClient(base_url=address, auth=shared.app, timeout=30, limits=limits) as client:
                await asyncio.gather(*[client.get("/health/live") for _ in range(count)])  # all are connected
                asked = [asyncio.create_task(client.post("/auth/oauth2/token", data=form)) for _ in range(count)]
                await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
                server.process.terminate()
                return [answer.status_code for answer in await asyncio.gather(*asked)]

        statuses = asyncio.run(ask())
        assert server.process.wait(WAIT_TIMEOUT_SECONDS) == 0
        assert statuses == [200] * count
        assert status_of(f"{address}/health/live") is None


SLOW_SERVER = """
import asyncio, sys
from pathlib import Path
import kontor.bootstrap
from kontor.cli.processes import run_server
from kontor.config import read_settings

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/slow":
        print("slow request arrived", file=sys.stderr, flush=True)
        while not Path(sys.argv[2]).exists():
            await asyncio.sleep(0.01)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"whole answer"})

kontor.bootstrap.create_app = lambda: app
run_server(read_settings(), "127.0.0.1", int(sys.argv[1]), 1)
"""


def test_a_slow_request_is_answered_new_connections_are_refused_and_idle_ones_do_not_delay(settings, tmp_path):
    """With the very options of `kontor serve`, and an application whose slowness is certain."""
    port = find_port()
    environment = clean_environment(**export_settings(settings))
    released = tmp_path / "released"
    command = ["-c", SLOW_SERVER, str(port), str(released)]
    server = Running(command, tmp_path / "slow.log", environment, [sys.executable])
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: status_of(f"{address}/quick") == 200, "the slow server is there")
        answers: list[str] = []
        ask_slowly = lambda: answers.append(httpx.get(f"{address}/slow", timeout=WAIT_TIMEOUT_SECONDS).text)  # noqa: E731
        slow = threading.Thread(target=ask_slowly)
        with httpx.Client() as idle:
            idle.get(f"{address}/quick")
            slow.start()
            server.wait_for("slow request arrived")
            server.process.terminate()
            wait_until(lambda: status_of(f"{address}/quick") is None, "no new connection is taken")
            assert not answers
            released.touch()
            slow.join()
            assert server.process.wait(20) == 0, "the idle connection would hold it for 30 s"
        assert answers == ["whole answer"]
    finally:
        server.discard()


async def revoke_often(address: str) -> list[int]:
    """So many at once that the pool has several connections."""
    async with httpx.AsyncClient(timeout=20) as client:
        login = {"data": {"token": "x"}, "auth": ("no/client", "x")}
        asked = [client.post(f"{address}/auth/oauth2/revoke", **login) for _ in range(20)]
        return [answer.status_code for answer in await asyncio.gather(*asked)]


def test_the_api_survives_a_restart_of_postgresql(tmp_path):
    """503 while it is down, 200 as soon as it is back, alive all the time; a wrong login needs the database too."""
    with own_database(tmp_path / "data") as (database, settings):  # noqa: SIM117
        with running_servers(settings, tmp_path, 1) as [(address, server)]:
            login = {"data": {"grant_type": "client_credentials"}, "auth": ("no/client", "x"), "timeout": 20}

            def ask() -> int:
                return httpx.post(f"{address}/auth/oauth2/token", **login).status_code

            assert ask() == 401
            database.stop()
            assert status_of(f"{address}/health/live") == 200
            assert status_of(f"{address}/health/ready") == 503
            answer = httpx.post(f"{address}/auth/oauth2/token", **login)
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert status_of(f"{address}/health/live") == 200
            database.start()
            wait_until(lambda: status_of(f"{address}/health/ready") == 200, "ready again")
            assert [ask() for _ in range(3)] == [401] * 3
            # And once more, so quickly that nobody notices: the connections that died in the pool fail no request.
            asyncio.run(revoke_often(address))
            database.stop()
            database.start()
            assert set(asyncio.run(revoke_often(address))) <= {200, 429}
            assert server.process.poll() is None
            assert "Traceback" not in server.printed


# What is refused at start, in one sentence


def refused(settings: Settings, tmp_path: Path, *arguments: str) -> str:
    with running_kontor(settings, list(arguments), tmp_path / "refused.log") as running:
        assert running.process.wait(30) == 1, running.printed
        assert "Traceback" not in running.printed
        assert running.printed.startswith("Refused: ")
        assert len(running.printed.strip().splitlines()) == 1
        return running.printed


def test_a_used_port_is_refused(two_servers, settings, tmp_path):
    """Granian alone would share the port, and half of the requests would go to the other server."""
    port = two_servers[0][0].rpartition(":")[2]
    assert "Address already in use" in refused(settings, tmp_path, "serve", "--port", port)


def test_a_wrong_master_key_and_a_missing_database_are_refused(settings, tmp_path):
    wrong = replace(settings, master_key=Secret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="))
    assert "The master key is not the one" in refused(wrong, tmp_path, "serve", "--port", str(find_port()))
    gone = replace(settings, database_url=Secret("postgresql://nobody@127.0.0.1:1/nothing"))
    (tmp_path / "refused.log").unlink()
    assert "The database cannot be reached" in refused(gone, tmp_path, "worker")

"""`kontor serve` outlives its API processes, however often they die, and idle connections are kept long enough."""

import json
import os
import resource
import signal
import socket
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise

import pytest

from kontor.cli.supervisors import BACKOFF_SECONDS, LIVED_SECONDS, Restart
from kontor.config import export_settings
from process_tree import (
    Running,
    children_of,
    clean_environment,
    find_port,
    is_alive,
    is_port_free,
    status_of,
    wait_until,
)

pytestmark = pytest.mark.long

# With the options of `kontor serve`, and an application that cannot be loaded while a file is there.
FRAGILE_SERVER = """
import os, sys
import kontor.bootstrap
from kontor.cli.processes import run_server
from kontor.config import read_settings
from kontor.logs import configure_logs

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})

def create_app():
    if os.path.exists(sys.argv[2]):
        raise RuntimeError("cannot be loaded")
    return app

kontor.bootstrap.create_app = create_app
configure_logs("info", "json")
run_server(read_settings(), "127.0.0.1", int(sys.argv[1]), 2)
"""


@contextmanager
def fragile_server(settings, folder):
    """Yields (address, process, the file that keeps its processes from starting)."""
    port, obstacle = find_port(), folder / "obstacle"
    environment = clean_environment(**export_settings(settings))
    arguments = ["-c", FRAGILE_SERVER, str(port), str(obstacle)]
    server = Running(arguments, folder / "fragile.log", environment, [sys.executable])
    try:
        wait_until(lambda: status_of(f"http://127.0.0.1:{port}/") == 200, "the server is there", 60)
        yield f"http://127.0.0.1:{port}", server, obstacle
    finally:
        server.discard()


def list_deaths(server):
    lines = [json.loads(line) for line in server.printed.splitlines() if line.startswith("{") and line.endswith("}")]
    return [line for line in lines if line["event"] == "process.died"]


def kill_all(server, before=()):
    """Both processes, as soon as there are two that are not among those killed before; returns them."""
    wait_until(lambda: len(set(children_of(server.pid)) - set(before)) == 2, "both processes are there")
    victims = set(children_of(server.pid)) - set(before)
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    return victims


def test_processes_that_are_killed_again_and_again_are_always_replaced(settings, tmp_path):
    """All of them at once, as soon as they are there: far more often than Granian alone would bear."""
    with fragile_server(settings, tmp_path) as (address, server, _):
        victims = set()
        for _ in range(6):
            victims |= kill_all(server, victims)
        wait_until(lambda: status_of(f"{address}/") == 200, "it serves again", 60)
        assert len(list_deaths(server)) == len(victims) == 12
        assert server.end(signal.SIGTERM) == 0
        assert is_port_free(int(address.rpartition(":")[2]))


def test_one_process_serves_while_the_other_dies_again_and_again(settings, tmp_path):
    with fragile_server(settings, tmp_path) as (address, server, _):
        survivor = children_of(server.pid)[0]
        for _ in range(4):
            wait_until(lambda: len(children_of(server.pid)) == 2, "both processes are there")
            [victim] = [child for child in children_of(server.pid) if child != survivor]
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda gone=victim: not is_alive(gone), "the victim is gone")
            wait_until(lambda: status_of(f"{address}/") == 200, "answers")
        assert is_alive(survivor)


def test_a_process_that_cannot_start_is_tried_again_at_growing_intervals_and_each_death_is_logged(settings, tmp_path):
    with fragile_server(settings, tmp_path) as (address, server, obstacle):
        obstacle.touch()
        kill_all(server)
        wait_until(lambda: len(list_deaths(server)) >= 8, "several starts fail", 60)
        deaths = list_deaths(server)
        assert [death["exit_code"] for death in deaths[:2]] == [-signal.SIGKILL] * 2
        assert {death["exit_code"] for death in deaths[2:]} == {1}
        for number in (1, 2):
            waits = [death["restart_in_seconds"] for death in deaths if death["process"] == number]
            assert all(before < after for before, after in pairwise(waits[: len(BACKOFF_SECONDS)]))
        assert server.process.poll() is None
        obstacle.unlink()
        wait_until(lambda: status_of(f"{address}/") == 200, "it serves again")


def test_sigterm_between_two_attempts_ends_the_server_at_once(settings, tmp_path):
    with fragile_server(settings, tmp_path) as (address, server, obstacle):
        obstacle.touch()
        kill_all(server)
        wait_until(lambda: len(list_deaths(server)) >= 4, "several starts fail", 60)
        assert server.end(signal.SIGTERM, seconds=20) == 0
        assert is_port_free(int(address.rpartition(":")[2]))


def test_sigterm_reaches_a_successor_that_has_only_just_been_forked(settings, tmp_path):
    """It is forked with the parent's handlers, which would swallow the signal."""
    with fragile_server(settings, tmp_path) as (_, server, _):
        before = kill_all(server)
        wait_until(lambda: set(children_of(server.pid)) - before, "a successor is forked")
        assert server.end(signal.SIGTERM, seconds=20) == 0


def test_sighup_replaces_the_processes_and_the_server_goes_on(settings, tmp_path):
    with fragile_server(settings, tmp_path) as (address, server, _):
        before = set(children_of(server.pid))
        os.kill(server.pid, signal.SIGHUP)
        wait_until(lambda: not before & set(children_of(server.pid)), "replaced", 40)
        wait_until(lambda: status_of(f"{address}/") == 200, "answers")
        assert server.process.poll() is None
        assert "process.died" not in server.printed


def test_only_deaths_in_quick_succession_make_the_next_start_wait():
    restart = Restart()
    waits = [restart.plan(0.1, now=0) for _ in range(8)]
    assert waits == [*BACKOFF_SECONDS, BACKOFF_SECONDS[-1], BACKOFF_SECONDS[-1]]
    assert restart.plan(LIVED_SECONDS, now=100) == BACKOFF_SECONDS[0]
    assert restart.due_at == 100


# Connections


@pytest.mark.parametrize("seconds", [1, 3])
def test_an_idle_connection_is_kept_for_as_long_as_is_set_and_then_closed(settings, tmp_path, seconds):
    with fragile_server(replace(settings, keep_alive_seconds=seconds), tmp_path) as (address, _, _):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            for _ in range(2):  # the time counts from the last request
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(4096).startswith(b"HTTP/1.1 200")
                answered = time.monotonic()
            while connection.recv(4096):
                pass
            assert time.monotonic() - answered > seconds - 0.2


def test_idle_connections_keep_nobody_out(settings, tmp_path):
    """They are kept for more than a minute, so there may be many; Granian alone takes 1,024 over all processes."""
    count = 1200
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * count)), hard))
    with fragile_server(settings, tmp_path) as (address, _, _), ExitStack() as idle:
        host, port = address.removeprefix("http://").split(":")
        for _ in range(count):
            idle.enter_context(socket.create_connection((host, int(port)), timeout=60))
        assert [status_of(f"{address}/") for _ in range(8)] == [200] * 8

"""`kontor demo`: starts with one command, ends without leaving anything, and survives every way of being killed.

The tests of this file share one data folder and what runs on it, because each start takes seconds. Each asks for the
state that it begins with, so that it also runs alone and in any order.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kontor.storage.embedded import EmbeddedPostgres
from process_tree import (
    Running,
    clean_environment,
    environment_of,
    find_port,
    find_processes,
    is_alive,
    is_port_free,
    wait_until,
)
from timeouts import WAIT_TIMEOUT_SECONDS

WELCOME = "Ctrl-C stops everything."
# The first start has two compute processes for the API and two for the worker, as users have. Later ones start none
# before there is work: loading takes 4 s of processor time each.
LATER_STARTS = {"KONTOR_COMPUTE_PROCESSES": "1", "KONTOR_COMPUTE_PRELOAD": "false"}
# Where a tester's own services run, the demo must not touch them: everything here is below this folder.
TODAY = ("--today", "2026-01-31")
TENANT_KEYS = {"name", "regulated", "adminClient", "userClient", "user", "apiKey", "callbackBases"}


class Demo:
    """One data folder, and the demo that runs on it at the moment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = find_port()
        self.starts = 0
        self.options: tuple[str, ...] = ()
        self.running: Running
        self.first_printed = ""

    def start(self, *options: str, environment: dict[str, str] | None = None) -> Running:
        self.starts += 1
        self.options = options
        arguments = ["demo", "--port", str(self.port), "--data", str(self.data), *options]
        output = self.folder / f"start-{self.starts}.log"
        self.running = Running(arguments, output, environment or clean_environment(**LATER_STARTS))
        return self.running

    def ensure_running(self, *options: str) -> None:
        """With these options. What runs with others is stopped; without any, what runs will do."""
        if self.running.process.poll() is None and (not options or options == self.options):
            return
        self.ensure_stopped()
        self.start(*options).wait_for(WELCOME)

    def ensure_stopped(self) -> None:
        """Ended in order; where it was killed, PostgreSQL is left and stays."""
        if self.running.process.poll() is None:
            self.running.end()

    def ensure_killed(self) -> None:
        """Only PostgreSQL is left."""
        if not EmbeddedPostgres(self.data).is_running():
            self.ensure_running()
        if self.running.process.poll() is None:
            self.running.end(signal.SIGKILL)
        postmaster = self.postmaster
        wait_until(lambda: find_processes(str(self.data)) == [postmaster], "the children end by themselves")

    @property
    def facts(self) -> dict[str, Any]:
        return json.loads((self.data / "demo.json").read_text())

    @property
    def postmaster(self) -> int:
        return int((EmbeddedPostgres(self.data).cluster / "postmaster.pid").read_text().split()[0])

    def assert_all_gone(self) -> None:
        assert find_processes(str(self.data)) == []
        assert is_port_free(self.port)
        assert not EmbeddedPostgres(self.data).is_running()

    def get_token(self) -> int:
        tenant = self.facts["tenants"][0]
        form = {"grant_type": "password"} | tenant["user"]
        login = (tenant["userClient"]["username"], tenant["userClient"]["password"])
        return httpx.post(f"http://127.0.0.1:{self.port}/auth/oauth2/token", data=form, auth=login).status_code

    def remove(self) -> None:
        self.running.discard()
        server = EmbeddedPostgres(self.data)
        server.start()
        server.stop()
        shutil.rmtree(server.home)


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """Not in pytest's folder, which is closed to the user that runs PostgreSQL: the cluster is to be in the data."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        demo = Demo(Path(folder))
        demo.start(environment=clean_environment()).wait_for(WELCOME)
        demo.first_printed = demo.running.printed
        yield demo
        demo.remove()


def test_the_console_offers_a_customer_and_an_adviser_who_sees_what_she_shares(demo):
    demo.ensure_running()
    customer = json.loads((demo.data / "console.json").read_text())["sample"]["reference"]
    homes = {}
    for action in ("sample", "sample_adviser"):
        with httpx.Client(base_url=f"http://127.0.0.1:{demo.port}", timeout=WAIT_TIMEOUT_SECONDS) as visitor:
            homes[action] = visitor.post("/console/sign-in", data={"action": action}).headers["location"]
            listed = visitor.get("/console/adviser")
            assert listed.status_code == (200 if action == "sample_adviser" else 403)
            assert (f"/console/adviser/{customer}" in listed.text) == (action == "sample_adviser")
    assert homes == {"sample": "/console", "sample_adviser": "/console/adviser"}


def test_first_start_shows_progress_and_a_short_screen(demo):
    printed = demo.first_printed
    for step in ("PostgreSQL (first start)", "Migrations", "Demo tenants", "API and worker"):
        assert step in printed
    assert f"Kontor runs at http://127.0.0.1:{demo.port}" in printed
    assert str(demo.data / "demo.json") in printed
    assert len(printed.splitlines()) < 24
    assert "Traceback" not in printed


def test_demo_json_has_exactly_the_documented_facts_and_is_private(demo):
    demo.ensure_running()
    facts = demo.facts
    assert set(facts) == {"baseUrl", "tenants"}
    assert facts["baseUrl"] == f"http://127.0.0.1:{demo.port}"
    assert [(tenant["name"], tenant["regulated"]) for tenant in facts["tenants"]] == [
        ("demo", True),
        ("demo-redirect", False),
    ]
    for tenant in facts["tenants"]:
        assert set(tenant) == TENANT_KEYS
        for login in ("adminClient", "userClient", "user"):
            assert set(tenant[login]) == {"username", "password"}
        assert tenant["apiKey"].startswith("kontor_key_")
        assert tenant["callbackBases"]
    assert (demo.data / "demo.json").stat().st_mode & 0o777 == 0o600


def test_the_printed_curl_line_works_as_pasted(demo):
    demo.ensure_running()
    command = re.search(r"curl .*?(?<!\\)\n", demo.running.printed, re.DOTALL)
    assert command is not None
    result = subprocess.run(["bash", "-c", command[0]], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["access_token"].startswith("kontor_at_")


def test_every_login_of_demo_json_works(demo):
    demo.ensure_running()
    for tenant in demo.facts["tenants"]:
        token = f"{demo.facts['baseUrl']}/auth/oauth2/token"
        for client in (tenant["adminClient"], tenant["userClient"]):
            login = (client["username"], client["password"])
            assert httpx.post(token, data={"grant_type": "client_credentials"}, auth=login).status_code == 200
    assert demo.get_token() == 200


def test_a_second_start_on_the_same_folder_is_refused(demo):
    demo.ensure_running()
    arguments = ["demo", "--port", str(find_port()), "--data", str(demo.data)]
    second = Running(arguments, demo.folder / "second.log")
    assert second.process.wait(WAIT_TIMEOUT_SECONDS) == 1
    assert f"Refused: Another demo is running on {demo.data}." in second.printed
    assert "Traceback" not in second.printed
    assert demo.get_token() == 200


def test_a_start_on_a_used_port_is_refused_and_leaves_nothing(demo):
    """The running demo's own port: Granian alone would let the two share it."""
    demo.ensure_running()
    data = demo.folder / "other"
    second = Running(["demo", "--port", str(demo.port), "--data", str(data)], demo.folder / "port.log")
    assert second.process.wait(WAIT_TIMEOUT_SECONDS) == 1
    assert f"Refused: Cannot listen on 127.0.0.1 port {demo.port}: Address already in use." in second.printed
    assert "Traceback" not in second.printed
    assert find_processes(str(data)) == []
    assert not EmbeddedPostgres(data).cluster.exists()


def test_after_kill_9_the_children_end_and_the_next_start_adopts_postgresql(demo):
    demo.ensure_running()
    before, postmaster = demo.facts, demo.postmaster
    assert demo.running.end(signal.SIGKILL) == -signal.SIGKILL
    demo.start().wait_for(WELCOME)  # at once, while the orphans may still hold the port
    assert demo.postmaster == postmaster
    assert demo.facts == before
    assert demo.get_token() == 200
    # Alone again: of the first start only PostgreSQL is left, and that now belongs to the second.
    demo.ensure_killed()
    assert demo.postmaster == postmaster


def test_after_kill_9_of_postgresql_too_the_next_start_recovers(demo):
    demo.ensure_killed()
    before, postmaster = demo.facts, demo.postmaster
    os.kill(postmaster, signal.SIGKILL)
    wait_until(lambda: not is_alive(postmaster), "PostgreSQL is dead")
    demo.start(*TODAY).wait_for(WELCOME)
    assert demo.facts == before
    assert demo.get_token() == 200
    assert demo.postmaster != postmaster


def test_today_reaches_every_process(demo):
    demo.ensure_running(*TODAY)
    children = f"KONTOR_PARENT_PID={demo.running.pid}"
    wait_until(lambda: len(find_processes(children)) >= 2, "API and worker are there")
    told = [environment_of(pid) for pid in find_processes(children)]
    assert {environment["KONTOR_TODAY"] for environment in told} == {TODAY[1]}


def test_ctrl_c_in_a_terminal_stops_everything(demo):
    """A terminal sends SIGINT to the whole process group."""
    demo.ensure_running()
    assert demo.running.end(signal.SIGINT, is_group=True) == 0
    demo.assert_all_gone()
    assert "Stopping …" in demo.running.printed
    assert f"Stopped; the data stays in {demo.data}" in demo.running.printed
    assert "Traceback" not in demo.running.printed


def test_a_start_without_demo_json_behind_a_proxy_renews_the_logins_and_sigterm_stops_everything(demo):
    """Every address is the public one. Two subjects in one test, because each start takes seconds."""
    demo.ensure_stopped()
    old, public = demo.facts, "https://kontor.example"
    (demo.data / "demo.json").unlink()
    demo.start(environment=clean_environment(**LATER_STARTS, KONTOR_BASE_URL=public)).wait_for(WELCOME)
    new = demo.facts
    for before, after in zip(old["tenants"], new["tenants"], strict=True):
        assert before["userClient"]["password"] != after["userClient"]["password"]
        assert before["apiKey"] != after["apiKey"]
    assert demo.get_token() == 200
    assert f"Kontor runs at {public}" in demo.running.printed
    assert new["baseUrl"] == public
    answer = httpx.get(f"http://127.0.0.1:{demo.port}/openapi.json")
    assert answer.json()["servers"] == [{"url": public}]
    assert answer.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"
    assert demo.running.end(signal.SIGTERM) == 0
    demo.assert_all_gone()


@pytest.mark.parametrize("moment", ["PostgreSQL", "API and worker"])
def test_sigint_to_the_process_alone_during_the_start_stops_everything(demo, moment):
    """Before the API and the worker are started, and while they are."""
    demo.ensure_stopped()
    running = demo.start()
    if moment == "PostgreSQL":
        running.wait_for(moment)
    else:
        wait_until(lambda: find_processes(f"KONTOR_PARENT_PID={running.pid}"), "they are started")
    assert running.end(signal.SIGINT) == 0
    assert WELCOME not in running.printed
    assert "Traceback" not in running.printed
    demo.assert_all_gone()


def test_a_terminal_that_is_closed_stops_everything(demo):
    """SIGHUP, and from then on nobody reads what is printed."""
    demo.ensure_stopped()
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*demo.running.command, "demo", "--port", str(demo.port), "--data", str(demo.data)],
        env=clean_environment(**LATER_STARTS), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer,
        start_new_session=True,
    )  # fmt: skip
    os.close(writer)
    seen = b""
    while WELCOME.encode() not in seen:
        read = os.read(reader, 4096)
        assert read, f"it ended too soon: {seen.decode()}"
        seen += read
    os.close(reader)
    process.send_signal(signal.SIGHUP)
    assert process.wait(WAIT_TIMEOUT_SECONDS) == 0
    demo.assert_all_gone()


def test_killed_during_the_first_start_the_next_one_works(tmp_path):
    """While initdb is at work, which goes on without its parent."""
    demo = Demo(tmp_path)
    try:
        first = demo.start()
        home = None
        while home is None or not any(path.name.startswith("cluster.new-") for path in home.iterdir()):
            assert first.process.poll() is None, first.printed
            home = EmbeddedPostgres(demo.data).home if (demo.data / "postgres.json").exists() else None
            home = home if home is not None and home.exists() else None
            time.sleep(0.002)
        first.end(signal.SIGKILL)
        second = demo.start()
        second.wait_for(WELCOME)
        assert demo.get_token() == 200
        assert second.end(signal.SIGINT) == 0
        demo.assert_all_gone()
        assert not [path for path in home.iterdir() if path.name.startswith(("cluster.new", "initdb"))]
    finally:
        demo.remove()


def test_sigterm_during_initdb_ends_cleanly(tmp_path):
    demo = Demo(tmp_path)
    running = demo.start()
    running.wait_for("is starting")
    assert running.end(signal.SIGTERM, is_group=True) == 0
    assert "Traceback" not in running.printed
    demo.assert_all_gone()
    shutil.rmtree(EmbeddedPostgres(demo.data).home, ignore_errors=True)

"""A server whose compute processes cannot be started is not ready, and is ready again when they can."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx

from kontor.config import Settings, export_settings
from process_tree import Running, clean_environment, find_port, status_of, wait_until

# Compute processes are started by the interpreter that is named here; the server's own process is forked.
SERVER = """
import multiprocessing, sys
from kontor.cli.processes import run_server
from kontor.config import read_settings

multiprocessing.set_executable(sys.argv[2])
run_server(read_settings(), "127.0.0.1", int(sys.argv[1]), 1)
"""
INTERPRETER = """#!/bin/sh
case "$*" in *spawn_main*) [ -e "{allowed}" ] || exit 1;; esac
exec "{python}" "$@"
"""


def run_server(settings: Settings, tmp_path: Path, allowed: Path) -> tuple[str, Running]:
    interpreter = tmp_path / "interpreter"
    interpreter.write_text(INTERPRETER.format(allowed=allowed, python=sys.executable))
    interpreter.chmod(0o700)
    assert subprocess.run([interpreter, "-c", "pass"], check=False).returncode == 0
    own = replace(settings, compute_processes=2, compute_preload=True)
    port = find_port()
    arguments = ["-c", SERVER, str(port), os.fspath(interpreter)]
    environment = clean_environment(**export_settings(own))
    return f"http://127.0.0.1:{port}", Running(arguments, tmp_path / "server.log", environment, [sys.executable])


def test_a_server_is_ready_while_a_compute_process_can_be_started_and_only_then(settings, tmp_path):
    allowed = tmp_path / "allowed"
    address, server = run_server(settings, tmp_path, allowed)
    try:
        wait_until(lambda: status_of(f"{address}/health/ready") == 503, "no process can be started")
        answer = httpx.get(f"{address}/health/ready", headers={"Accept": "application/problem+json"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "No compute process can be started." in answer.text
        assert status_of(f"{address}/health/live") == 200
        assert "compute.not-started" in server.printed
        allowed.touch()
        wait_until(lambda: status_of(f"{address}/health/ready") == 200, "ready again")
        assert httpx.get(f"{address}/health/ready").json()["checks"]["compute"] is True
    finally:
        server.discard()

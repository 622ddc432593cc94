"""What a process with the guard may connect to. The libraries themselves are asked; 192.0.2.1 is nowhere (RFC 5737)."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from hostile_banks import answer, running_hostile_bank
from timeouts import WAIT_TIMEOUT_SECONDS

SRC = Path(__file__).parents[2] / "src" / "kontor"
BEGIN = """
import asyncio, socket, ssl, urllib.request
import httpx, requests, uvloop
from kontor.egress import *
from kontor.services.runtime import harden_process

harden_process()
OUTSIDE = ("192.0.2.1", 9)
def send_datagram():
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        line.sendto(b"x", OUTSIDE)
async def open_stream():
    await asyncio.open_connection(*OUTSIDE)
async def ask():
    async with httpx.AsyncClient() as client:
        await client.get("http://192.0.2.1:9/")
async def open_datagrams():
    await asyncio.get_running_loop().create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=OUTSIDE)
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + dedent(script)], capture_output=True, text=True, timeout=WAIT_TIMEOUT_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_library_gets_a_connection_that_nobody_has_named():
    told = run("""
        def is_refused(error):
            while error is not None:
                if isinstance(error, EgressRefusedError) or "are closed" in str(error):
                    return True
                error = error.__cause__ or error.__context__
            return False

        attempts = {
            "socket": lambda: socket.create_connection(OUTSIDE, 1),
            "datagram": send_datagram,
            "urllib": lambda: urllib.request.urlopen("http://192.0.2.1:9/", timeout=1),
            "httpx": lambda: httpx.get("http://192.0.2.1:9/", timeout=1),
            "requests": lambda: requests.get("http://192.0.2.1:9/", timeout=1),
            "asyncio": lambda: asyncio.run(open_stream()),
            "asyncio httpx": lambda: asyncio.run(ask()),
            "uvloop": lambda: uvloop.run(open_stream()),
            "uvloop httpx": lambda: uvloop.run(ask()),
            "uvloop datagram": lambda: uvloop.run(open_datagrams()),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
            except Exception as error:
                print(name, is_refused(error))
            else:
                print(name, "open")
        [(key, counts)] = CONNECTION_COUNTERS.drain().items()
        print(key.host, key.purpose, counts.connections, counts.refused >= len(attempts))
    """)
    *attempts, counted = told.splitlines()
    assert len(attempts) == 10
    assert [line for line in attempts if not line.endswith("True")] == []
    assert counted == "192.0.2.1 other 0 True"


def test_this_machine_may_be_connected_to_in_every_way():
    with running_hostile_bank(answer(b"{}")) as bank:
        told = run(f"""
            address, port = "127.0.0.1", {bank.url.rpartition(":")[2]}
            async def open_it():
                _, writer = await asyncio.open_connection(address, port)
                writer.close()
            socket.create_connection((address, port), 5).close()
            asyncio.run(open_it())
            uvloop.run(open_it())
            print(CONNECTION_COUNTERS.drain())
        """)
    assert told.strip() == "{}"


def test_a_named_destination_gets_past_the_guard_and_its_neighbour_does_not():
    """Nothing answers at 192.0.2.1: what the kernel says is that it was tried."""
    told = run("""
        named = Destination(Purpose.VAULT, frozenset({"192.0.2.1"}))
        for host in ("192.0.2.1", "192.0.2.2"):
            try:
                open_socket(named, host, 9, 0.05)
            except EgressRefusedError:
                print(host, "refused")
            except OSError:
                print(host, "tried")
        for key, counts in sorted(CONNECTION_COUNTERS.drain().items()):
            print(key.host, key.purpose, counts.connections, counts.failures, counts.refused)
    """)
    assert told.splitlines() == [
        "192.0.2.1 tried",
        "192.0.2.2 refused",
        "192.0.2.1 vault 0 1 0",
        "192.0.2.2 vault 0 0 1",
    ]


# What connects, by its module; and the only modules of ours that call it.
CALLS = {
    "create_connection", "create_datagram_endpoint", "open_connection", "urlopen", "connect", "connect_ex",
    "AsyncClient", "Client", "HTTPTransport", "AsyncHTTPTransport", "ConnectionPool", "AsyncConnectionPool",
    "SyncBackend", "HTTPConnection", "HTTPSConnection", "Session", "SMTP",
}  # fmt: skip
NETWORK_MODULES = {
    "aiohttp", "ftplib", "http", "httpcore", "httpx", "imaplib", "poplib", "requests", "smtplib", "socket", "telnetlib",
    "urllib", "urllib3", "websockets", "asyncio",
}  # fmt: skip
ALWAYS = ("create_connection", "create_datagram_endpoint", "connect_ex")  # of any object
METHODS = {"get", "post", "put", "patch", "delete", "request", "stream", "head"}  # of modules
OPENING = {
    "api/tracing.py": "with the adapter of a destination",
    "cli/demo_processes.py": "asks the demo's own server whether it is ready",
    "cli/syncs/actual.py": "a client: the address is an argument of its command",
    "cli/syncs/firefly.py": "a client: the address is an argument of its command",
    "connectors/bank_http.py": "within `opening`",
    "demobank/xs2a/serving.py": "the demo bank asks its own server whether it is ready",
    "egress/connections.py": "the one place",
    "egress/transports.py": "the one place",
    "services/merchants/model_calls.py": "with the transport of a destination",
    "services/webhooks/calls.py": "with the transport of a destination",
    "storage/transit_keys.py": "with the transport of a destination",
}


# Parsing is slow, and a file without any of these words opens nothing.
NAMED = re.compile(rf"\b({'|'.join((*NETWORK_MODULES, *ALWAYS))})\b")


def opens(text: str) -> bool:
    if NAMED.search(text) is None:
        return False
    tree = ast.parse(text)
    names = {}  # of what is imported: its module
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: node.module for alias in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        base: ast.expr = node.func
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        is_plain = isinstance(base, ast.Name)
        while isinstance(base, ast.Attribute):
            base = base.value
        module = names.get(base.id, "").partition(".")[0] if isinstance(base, ast.Name) else ""
        if name in ALWAYS:
            return True
        if module in NETWORK_MODULES and (name in CALLS or (not is_plain and name in METHODS)):
            return True
    return False


def test_no_other_module_opens_connections():
    found = {file.relative_to(SRC).as_posix() for file in SRC.rglob("*.py") if opens(file.read_text("utf-8"))}
    assert found == set(OPENING)


@pytest.mark.parametrize(
    "text",
    [
        "import httpx as h\nh.get('x')",
        "from httpx import AsyncClient\nAsyncClient()",
        "import socket\nsocket.create_connection(1)",
        "import urllib.request\nurllib.request.urlopen('x')",
        "from asyncio import open_connection\nopen_connection()",
        "import http.client\nhttp.client.HTTPSConnection('x')",
        "import requests\nrequests.post('x')",
        "import smtplib\nsmtplib.SMTP()",
    ],
)
def test_what_opens_connections_is_noticed(text):
    assert opens(text)

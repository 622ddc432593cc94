"""Kontor and Actual Budget take in, compare again, and list the same bookings, in turn, by processor time."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from rich.console import Console

from benchmarks.cores import children_cpu_seconds, cpu_seconds
from benchmarks.endpoints import Request
from benchmarks.environment import BenchmarkEnvironment, open_database
from benchmarks.machine import describe_load, describe_run, read_load
from benchmarks.measure import find_postgres
from benchmarks.report import show_table, write_table_page
from benchmarks.servers import OURS, ServerProcess, free_port
from kontor.config import Settings
from kontor.connectors.demo.people import large_person
from kontor.demobank.statements import write_camt053
from kontor.domain.transactions import Transaction, find_day

TODAY = date(2026, 11, 15)
SIZE, QUICK_SIZE = 10_000, 1_000
ROUNDS, QUICK_ROUNDS = 5, 1
LISTS = 5
PEERS = Path(sys.executable).parents[1] / "peers"
PROGRAM = PEERS / "node_modules/@actual-app/sync-server/build/bin/actual-server.js"
START_SECONDS = 60
SYNC_MEGABYTES = 500  # its default is less than 10,000 bookings take in one synchronisation
FILES = "dateien"  # the access that files are imported to
STEPS = {
    "import": "import into an empty account",
    "repeat": "import the same file again",
    "list": "list the account",
}
HEADINGS = ("", "Kontor CPU s", "Actual CPU s", "Kontor takes", "least – most")


Times = dict[str, list[float]]  # processor time of each step, round by round


class Kontor:
    """The server, its compute processes, PostgreSQL, and this process as the caller that parses the answer."""

    def __init__(self, server: ServerProcess, postgres: int, token: str, file: bytes) -> None:
        self._server, self._postgres, self._token, self._file = server, postgres, token, file

    def read_clock(self) -> float:
        return self._server.cpu_seconds() + children_cpu_seconds(self._postgres) + time.process_time()

    def import_file(self) -> tuple[int, int]:
        """Bookings that were new, and bookings that were known."""
        [account] = self._ask("/customer/v2/imports", self._file)["konten"]
        self._list = f"/customer/v2/bankzugaenge/{FILES}/{account['produktId']}/kontoumsaetze"
        return account["neu"], account["bekannt"]

    def list_bookings(self) -> int:
        return len(self._ask(self._list))

    def _ask(self, path: str, body: bytes | None = None) -> Any:
        return json.loads(self._server.ask(Request(path, self._token), body))


class Actual:
    """The server, and the client that has the data: Actual's server stores changes and does not read them."""

    def __init__(self, server: int, client: subprocess.Popen[str], file: Path) -> None:
        self._server, self._client, self._file = server, client, file
        self._client_seconds = 0.0

    def read_clock(self) -> float:
        return cpu_seconds(self._server) + self._client_seconds

    def import_file(self) -> tuple[int, int]:
        result = self.ask("import", file=str(self._file))
        return result["added"], result["updated"]

    def list_bookings(self) -> int:
        return int(self.ask("list")["count"])

    def ask(self, command: str, **options: str) -> dict[str, Any]:
        stdin, stdout = _pipes(self._client)
        stdin.write(json.dumps({"command": command, **options}) + "\n")
        stdin.flush()
        line = stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "Actual's client has ended."}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        self._client_seconds += answer.pop("seconds")
        return answer


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def make_rows(size: int) -> tuple[bytes, str, int]:
    """The same booked rows as camt.053 for Kontor and as the objects that Actual's API takes, and their number."""
    account = max(large_person(size, TODAY).accounts, key=lambda account: len(account.entries))
    rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending][-size:]
    file = write_camt053(account.product, rows, Decimal("100.00"), day=TODAY)
    return file, json.dumps([describe_row(row, number) for number, row in enumerate(rows)]), len(rows)


def describe_row(row: Transaction, number: int) -> dict[str, Any]:
    return {
        "date": str(find_day(row)),
        "amount": int(row.amount * 100),
        "payee_name": row.counterparty_name or "Unbekannt",
        "notes": row.purpose,
        "imported_id": str(number),
        "cleared": True,
    }


@contextmanager
def running_actual(folder: Path) -> Iterator[tuple[int, Callable[[], subprocess.Popen[str]]]]:
    """Actual's server as a process of its own; returns it and what starts a client of it."""
    (folder / "node_modules").symlink_to(PEERS / "node_modules")
    port = free_port()
    environment = os.environ | {
        "ACTUAL_PORT": str(port),
        "ACTUAL_HOSTNAME": "127.0.0.1",
        "ACTUAL_DATA_DIR": str(folder),
        "ACTUAL_LOGIN_METHOD": "password",
        "ACTUAL_UPLOAD_FILE_SYNC_SIZE_LIMIT_MB": str(SYNC_MEGABYTES),
    }
    url = f"http://127.0.0.1:{port}"
    command = ["node", str(Path(__file__).with_name("peer.mjs")), str(folder), url]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            ["node", str(PROGRAM)], env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_for(url, server, folder / "log")
            yield (
                server.pid,
                lambda: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True),
            )
        finally:
            server.terminate()
            server.wait(60)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/info", timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    raise RuntimeError(f"Actual's server did not start:\n{log.read_text()}")


def measure(side: Kontor | Actual, count: int, times: Times) -> None:
    """One round of all steps. A side that imports or lists another number of bookings is an error, not a figure."""

    def time_step(step: str, run: Callable[[], object], repetitions: int = 1) -> None:
        before = side.read_clock()
        for _ in range(repetitions):
            run()
        times.setdefault(step, []).append((side.read_clock() - before) / repetitions)

    def import_new() -> None:
        check("new bookings", side.import_file()[0], count)

    def import_again() -> None:
        check("new bookings of a repeated import", side.import_file()[0], 0)

    def list_all() -> None:
        check("listed bookings", side.list_bookings(), count)

    time_step("import", import_new)
    time_step("repeat", import_again)
    list_all()  # code is warm
    time_step("list", list_all, LISTS)


def check(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise RuntimeError(f"{found} {what} instead of {expected}; the figures would mean nothing")


async def add_customers(settings: Settings, number: int) -> list[str]:
    async with BenchmarkEnvironment(settings) as environment:
        return [(await environment.add_customer()).token for _ in range(number)]


def measure_both(settings: Settings, folder: Path, size: int, rounds: int, say: Callable[[str], None]) -> list[Times]:
    file, objects, count = make_rows(size)
    small_file, small_objects, small_count = make_rows(200)
    (folder / "rows.json").write_text(objects)
    (folder / "few.json").write_text(small_objects)
    warm_up, *tokens = asyncio.run(add_customers(settings, rounds + 1))
    ours: Times = {}
    theirs: Times = {}
    postgres = find_postgres(settings)
    with (
        ServerProcess(OURS, settings, "", settings.data / "kontor.log", set()) as server,
        running_actual(folder) as (actual, start_client),
    ):
        server.wait_for(Request("/customer/v2/bankzugaenge", warm_up))
        # Compute processes start, modules are loaded, code is compiled: not part of what is compared.
        measure(Kontor(server, postgres, warm_up, small_file), small_count, {})
        for number, token in enumerate(tokens):
            measure(Kontor(server, postgres, token, file), count, ours)
            with start_client() as client:
                peer = Actual(actual, client, folder / "rows.json")
                peer.ask("bootstrap")
                peer.ask("make", name=f"round {number}", file=str(folder / "few.json"))
                measure(peer, count, theirs)
                _pipes(client)[0].close()
            say(f"round {number + 1} of {rounds}: " + describe_round(ours, theirs))
    return [ours, theirs]


def describe_round(ours: Times, theirs: Times) -> str:
    parts = (f"{step} {ours[step][-1]:.3f} and {theirs[step][-1]:.3f} s" for step in STEPS)
    return ", ".join(parts)


def make_table_rows(ours: Times, theirs: Times) -> list[tuple[str, ...]]:
    rows = []
    for step, title in STEPS.items():
        ratios = [own / other for own, other in zip(ours[step], theirs[step], strict=True)]
        rows.append(
            (
                title,
                f"{statistics.median(ours[step]):.3f}",
                f"{statistics.median(theirs[step]):.3f}",
                f"{statistics.median(ratios):.2f} × the time",
                f"{min(ratios):.2f} – {max(ratios):.2f}",
            )
        )
    return rows


def run_actual(console: Console, target: Path | None, *, is_quick: bool) -> None:
    load_before = read_load()
    size, rounds = (QUICK_SIZE, QUICK_ROUNDS) if is_quick else (SIZE, ROUNDS)
    with open_database() as settings, tempfile.TemporaryDirectory(prefix="kontor-bench-") as folder:
        ours, theirs = measure_both(settings, Path(folder), size, rounds, console.print)
    rows = make_table_rows(ours, theirs)
    lines = [f"{size:,} bookings, {rounds} {'round' if rounds == 1 else 'rounds'}; medians."]
    show_table("Kontor beside Actual Budget", HEADINGS, rows, lines, console)
    if target is not None:
        write_page(target / "actual.md", rows, lines, load_before)
        console.print(f"Written to {target / 'actual.md'}.")


def read_version() -> str:
    package = PEERS / "node_modules/@actual-app/sync-server/package.json"
    return str(json.loads(package.read_text())["version"])


def write_page(path: Path, rows: Sequence[tuple[str, ...]], lines: Sequence[str], load_before: float) -> None:
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    machine = describe_run(
        "./dev bench --actual",
        describe_load(load_before, "start"),
        Actual=f"@actual-app/sync-server and @actual-app/api {read_version()}, Node {node.removeprefix('v')}",
    )
    introduction = (
        "Kontor and Actual Budget, which people use for the same bookings, in turn, round by round, each round with an"
        " empty account. Figures are processor time. For Kontor that is the server with its compute processes,"
        " PostgreSQL, and the caller that parses the JSON. For Actual it is the server and the client, since the client"
        " holds the data and the server stores encrypted or opaque changes."
        " The work is not the same, and differs in both directions. Kontor parses a camt.053 file of the demo bank,"
        " tags each booking and looks for transfers between own accounts. Actual gets ready objects, as its API asks"
        " for, and applies payees and rules. The"
        " bookings are made by our own generator. Actual's list is read from the client's own copy and Kontor's over"
        " HTTP, with all fields of the interface."
    )
    write_table_page(path, "Benchmark: beside Actual Budget", introduction, HEADINGS, rows, lines, machine)

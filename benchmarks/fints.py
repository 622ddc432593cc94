"""What a FinTS refresh costs, beside bare python-fints doing the same at the same bank."""

import logging
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from rich.console import Console

from benchmarks.machine import describe_load, describe_run, read_load
from benchmarks.report import show_table, write_table_page
from benchmarks.servers import free_port
from kontor.connectors.base import Context, Continue, Done, Fetch, Fetched, Progress, State
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.fetching import FREE_DAYS
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

BANK_CODE, LOGIN, PIN, PRODUCT = "99999999", "student", "demo", "KONTORBENCH"
TODAY = date(2026, 11, 13)
TARGET = 1.1
ROUNDS, QUICK_ROUNDS = 7, 3
HEADINGS = ("Refresh", "Bookings", "CPU ms", "Compared with Kontor")
SINCE = TODAY - timedelta(days=FREE_DAYS)


@dataclass
class Side:
    """One way to refresh; `run` returns how many bookings it has found."""

    name: str
    run: Callable[[], int]
    seconds: list[float] = field(default_factory=list)
    bookings: int = 0

    def measure(self) -> None:
        begin = time.process_time()
        self.bookings = self.run()
        self.seconds.append(time.process_time() - begin)


class Ours:
    def __init__(self, url: str, authority: Path) -> None:
        bank = FintsBank(BANK_CODE, url)
        self._connector = FintsConnector(lambda provider: bank, PRODUCT, authority)
        self._provider = Provider(UUID(int=1), "Demobank", "fints", (), ())
        self._connector_state: State | None = None

    def refresh(self) -> int:
        credentials = {"userid": Secret(LOGIN), "pin": Secret(PIN)}
        step = self._connector.begin(self._provider, credentials, Fetch(), self._connector_state, Context(TODAY))
        assert isinstance(step, Progress), step
        done = self._connector.resume(self._provider, credentials, step.state, Continue(), Context(TODAY))
        assert isinstance(done, Done), done
        assert isinstance(done.result, Fetched)
        self._connector_state = done.connector_state
        return sum(not row.is_pending for rows in done.result.transactions.values() for row in rows)


class Theirs:
    """python-fints as its documentation uses it, with all that it can keep from one dialogue to the next."""

    def __init__(self, url: str, authority: Path, *, is_read: bool) -> None:
        self._url, self._authority, self._is_read = url, authority, is_read
        self._kept: bytes | None = None

    def refresh(self) -> int:
        from fints.client import FinTS3PinTanClient

        client = FinTS3PinTanClient(BANK_CODE, LOGIN, PIN, self._url, product_id=PRODUCT, from_data=self._kept)
        client.connection.session.trust_env = False
        client.connection.session.verify = str(self._authority)
        if self._kept is None:
            client.fetch_tan_mechanisms()
            if client.is_tan_media_required():
                client.set_tan_medium(client.get_tan_media()[1][0])
        with client:
            count = sum(self._read(client, account) for account in client.get_sepa_accounts())
        self._kept = client.deconstruct(including_private=True)
        return count

    def _read(self, client: Any, account: Any) -> int:
        client.get_balance(account)
        if self._is_read:
            return len(client.get_transactions(account, SINCE))
        booked, _ = client.get_transactions_xml(account, SINCE)
        return sum(document.count(b"<Ntry>") for document in booked)


@contextmanager
def running_bank() -> Iterator[tuple[str, Path]]:
    """`kontor demobank`, a process of its own."""
    port, other = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="kontor-bench-") as folder:
        Path(folder).chmod(0o755)  # the unprivileged user that runs PostgreSQL for root must get in
        ports = ("--fints-port", str(port), "--xs2a-port", str(other))
        command = [sys.executable, "-m", "kontor", "demobank", "--data", folder, "--today", str(TODAY), *ports]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "Ctrl-C" in line:
                    break
            yield f"https://127.0.0.1:{port}/fints", Path(folder) / "demobank" / "ca.pem"
        finally:
            process.terminate()
            process.wait(60)


def measure_sides(url: str, authority: Path, rounds: int) -> list[Side]:
    ours = Ours(url, authority)
    raw, read = Theirs(url, authority, is_read=False), Theirs(url, authority, is_read=True)
    sides = [
        Side("Kontor: camt, read", ours.refresh),
        Side("python-fints: camt, not read", raw.refresh),
        Side("python-fints: MT940, read by mt-940", read.refresh),
    ]
    for side in sides:  # the first one of each learns what later ones know
        side.run()
    for _ in range(rounds):
        for side in sides:
            side.measure()
    return sides


def run_fints(console: Console, target: Path | None, *, is_quick: bool) -> None:
    warnings.simplefilter("ignore")
    logging.getLogger("fints").setLevel(logging.ERROR)
    with running_bank() as (url, authority):
        sides = measure_sides(url, authority, QUICK_ROUNDS if is_quick else ROUNDS)
    if len({side.bookings for side in sides}) != 1:
        raise SystemExit(f"They do not find the same: {[(side.name, side.bookings) for side in sides]}")
    ours = sides[0]
    rows, lines = [], []
    for side in sides:
        ratio = statistics.median(
            our_time / their_time for our_time, their_time in zip(ours.seconds, side.seconds, strict=True)
        )
        compared = "" if side is ours else f"Kontor costs {ratio:.2f} ×"
        milliseconds = f"{statistics.median(side.seconds) * 1000:.0f}"
        rows.append((side.name, str(side.bookings), milliseconds, compared))
        if side is not ours:
            verdict = "reached" if ratio <= TARGET else "not reached"
            lines.append(f"{side.name}: target at most {TARGET} ×, measured {ratio:.2f} ×: {verdict}.")
    show_table("A FinTS refresh", HEADINGS, rows, lines, console)
    if target is not None:
        write_page(target / "fints.md", rows, lines)
        console.print(f"Written to {target / 'fints.md'}.")


def write_page(path: Path, rows: Sequence[tuple[str, ...]], lines: Sequence[str]) -> None:
    machine = describe_run("./dev bench --fints", describe_load(read_load(), "end"))
    introduction = (
        "CPU time of the process that runs a FinTS refresh: log in, list the accounts, read each balance and the"
        f" bookings of {FREE_DAYS} days. Both sides talk in turn to the same demo bank, in a separate process, as the"
        f" same customer, and reuse as much state between refreshes as they can. Figures are medians of {ROUNDS}"
        " rounds. Kontor also reads depots and parses the statements; the library is measured with camt, which it"
        " returns unparsed, and with MT940, which it parses with `mt-940`."
    )
    write_table_page(path, "Benchmark: FinTS refresh", introduction, HEADINGS, rows, lines, machine)

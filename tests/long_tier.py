"""The long tier: tests marked `programs`, `long`, `peers` or `examples`, run by `./dev test --all`.

What has passed is remembered for the state of the source it passed with, and not run again: a run that was stopped
goes on where it was. With `--long-minutes` no test is started after that time, except those marked `programs`, which
come first and are never left out. Each run says how many tests of the tier have passed in all runs, and which are left.
"""

import hashlib
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

LEFT_OUT = "left out: no time left"
ROOT = Path(__file__).parent.parent
STATE = ROOT / ".pytest_cache" / "long_tier.json"
MAX_NAMES = 30


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("long tier")
    group.addoption("--long-tier", action="store_true", help="run tests marked programs, long, peers or examples")
    group.addoption("--long-minutes", type=float, help="start no test of the long tier after so many minutes")


def identify_source() -> str | None:
    """Of what is committed and what is not. None outside of a git checkout: then nothing is remembered."""
    try:
        parts = [
            subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout
            for arguments in (("rev-parse", "HEAD"), ("diff", "HEAD"), ("status", "--porcelain"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_program(item: pytest.Item) -> bool:
    return item.get_closest_marker("programs") is not None


class State(msgspec.Struct):
    """What is remembered between runs."""

    source: str
    passed: set[str] = msgspec.field(default_factory=set)


def load_state(source: str) -> State:
    try:
        state = msgspec.json.decode(STATE.read_bytes(), type=State)
    except (OSError, msgspec.DecodeError):
        return State(source)
    return state if state.source == source else State(source)


class LongTier:
    """A plugin of pytest. Each xdist worker selects and stops by itself; the controller remembers and reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._left_out: set[str] = set()
        given = getattr(config, "workerinput", {}).get("long_tier")
        self._is_worker = given is not None
        if given is not None:
            self._source, self._deadline, passed = given
            self._state = State(self._source or "", set(passed))
            return
        minutes = config.getoption("--long-minutes")
        self._deadline = None if minutes is None else time.time() + minutes * 60
        self._source = identify_source()
        self._state = load_state(self._source or "")
        self._before = len(self._state.passed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """All workers must select the same tests, whenever they are started."""
        node.workerinput["long_tier"] = (self._source, self._deadline, sorted(self._state.passed))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Programs first, then files in an order that the source decides: short runs of many commits reach them all."""
        open_items = [item for item in items if item.nodeid not in self._state.passed]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self._state.passed])
        files = sorted({item.path for item in open_items})
        random.Random(self._source).shuffle(files)
        rank = {file: number for number, file in enumerate(files)}
        items[:] = sorted(open_items, key=lambda item: (not is_program(item), rank[item.path]))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self._deadline is not None and time.time() > self._deadline and not is_program(item):
            pytest.skip(LEFT_OUT)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_worker:
            return
        if report.when == "setup" and report.skipped and LEFT_OUT in str(report.longrepr):
            self._left_out.add(report.nodeid)
        elif report.when == "call" and report.passed and self._source is not None:
            self._state.passed.add(report.nodeid)
            STATE.parent.mkdir(exist_ok=True)
            STATE.write_bytes(msgspec.json.encode(self._state))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._state.passed:
            session.exitstatus = pytest.ExitCode.OK  # everything has passed already

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._is_worker:
            return
        total = len(self._state.passed)
        terminalreporter.section("long tier")
        terminalreporter.line(f"{total} passed in all runs of this source, {total - self._before} of them in this run.")
        if self._left_out:
            terminalreporter.line(f"{len(self._left_out)} left out; the next run goes on with them:")
            for name in sorted(self._left_out)[:MAX_NAMES]:
                terminalreporter.line(f"  {name}")
            if len(self._left_out) > MAX_NAMES:
                terminalreporter.line(f"  … and {len(self._left_out) - MAX_NAMES} more")

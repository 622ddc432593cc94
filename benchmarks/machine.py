"""What the figures were measured on."""

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from kontor.config import Settings


def describe_machine(settings: Settings, load_before: float) -> dict[str, str]:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.reveal()) as connection:
        row = connection.execute("show server_version").fetchone()
    return {
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Command": f"`{describe_command(sys.orig_argv)}` (what `./dev bench` runs)",
        "Cores": str(os.cpu_count()),
        "Processor": describe_processor(),
        "System": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version()
        + ("" if sys.implementation.name == "cpython" else f" ({sys.implementation.name})"),
        "PostgreSQL": f"{row[0]} (embedded, Unix socket)" if row else "unknown",
        "Load before": f"{load_before:.1f} processes of others wanted to run" if load_before >= 0 else "unknown",
        "Pool": f"{settings.pool_size} connections",
    }


def describe_run(command: str, load: str | None, **facts: str) -> dict[str, str]:
    """Of a page without a database: the command, the machine, `facts` of the page, and the load as `describe_load`."""
    described = {
        "Date": f"{datetime.now(UTC):%Y-%m-%d}",
        "Command": f"`{command}`",
        "Cores": str(os.cpu_count()),
        "Processor": describe_processor(),
        "Python": platform.python_version(),
        **facts,
    }
    return described if load is None else described | {"Load": load}


def describe_load(load: float, when: str) -> str:
    return f"{load:.1f} processes wanted to run at the {when}"


def describe_command(words: list[str]) -> str:
    return " ".join(word.removeprefix(f"{Path.cwd()}/") for word in words)


def read_load() -> float:
    """The average of the last minute. Above a few tenths, trust the ratios and not the figures."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else -1


# Arm does not write names into /proc/cpuinfo, only these numbers.
ARM_PARTS = {
    "0xd08": "Arm Cortex-A72",
    "0xd0b": "Arm Cortex-A76",
    "0xd0c": "Arm Neoverse-N1",
    "0xd40": "Arm Neoverse-V1",
    "0xd49": "Arm Neoverse-N2",
    "0xd4f": "Arm Neoverse-V2",
}


def describe_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    if not cpuinfo.exists():
        return platform.processor() or platform.machine()
    lines = [line.partition(":") for line in cpuinfo.read_text().splitlines()]
    facts = {key.strip(): value.strip() for key, _, value in lines}
    name = facts.get("model name") or ARM_PARTS.get(facts.get("CPU part", ""), "")
    return f"{name} ({platform.machine()})" if name else platform.machine()

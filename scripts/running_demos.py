"""A demo of its own for scripts that show or measure one, in a temporary folder."""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 180


@contextmanager
def running_demo() -> Iterator[dict[str, Any]]:
    """`kontor demo` on a free port, once all is ready; yields `demo.json`, with `console.json` and the folder."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "demo.log").open("w+") as log:
        command = [sys.executable, "-m", "kontor", "demo", "--port", str(_free_port()), "--data", folder]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(lambda: "Ctrl-C" in (Path(folder) / "demo.log").read_text(), process)
            facts, console = (json.loads((Path(folder) / f"{name}.json").read_text()) for name in ("demo", "console"))
            _wait(lambda: httpx.get(f"{facts['baseUrl']}/health/ready").status_code == 200, process)
            yield facts | {"console": console, "folder": folder}
        finally:
            process.terminate()
            process.wait(60)


def _wait(is_reached: Any, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while not is_reached():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit("the demo did not start")
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])

"""Prism, a validating proxy between a client and a bank."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contract import PRISM, load_contract

from processes import free_port


class Watched:
    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self.log = log

    def list_violations(self) -> list[str]:
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(errors="replace"))
        return [line for line in text.splitlines() if "iolation" in line or "error" in line.lower()]

    def count_requests(self) -> int:
        return self.log.read_text(errors="replace").count("Request received")


@contextmanager
def running_prism(upstream: str, folder: Path) -> Iterator[Watched]:
    assert PRISM.exists(), "Prism is not installed: ./dev test peers does that"
    document, log, port = folder / "contract.json", folder / "prism.log", free_port()
    document.write_text(json.dumps(load_contract()))
    with log.open("wb") as file:
        command = ["node", str(PRISM.resolve()), "proxy", str(document), upstream, "-p", str(port), "-h", "127.0.0.1"]
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
    try:
        for _ in range(2400):
            assert process.poll() is None, log.read_text()
            if "Prism is listening" in log.read_text():
                break
            time.sleep(0.1)
        yield Watched(f"http://127.0.0.1:{port}", log)
    finally:
        process.terminate()
        process.wait(30)

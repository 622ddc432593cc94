"""The quick start works as pasted, against a demo of its own."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from process_tree import clean_environment
from timeouts import WAIT_TIMEOUT_SECONDS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "quickstart.md"


@pytest.fixture
def data() -> Iterator[Path]:
    """The data folder of a running demo."""
    folder = Path(tempfile.mkdtemp(prefix="kontor-quickstart-"))
    folder.chmod(0o755)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    # Compute processes that start at their first task: `test_cli_demo.py` starts the demo with all of them.
    environment = clean_environment(KONTOR_COMPUTE_PROCESSES="1", KONTOR_COMPUTE_PRELOAD="false")
    log = folder / "demo.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "kontor", "demo", "--port", str(port), "--data", str(folder / "data")]
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while "Ctrl-C stops everything." not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield folder / "data"
    finally:
        process.terminate()
        process.wait(WAIT_TIMEOUT_SECONDS)
        shutil.rmtree(folder)


def test_every_line_works_as_pasted(data):
    start, *blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert start == "./dev demo\n"
    script = "set -eu\n" + "\n".join(blocks)
    ran = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"KONTOR_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("kontor_at_")
    assert lines[1].startswith("HTTP/1.1 201")
    assert {"KOPFDATEN", "VOLLSTAENDIG"} & set(lines)
    assert [line for line in lines if line.startswith("DEPOT")]
    assert [line for line in lines if '"betrag": -' in line]
    assert lines[-1] == "200"

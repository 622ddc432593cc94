"""The webhook guide works as pasted: its receiver and every line of its shell, against a demo of its own."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from process_tree import clean_environment
from processes import free_port
from timeouts import WAIT_TIMEOUT_SECONDS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "webhooks.md"


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a demo running in `data`, started as the guide says, and the guide's receiver."""
    folder = Path(tempfile.mkdtemp(prefix="kontor-webhooks-"))
    folder.chmod(0o755)
    (receiver,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "receiver.py").write_text(receiver, encoding="utf-8")
    # Compute processes that start at their first task: `test_cli_demo.py` starts the demo with all of them.
    environment = clean_environment(KONTOR_COMPUTE_PROCESSES="1", KONTOR_COMPUTE_PRELOAD="false")
    log = folder / "demo.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "kontor", *start_options(), "--port", str(free_port())]
        process = subprocess.Popen(
            [*command, "--data", str(folder / "data")],
            env=environment,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
    try:
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while "Ctrl-C stops everything." not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield folder
    finally:
        process.terminate()
        process.wait(WAIT_TIMEOUT_SECONDS)
        shutil.rmtree(folder)


def shell_blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def start_options() -> list[str]:
    """The guide starts the demo with `./dev`, which passes everything on."""
    start = shell_blocks()[0].split()
    assert start[0] == "./dev"
    return start[1:]


def test_every_line_and_the_receiver_work_as_pasted(folder):
    _, register, listen, happen, look, tidy = shell_blocks()
    # First what happens while nobody listens, so that the receiver has a gap to close.
    earlier = happen.replace("far-away", "earlier")
    script = "\n".join(
        ["set -eu", register, earlier, listen, "trap 'kill $receiver' EXIT", happen, look, wait_for_two(), tidy]
    )
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-c", script.replace("kill $receiver\n", "trap - EXIT; kill $receiver\n")],
        env=os.environ | {"KONTOR_DATA": str(folder / "data"), "PORT": str(free_port()), "PATH": tools},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = re.findall(r"\d+ access\.error [\w-]+", ran.stdout)
    assert sorted(told) == ["1 access.error earlier", "2 access.error far-away"]
    assert '"state":"DELIVERED"' in ran.stdout


def wait_for_two() -> str:
    arrived = '"serial":2,[^}]*DELIVERED[^}]*}.*"serial":1,[^}]*DELIVERED'
    return f"until curl -s $webhook/deliveries -H \"$manage\" | grep -q '{arrived}'; do sleep 0.2; done"

"""The commands of docs/guides/enable-banking.md, at the service that its section "Try it without a bank" starts."""

import json
import os
import re
import subprocess
import time
from contextlib import contextmanager

from guide_code import Guide
from kontor.config import export_settings
from processes import KONTOR, free_port
from timeouts import WAIT_TIMEOUT_SECONDS

GUIDE = Guide("guides/enable-banking.md")
REAL = ["--name", "DKB", "--name", "ING"]


@contextmanager
def running_service(settings, folder, words):
    """What it prints, once it is open."""
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*KONTOR, *words], cwd=folder, env=os.environ | export_settings(settings), stdout=file, stderr=file
        )
    try:
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while "Ctrl-C" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield log.read_text()
    finally:
        process.terminate()
        assert process.wait(WAIT_TIMEOUT_SECONDS) == 0, log.read_text()


def test_each_command_works_with_the_demo_service_in_place_of_enable_banking(settings, tmp_path):
    *configure, serve = GUIDE.list_commands()
    port = str(free_port())
    assert serve[:3] == ["kontor", "demobank", "--enable-banking-port"]
    with running_service(settings, tmp_path, [*serve[1:3], port, *serve[4:]]) as printed:
        given = dict(re.findall(r"(KONTOR_ENABLE_BANKING_\w+) +(\S+)", printed))
        assert given.keys() == {f"KONTOR_ENABLE_BANKING_{name}" for name in ("APPLICATION", "KEY", "URL")}
        given["KONTOR_ENABLE_BANKING_KEY"] = str(tmp_path / given["KONTOR_ENABLE_BANKING_KEY"])
        given["KONTOR_ENABLE_BANKING_BANKS"] = banks = str(tmp_path / "banks.json")
        names = {"/etc/kontor/banks.json": banks}
        environment = export_settings(settings) | {"KONTOR_ENABLE_BANKING_URL": given["KONTOR_ENABLE_BANKING_URL"]}
        told = ""
        for words in configure:
            if words[0] == "export":
                name = words[1].partition("=")[0]
                environment[name] = given[name]
                continue
            assert words[0] == "kontor"
            if words[1] == "bank":
                assert words[-4:] == REAL
                words = [*words[:-4], "--name", "Demo"]  # as the guide says below
            told = run_command(environment, [names.get(word, word) for word in words[1:]])
    assert [bank["name"] for bank in json.loads((tmp_path / "banks.json").read_text())["banks"]] == ["Demo-Bank"]
    # `kontor check` has looked the application up, and found the addresses that step 1 registers.
    assert re.search("The application .* is active", told)
    assert "1 banks are offered" in told
    assert "Problems: 0" in told


def run_command(environment, words):
    done = subprocess.run(
        [*KONTOR, *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr

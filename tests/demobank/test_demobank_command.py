"""`kontor demobank` as a user starts it: it tells where it is, answers, keeps its certificates, and stops."""

import base64
import os
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx

from kontor.config import Settings, export_settings
from kontor.connectors.enablebanking import EnableBankingSettings, list_banks, load_application
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.faults import draw_plan
from processes import free_port, run_kontor

MESSAGE = b"HKIDN:2:2+280:99999999+9999999999+0+0'HKVVB:3:3+0+0+1+KONTORTEST+1.0'HNHBS:4:1+1'"


def ask_anonymously(address: str, authority: Path) -> bytes:
    head = b"HNHBK:1:3+%012d+300+0+1'"
    message = head % (len(head % 0) + len(MESSAGE)) + MESSAGE
    context = ssl.create_default_context(cafile=authority)
    answer = httpx.post(address, content=base64.b64encode(message), verify=context, timeout=30)
    return base64.b64decode(answer.content)


def test_it_opens_answers_and_stops(settings: Settings, tmp_path: Path):
    ports = free_port(), free_port(), free_port()
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "kontor", "demobank", "--data", str(tmp_path / "data")),
                *("--fints-port", str(ports[0]), "--xs2a-port", str(ports[1]), "--today", "2026-11-13"),
                *("--enable-banking-port", str(ports[2])),
                *("--fault-seed", "7"),
            ],
            env=os.environ | export_settings(settings),
            stderr=file,
        )
    try:
        end = time.monotonic() + 90
        while "is open" not in log.read_text() or "Ctrl-C" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        authority = tmp_path / "data" / "demobank" / "ca.pem"
        assert str(authority) in log.read_text()
        assert f"seed 7      {', '.join(draw_plan(7).faults)}" in log.read_text()
        answer = ask_anonymously(f"https://127.0.0.1:{ports[0]}/fints", authority)
        assert b"Kontor Demobank" in answer
        assert f"127.0.0.1?:{ports[0]}/fints".encode() in answer
        (key_file,) = (tmp_path / "data" / "demobank-application").glob("*.pem")
        assert f"KONTOR_ENABLE_BANKING_APPLICATION  {key_file.stem}" in log.read_text()
        application = load_application(key_file.stem, key_file)
        listed = list_banks(application, EnableBankingSettings(f"http://127.0.0.1:{ports[2]}"), "DE")
        assert [bank.name for bank in listed] == ["Demo-Bank"]
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.read_text()


def test_unknown_faults_are_refused_with_the_names_that_there_are(settings: Settings):
    done = run_kontor(settings, "demobank", "--faults", "lost-answer,nonsense", code=1)
    assert "unknown: nonsense" in done.stderr
    assert "pays-twice" in done.stderr


def test_certificates_are_made_once_and_keys_are_closed(tmp_path: Path):
    first = ensure_certificates(tmp_path, "127.0.0.1")
    before = first.authority.read_bytes(), first.certificate.read_bytes()
    second = ensure_certificates(tmp_path, "127.0.0.1")
    assert (second.authority.read_bytes(), second.certificate.read_bytes()) == before
    for key in tmp_path.glob("*.key"):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    moved = ensure_certificates(tmp_path, "bank.example")
    assert moved.authority.read_bytes() == before[0], "clients need not trust anew"
    assert moved.certificate.read_bytes() != before[1]

"""Schemathesis asks the demo bank whatever the official contract allows, and what it forbids.

The contract's own examples are left out: that of the `Signature` header is no valid header.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from contract import keep_served, load_contract

from xs2a_dialogues import Caller, Xs2aBankUnderTest, new_login

pytestmark = [pytest.mark.official, pytest.mark.timeout(900)]

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,missing_required_header,unsupported_method"
)


def run_schemathesis(document: Path, url: str, *more: str) -> str:
    command = [str(Path(sys.executable).with_name("st")), "run", str(document), "--url", url, "--checks", CHECKS]
    command += ["--max-examples", "12", "--phases", "coverage,fuzzing", "--generation-deterministic", *more]
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "160"}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=850, cwd=document.parent, env=env)
    assert ended.returncode == 0, ended.stdout[-12000:] + ended.stderr[-2000:]
    return ended.stdout


def check_report(report: str) -> None:
    """Much was tried, and all of it was right."""
    found = re.search(r"(\d+) generated, (\d+) passed", report)
    assert found is not None, report[-4000:]
    assert found[1] == found[2]
    assert int(found[1]) > 500


def test_nothing_is_found(xs2a_bank: Xs2aBankUnderTest, tmp_path: Path):
    document = tmp_path / "contract.json"
    document.write_text(json.dumps(keep_served(load_contract())))
    report = run_schemathesis(document, xs2a_bank.url)
    check_report(report)


def test_nothing_is_found_with_a_consent_that_holds(xs2a_bank: Xs2aBankUnderTest, tmp_path: Path):
    """So that accounts, balances and bookings are really there."""
    caller = Caller(xs2a_bank.url, new_login("test_bank_message"))
    caller.get_consent()
    account = caller.call("GET", "/v1/accounts").json()["accounts"][0]["resourceId"]
    caller.close()
    contract = keep_served(load_contract())
    contract["paths"] = {
        path: operations for path, operations in contract["paths"].items() if path.startswith("/v1/accounts")
    }
    text = json.dumps(contract)
    facts = contract["components"]["parameters"]
    facts["accountId"]["schema"] = {"type": "string", "enum": [account]}
    document = tmp_path / "contract.json"
    document.write_text(json.dumps(contract))
    assert text != document.read_text()
    report = run_schemathesis(document, xs2a_bank.url, "-H", f"Consent-ID: {caller.consent}")
    check_report(report)

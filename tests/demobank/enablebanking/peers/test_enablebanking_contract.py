"""Kontor's connector and the demo service against Enable Banking's own contract: by its schemas, and through Prism."""

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from service_contract import CONTRACT, load_contract

from enablebanking_flows import FLOWS
from enablebanking_talk import ServiceDialogue
from kontor.connectors.base import Fetch
from kontor.connectors.enablebanking.failures import KINDS
from kontor.demobank.enablebanking.exchanges import CODES
from plain_http import plain_client
from processes import free_port

PRISM = Path(__file__).parents[4] / ".venv" / "peers" / "node_modules" / ".bin" / "prism"


@pytest.fixture(scope="module")
def contract():
    return load_contract()


@pytest.fixture(scope="module")
def prism(service, contract, tmp_path_factory):
    """A proxy in front of the demo service, and its log."""
    assert PRISM.exists(), "Prism is not installed: ./dev test peers does that"
    folder, port = tmp_path_factory.mktemp("prism"), free_port()
    document, log = folder / "contract.json", folder / "prism.log"
    document.write_text(json.dumps(contract))
    with log.open("wb") as file:
        command = ["node", str(PRISM.resolve()), "proxy", str(document), service.url, "-p", str(port)]
        process = subprocess.Popen([*command, "-h", "127.0.0.1"], stdout=file, stderr=subprocess.STDOUT)
    try:
        for _ in range(2400):
            assert process.poll() is None, log.read_text()
            if "Prism is listening" in log.read_text():
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", log
    finally:
        process.terminate()
        process.wait(30)


def list_violations(log: Path) -> list[str]:
    text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(errors="replace"))
    return [line for line in text.splitlines() if "iolation" in line]


@pytest.mark.official
@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_through_prism_violates_nothing(service, prism, flow):
    url, log = prism
    before, requests = len(list_violations(log)), log.read_text(errors="replace").count("Request received")
    FLOWS[flow](service, url)
    assert list_violations(log)[before:] == []
    assert log.read_text(errors="replace").count("Request received") > requests, "nothing went through the proxy"


@pytest.mark.official
def test_prism_finds_requests_that_break_the_contract(service, prism):
    """Would it have been seen? A client whose requests break the contract is found out."""
    url, log = prism
    before = len(list_violations(log))
    with plain_client(base_url=url, trust_env=False, timeout=60) as http:
        http.post("/auth", json={"state": 7})
        http.get("/sessions/no-uuid")
    found = "\n".join(list_violations(log)[before:])
    assert "request" in found


@pytest.mark.official
def test_every_message_keeps_to_the_schemas_of_the_contract(service, contract):
    """Without a proxy between: each exchange as the connector has recorded it."""
    dialogue = ServiceDialogue(service.make_connector(), "test_products")
    kept = dialogue.fetch().connector_state
    dialogue.finish(dialogue.authorise(Fetch(is_renewal=True), kept))
    checked = set()
    for exchange in dialogue.exchanges:
        path, operation = find_operation(contract, exchange.method, exchange.url)
        checked.add(f"{exchange.method} {path}")
        if exchange.content:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            check(contract, body, json.loads(exchange.content))
        answered = operation["responses"][str(exchange.status)]["content"]["application/json"]["schema"]
        check(contract, answered, json.loads(exchange.answer))
    assert len(checked) >= 5, checked


def find_operation(contract, method, url):
    told = "/" + url.split("/", 3)[3].partition("?")[0]
    for path, operations in contract["paths"].items():
        if method.lower() in operations and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), told):
            return path, operations[method.lower()]
    raise AssertionError(f"{method} {told} is not in the contract")


def check(contract, schema, message):
    validator = Draft202012Validator({**schema, "components": contract["components"]})
    assert [f"{error.json_path} {error.message}" for error in validator.iter_errors(message)] == []


@pytest.mark.official
def test_every_error_code_of_the_contract_has_a_kind(contract):
    codes = set(contract["components"]["schemas"]["ErrorCode"]["enum"])
    assert set(KINDS) == codes
    assert set(CODES) <= codes


# Without the contract


def test_without_the_contract_its_tests_fail_and_say_what_is_missing(monkeypatch):
    monkeypatch.delenv(CONTRACT, raising=False)
    with pytest.raises(AssertionError, match=CONTRACT):
        load_contract()


def test_a_path_that_leads_nowhere_fails(monkeypatch, tmp_path):
    monkeypatch.setenv(CONTRACT, str(tmp_path / "gone.yaml"))
    with pytest.raises(FileNotFoundError):
        load_contract()

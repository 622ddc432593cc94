"""API, worker and commands do all their work while every connection but to this machine is refused, and none was."""

import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from banking import href, new_customer, new_id
from fints_banks import BANK_CODE, TODAY, running_fints_bank
from hostile_banks import answer, running_hostile_bank
from kontor.bootstrap import open_services
from plain_http import plain_client
from processes import beside, run_kontor, running_server, running_worker
from receivers import Receiver
from tenants import create_tenant

NAME = "Testbank"
PRESENT = {"Customer-IP-Address": "93.184.216.34"}
CALLBACK = {"callbackUrl": "https://example.com/back"}
DETAILS = {
    "recipient": "Erika Mustermann",
    "iban": "DE89370400440532013000",
    "bic": "COBADEFFXXX",
    "amount": 1,
    "currency": "EUR",
    "purpose": "Filter",
}


@pytest.fixture(scope="module")
def filtered(tmp_path_factory):
    """Programs that are started from now on have the filter; what it says is in the file."""
    log = tmp_path_factory.mktemp("filter") / "addresses.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).with_name("filtered")))
        patch.setenv("KONTOR_TEST_ADDRESS_LOG", str(log))
        yield log


async def test_programs_work_with_everything_else_shut_and_the_ledger_names_every_host(
    settings, filtered, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("programs")
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        bank = stack.enter_context(running_fints_bank(own, folder / "fints", page_rows=100))
        collector = stack.enter_context(running_hostile_bank(answer(b"")))
        receiver = stack.enter_context(Receiver())
        banks = folder / "banks.toml"
        banks.write_text(f'[[bank]]\ncode = "{BANK_CODE}"\nname = "{NAME}"\nfints = "{bank.url}"\n')
        own = replace(
            own, banks=banks, fints_product_id="KONTORTEST", bank_authorities=bank.authority, demo=False,
            today=TODAY, allow_loopback=True, otlp_endpoint=collector.url,
        )  # fmt: skip
        with ExitStack() as running:
            running.enter_context(running_server(own, folder / "server.log"))
            running.enter_context(running_worker(own, folder / "worker.log"))
            http = running.enter_context(plain_client(base_url=own.base_url, timeout=60))
            async with open_services(replace(own, pool_size=4), "kontor tests, filtered") as services:
                tenant = await create_tenant(services, http)
            webhook = {"url": receiver.url, "events": ["payment.status"]}
            made = http.post(f"{tenant.url}/webhooks", json=webhook, headers=tenant.as_admin)
            assert made.status_code == 201, made.text
            customer = new_customer(tenant)
            found = http.get("/providers/v2", params={"q": NAME}, headers=customer.headers).json()
            provider = next(each["id"] for each in found if each["name"] == NAME)
            access = customer.add_complete("student+filter", providerId=provider)
            product = customer.product(access, "GIROKONTO")
            assert len(customer.transactions(product)) > 20
            body = {"instant": False, "transferDetails": DETAILS}
            url, facts = href(product, "initiate_single_transfer"), CALLBACK | {"paymentId": new_id()}
            asked = customer.post(url, body, params=facts, headers=PRESENT).json()
            customer.post(href(asked, "authenticate"), {"scaAuthenticationData": "24"})
            receiver.wait_for(1)
        run_kontor(own, "check")
        rows = json.loads(run_kontor(own, "egress", "--json").stdout)
    lines = filtered.read_text().splitlines()
    assert len([line for line in lines if line.startswith("filtered ")]) >= 4  # server, worker and commands
    assert [line for line in lines if not line.startswith("filtered ")] == []
    assert {row["purpose"] for row in rows} == {"bank", "webhook", "tracing"}
    for row in rows:
        assert row["connections"] > 0
        assert row["refused"] == 0
        assert row["bytesSent"] > 0
        assert row["bytesReceived"] > 0


def test_the_filter_refuses_and_says_so(filtered):
    """Otherwise the test above would prove nothing."""
    script = "import socket\nsocket.create_connection(('192.0.2.1', 9), 1)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "tests connect to no other machine: 192.0.2.1" in done.stderr
    assert "socket.connect 192.0.2.1" in filtered.read_text()

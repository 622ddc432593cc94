"""Banks on the wire, end to end: API and worker as processes of their own, the demo bank over FinTS and XS2A."""

import json
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import pytest

from banking import ACCESSES, href, new_customer, new_id, wait_for
from fints_banks import BANK_CODE, TODAY, running_fints_bank
from kontor.bootstrap import open_services
from kontor.connectors.demo.paying import NO_FUNDS_TEXT
from kontor.connectors.demo.people import person_for
from kontor.connectors.fints.codes import NOT_REGISTERED
from plain_http import plain_client
from processes import beside, running_server, running_worker
from statement_files import DAY, write
from tenants import create_tenant
from xs2a_dialogues import running_xs2a_bank

NAME = "Testbank auf dem Draht"
STRICT_NAME, STRICT_CODE = "Testbank mit strenger Tür", "99999998"
PRODUCT = "KONTORTEST"
PRESENT = {"Customer-IP-Address": "93.184.216.34"}
CALLBACK = {"callbackUrl": "https://example.com/back?state=1"}
DETAILS = {
    "recipient": "Erika Mustermann",
    "iban": "DE89370400440532013000",
    "bic": "COBADEFFXXX",
    "amount": 1,
    "currency": "EUR",
    "purpose": "Vom Draht",
}


@pytest.fixture(scope="module")
async def service(settings, tmp_path_factory):
    """A service of its own with one bank that can be reached in two ways."""
    folder = tmp_path_factory.mktemp("wire")
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        stopping = stack.enter_context(ExitStack())
        fints = stopping.enter_context(running_fints_bank(own, folder / "fints", page_rows=100))
        strict = stack.enter_context(running_fints_bank(own, folder / "fints", products=frozenset(["ANOTHERPROGRAM"])))
        xs2a = stack.enter_context(running_xs2a_bank(own))
        banks = folder / "banks.toml"
        banks.write_text(
            f'[[bank]]\ncode = "{BANK_CODE}"\nname = "{NAME}"\nfints = "{fints.url}"\n'
            f'[bank.xs2a]\nbase_url = "{xs2a.url}"\n'
            f'[[bank]]\ncode = "{STRICT_CODE}"\nname = "{STRICT_NAME}"\nfints = "{strict.url}"\n'
        )
        own = replace(own, banks=banks, fints_product_id=PRODUCT, bank_authorities=fints.authority)
        own = replace(own, demo=False, log_level="info", today=TODAY)
        logs = folder / "server.log", folder / "worker.log"
        stack.enter_context(running_server(own, logs[0]))
        stack.enter_context(running_worker(own, logs[1]))
        http = stack.enter_context(plain_client(base_url=own.base_url, timeout=60))
        async with open_services(replace(own, pool_size=4), "kontor tests, wire") as services:
            tenant = await create_tenant(services, http)
        yield SimpleNamespace(http=http, tenant=tenant, settings=own, logs=logs, stop_fints=stopping.close)


def find_provider(service, name):
    headers = {"Authorization": f"Bearer {service.tenant.user_token()}"}
    found = service.http.get("/providers/v2", params={"q": name}, headers=headers).json()
    return next(provider["id"] for provider in found if provider["name"] == name)


def read_ways(service, provider):
    headers = {"Authorization": f"Bearer {service.tenant.user_token()}"}
    shown = service.http.get(f"/providers/v2/{provider}/statistics", headers=headers).json()
    return {way["way"]: way for way in shown["ways"]}


def code(status):
    return status["messages"][-1]["code"]


def test_an_account_is_added_listed_paid_from_and_imported_into_over_fints(service):
    customer = new_customer(service.tenant)
    provider = find_provider(service, NAME)
    before = service.http.get(f"/providers/v2/{provider}", headers=customer.headers).json()
    assert before["capabilities"] == ["KONTEN"]  # nobody has called it yet
    login = "student+draht"  # has money for the transfer, which not every student has
    access = customer.add_complete(login, providerId=provider)
    product = customer.product(access, "GIROKONTO")
    before = customer.transactions(product)
    assert len(before) > 20
    assert product["iban"] == person_for(login, DAY).accounts[0].product.iban
    shown = service.http.get(f"/providers/v2/{provider}", headers=customer.headers).json()
    assert shown["capabilities"] == ["KONTEN", "KARTEN", "DEPOTS"]  # as the bank's parameters say
    assert [("DEPOT" in channel, "KREDITKARTE" in channel) for channel in shown["channels"]] == [
        (True, True),
        (False, False),
    ]
    ways = read_ways(service, provider)
    assert (ways["fints"]["calls"] > 0, ways["fints"]["isNext"], ways["xs2a"]["calls"]) == (True, True, 0)

    # The same rows as the bank's MT940 add nothing; older ones do, and the bank's next answer adds nothing to them.
    account = person_for(login, DAY).accounts[0]
    rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending]
    pushed = customer.http.post(
        href(product, "get_kontoumsaetze"),
        content=write("mt940", account.product, rows),
        headers=customer.headers | {"Content-Type": "text/plain"},
    )
    assert pushed.status_code == 201, pushed.text
    imported = customer.transactions(product)
    assert len(imported) >= len(rows)
    assert customer.refresh(access).status_code in (200, 201, 202)
    customer.wait_until(access, lambda shown: shown["status"] == "VOLLSTAENDIG")
    assert len(customer.transactions(product)) == len(imported)

    # A wrong TAN first, then the right one.
    url = href(product, "initiate_single_transfer")
    body = {"instant": False, "transferDetails": DETAILS}
    status = customer.post(url, body, params=CALLBACK | {"paymentId": new_id()}, headers=PRESENT).json()
    assert code(status) == "BA3030", status
    wrong = customer.post(href(status, "authenticate"), {"scaAuthenticationData": "7"}).json()
    assert "authenticate" in [relation["rel"] for relation in wrong["relations"]], wrong
    paid = customer.post(href(wrong, "authenticate"), {"scaAuthenticationData": "24"}).json()
    assert code(paid) == "BA1111", paid
    wait_for(
        lambda: [transaction.get("verwendungszweck", "") for transaction in customer.transactions(product)],
        lambda found: sum("Vom Draht" in purpose for purpose in found) == 1,
    )
    for log in service.logs:
        assert "Traceback" not in log.read_text()


def test_an_order_without_funds_is_refused_in_the_banks_own_words_over_fints(service):
    customer = new_customer(service.tenant)
    access = customer.add_complete(f"student+{new_id()[:8]}", providerId=find_provider(service, NAME))
    product = customer.product(access, "GIROKONTO")
    before = customer.transactions(product)
    body = {"instant": False, "transferDetails": DETAILS | {"amount": 99_999_999, "purpose": "Zu viel"}}
    query = CALLBACK | {"paymentId": new_id()}
    status = customer.post(href(product, "initiate_single_transfer"), body, params=query, headers=PRESENT).json()
    assert code(status) == "BA3030", status
    refused = customer.post(href(status, "authenticate"), {"scaAuthenticationData": "24"}).json()
    message = refused["messages"][-1]
    assert (message["level"], message["code"], message["details"]) == ("ERROR", "BA1104", NO_FUNDS_TEXT), refused
    assert "authenticate" not in [relation["rel"] for relation in refused["relations"]]
    assert customer.refresh(access).status_code < 300
    customer.wait_until(access, lambda shown: shown["status"] == "VOLLSTAENDIG")
    assert customer.transactions(product) == before


def test_a_bank_that_does_not_take_our_registration_is_named_in_the_issues(service):
    """The customer cannot mend that, and is not told to try another PIN; whoever runs the service reads why."""
    customer = new_customer(service.tenant)
    access = new_id()
    login = customer.access(f"student+{new_id()[:8]}") | {"providerId": find_provider(service, STRICT_NAME)}
    assert customer.post(ACCESSES, {access: login}).status_code < 300
    wait_for(lambda: customer.issue_codes(access), lambda codes: codes == ["BA999"])
    (issue,) = customer.read(f"{ACCESSES}/{access}/issues")["messages"]
    assert (issue["level"], issue["details"]) == ("ERROR", f"{NOT_REGISTERED} (9078).")
    assert PRODUCT not in json.dumps(issue)
    assert customer.products(access) == []


async def test_without_a_registration_no_bank_is_offered_over_fints(service):
    async with open_services(replace(service.settings, fints_product_id=None, pool_size=2), "kontor tests") as services:
        found = {provider.name: provider.bank_channels for provider in services.providers.search(None)}
        assert found[NAME] == ("xs2a",)
        assert not [name for name, ways in found.items() if "fints" in ways]
    async with open_services(replace(service.settings, pool_size=2), "kontor tests") as services:
        assert sum("fints" in provider.bank_channels for provider in services.providers.search(None)) > 1000


def test_a_bank_whose_fints_server_is_gone_is_reached_by_xs2a(service):
    """By whoever is new. Who has used FinTS waits for it: another way needs a consent of its own. Stops the server."""
    customer = new_customer(service.tenant)
    provider = find_provider(service, NAME)
    access = customer.add_complete(f"leer+{new_id()[:8]}", providerId=provider)
    assert read_ways(service, provider)["xs2a"]["calls"] == 0
    service.stop_fints()

    def refresh():
        """While a fetch is still being put away, asking for another one does nothing."""
        assert customer.refresh(access).status_code < 300
        return read_ways(service, provider)

    for _ in range(3):
        before = read_ways(service, provider)["fints"]["calls"]
        wait_for(refresh, lambda ways, before=before: ways["fints"]["calls"] > before)
        wait_for(lambda: customer.issue_codes(access), lambda codes: "BA1051" in codes)
    ways = read_ways(service, provider)
    assert not ways["fints"]["isNext"]
    assert (ways["xs2a"]["isNext"], ways["xs2a"]["calls"]) == (True, 0)

    new = new_id()
    login = customer.access(f"leer+{new_id()[:8]}") | {"providerId": provider}
    assert customer.post(ACCESSES, {new: login}).status_code == 201
    ways = wait_for(lambda: read_ways(service, provider), lambda ways: ways["xs2a"]["calls"] >= 1)
    assert ways["xs2a"]["successRate"] == 1
    # Over XS2A nobody is let in without consent: the customer is asked.
    wait_for(lambda: customer.message_codes(new) + customer.issue_codes(new), lambda codes: "BA3000" in codes)
    assert "BA3000" not in customer.message_codes(access)

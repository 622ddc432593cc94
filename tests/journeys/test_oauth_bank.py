"""A bank with OAuth, end to end: API and worker as processes of their own; tokens are sealed and never printed."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from types import SimpleNamespace

import psycopg
import pytest

from banking import href, new_customer, new_id
from consenting import CALLBACK, PRESENT, codes, new_login, start
from kontor.bootstrap import open_services
from kontor.demobank.xs2a.dialects import DIALECTS
from plain_http import plain_client
from processes import beside, running_server, running_worker
from secret_search import find_forms, list_forms
from tenants import create_tenant
from xs2a_dialogues import TODAY, running_xs2a_bank

NAME, CODE = "Testbank mit OAuth", "99999997"


@pytest.fixture(scope="module")
async def service(settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("oauth")
    issued = []

    def draw():
        issued.append(token_urlsafe(24))
        return issued[-1]

    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        bank = stack.enter_context(running_xs2a_bank(own, dialect=DIALECTS["commerzbank"], draw_code=draw))
        banks = folder / "banks.toml"
        banks.write_text(
            f'[[bank]]\ncode = "{CODE}"\nname = "{NAME}"\n[bank.xs2a]\nbase_url = "{bank.url}"\n'
            'dialect = "commerzbank"\nclient_id = "PSDDE-BAFIN-000001"\n'
        )
        own = replace(own, banks=banks, demo=False, log_level="debug", today=TODAY)
        logs = folder / "server.log", folder / "worker.log"
        stack.enter_context(running_server(own, logs[0]))
        stack.enter_context(running_worker(own, logs[1]))
        http = stack.enter_context(plain_client(base_url=own.base_url, timeout=60))
        async with open_services(replace(own, pool_size=4), "kontor tests, oauth") as services:
            tenant = await create_tenant(services, http)
        headers = {"Authorization": f"Bearer {tenant.user_token()}"}
        found = http.get("/providers/v2", params={"q": NAME}, headers=headers).json()
        provider = next(provider["id"] for provider in found if provider["name"] == NAME)
        yield SimpleNamespace(tenant=tenant, bank=bank, provider=provider, settings=own, logs=logs, issued=issued)


def test_a_customer_consents_on_the_banks_page_and_the_accounts_arrive(service):
    customer = new_customer(service.tenant)
    login = new_login("test_bank_message")
    consent = start(customer, login, facts={"providerId": service.provider})
    assert codes(consent.read()) == ["BA3005"]
    query = service.bank.authorise(href(consent.read(), "redirect_url"), login)
    assert codes(consent.enter(query)) == ["BA3050"]
    consent.wait_until_complete()
    product = customer.product(consent.access_id, "GIROKONTO")
    assert len(customer.transactions(product)) > 20
    assert len(service.issued) >= 3  # a code and two tokens
    for log in service.logs:
        text = log.read_text()
        assert "Traceback" not in text
        assert not [value for value in service.issued if value in text]
    with psycopg.connect(service.settings.migration_database_url.reveal()) as connection:
        (sealed,) = connection.execute("select memory from accesses where id = %s", [consent.access_id]).fetchone()
        connection.execute("checkpoint")
        (folder,) = connection.execute("show data_directory").fetchone()
    assert sealed
    forms = {f"{name} of {value}": form for value in service.issued for name, form in list_forms(value).items()}
    assert [hit for file in Path(folder).rglob("*") if file.is_file() for hit in find_forms(file, forms)] == []


def test_a_customer_who_declines_has_not_consented(service):
    customer = new_customer(service.tenant)
    login = new_login("test_bank_message")
    consent = start(customer, login, facts={"providerId": service.provider})
    query = service.bank.authorise(href(consent.read(), "redirect_url"), login, decision="cancel")
    assert codes(consent.enter(query)) == ["BA3040"]


def test_a_return_with_a_forged_state_has_not_consented(service):
    customer = new_customer(service.tenant)
    consent = start(customer, new_login("test_bank_message"), facts={"providerId": service.provider})
    assert codes(consent.enter("code=4711&state=forged"))[-1] == "BA3040"


def order(service, customer, access_id):
    details = {
        "amount": 1.5, "currency": "EUR", "recipient": "Erika Mustermann", "iban": "DE02120300000000202051",
        "bic": "BYLADEM1001", "purpose": "Miete",
    }  # fmt: skip
    answer = customer.post(
        href(customer.product(access_id, "GIROKONTO"), "initiate_single_transfer"),
        {"instant": False, "transferDetails": details},
        params={"callbackUrl": CALLBACK, "paymentId": new_id()},
        headers=PRESENT,
    )
    assert answer.status_code == 200, answer.text
    assert codes(answer.json()) == ["BA3005"]
    return answer.json()


def test_a_transfer_is_authorised_on_the_banks_page_or_declined_there(service):
    customer = new_customer(service.tenant)
    login = new_login("test_bank_message")
    consent = start(customer, login, facts={"providerId": service.provider})
    consent.enter(service.bank.authorise(href(consent.read(), "redirect_url"), login))
    consent.wait_until_complete()
    for decision, expected in (("cancel", "BA3040"), ("confirm", "BA1111")):
        status = order(service, customer, consent.access_id)
        query = service.bank.authorise(href(status, "redirect_url"), login, decision=decision)
        answer = customer.post(href(status, "authenticate"), {"scaAuthenticationData": query})
        assert codes(answer.json())[-1] == expected, answer.text
    for log in service.logs:
        text = log.read_text()
        assert "Traceback" not in text
        assert not [value for value in service.issued if value in text]

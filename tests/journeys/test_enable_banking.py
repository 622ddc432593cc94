"""A bank through Enable Banking, end to end: API and worker as processes of their own; only a name is entered."""

from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import psycopg
import pytest

from bank_pages import visit_page
from banking import href, new_customer
from consenting import CALLBACK, codes, new_login, renew, start
from enablebanking_talk import TODAY, running_service
from kontor.bootstrap import open_services
from kontor.connectors.aspsps import AspspBank, write_bank_list
from plain_http import plain_client
from processes import beside, running_server, running_worker
from tenants import create_tenant


@pytest.fixture(scope="module")
async def service(settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("enablebanking")
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings))
        bank = stack.enter_context(running_service(own, folder / "application"))
        bank.service.application = replace(bank.service.application, redirect_urls=(CALLBACK,))
        banks = folder / "banks.json"
        banks.write_bytes(write_bank_list([AspspBank("Demo-Bank", "DE", 180 * 86_400)]))
        own = replace(
            own,
            enable_banking_application=bank.service.application.id,
            enable_banking_key=bank.key_file,
            enable_banking_banks=banks,
            enable_banking_url=bank.url,
            demo=False,
            demo_bank=False,
            today=TODAY,
        )
        logs = folder / "server.log", folder / "worker.log"
        stack.enter_context(running_server(own, logs[0]))
        stack.enter_context(running_worker(own, logs[1]))
        http = stack.enter_context(plain_client(base_url=own.base_url, timeout=60))
        async with open_services(replace(own, pool_size=4), "kontor tests, enable banking") as services:
            tenant = await create_tenant(services, http)
        headers = {"Authorization": f"Bearer {tenant.user_token()}"}
        (found,) = http.get("/providers/v2", params={"q": "Demo-Bank"}, headers=headers).json()
        yield SimpleNamespace(tenant=tenant, bank=bank, provider=found, settings=own, logs=logs)


def connect(service, login="student"):
    customer = new_customer(service.tenant)
    consent = start(customer, new_login("any"), facts={"providerId": service.provider["id"]})
    assert codes(consent.read()) == ["BA3005"]
    assert codes(consent.enter(visit_page(href(consent.read(), "redirect_url"), login))) == ["BA3050"]
    consent.wait_until_complete()
    return customer, consent


def test_a_name_is_all_that_is_asked_for(service):
    (field,) = service.provider["authenticationInfo"]["fields"]
    assert (field["fieldkey"], field["secret"]) == ("userid", False)


def test_a_customer_consents_on_the_banks_page_and_the_accounts_arrive(service):
    customer, consent = connect(service)
    assert len(customer.transactions(customer.product(consent.access_id, "GIROKONTO"))) > 20
    for log in service.logs:
        assert "Traceback" not in log.read_text()
    with psycopg.connect(service.settings.migration_database_url.reveal()) as connection:
        query = "select memory, consent_until from accesses where id = %s"
        sealed, until = connection.execute(query, [consent.access_id]).fetchone()
    assert b"session" not in bytes(sealed)
    assert until is not None


def test_a_renewal_keeps_the_products(service):
    customer, consent = connect(service)
    before = customer.product(consent.access_id, "GIROKONTO")["id"]
    renewed = renew(customer, consent.access_id)
    assert codes(renewed.enter(visit_page(href(renewed.read(), "redirect_url"), "student"))) == ["BA3050"]
    renewed.wait_until_complete()
    assert customer.product(consent.access_id, "GIROKONTO")["id"] == before
    assert service.bank.service.list_statuses()[-2:] == ["CLOSED", "AUTHORIZED"]


def test_withdrawing_ends_the_session_at_enable_banking_and_the_receipt_says_so(service):
    customer, _ = connect(service)
    [permission] = customer.read("/customer/v2/berechtigungen")
    assert (permission["weg"], permission["status"]) == ("AGGREGATOR", "AKTIV")
    receipt = customer.delete(f"/customer/v2/berechtigungen/{permission['id']}").json()
    assert (receipt["bankInformiert"], receipt["geloescht"]["zugangsdaten"]) == (True, 1)
    assert service.bank.service.list_statuses()[-1] == "CLOSED"


def test_deleting_an_access_ends_the_session_and_so_does_erasing_the_user(service):
    customer, consent = connect(service)
    assert customer.delete(f"/customer/v2/bankzugaenge/{consent.access_id}").status_code == 200
    assert service.bank.service.list_statuses()[-1] == "CLOSED"
    customer, _ = connect(service)
    assert customer.delete(f"/customer/v2?confirm={customer.username}").status_code == 200
    assert service.bank.service.list_statuses()[-1] == "CLOSED"


def test_a_customer_who_declines_has_not_consented(service):
    customer = new_customer(service.tenant)
    consent = start(customer, new_login("any"), facts={"providerId": service.provider["id"]})
    page = href(consent.read(), "redirect_url")
    assert codes(consent.enter(visit_page(page, "student", decision="cancel"))) == ["BA3040"]


def test_a_return_with_a_forged_state_has_not_consented(service):
    customer = new_customer(service.tenant)
    consent = start(customer, new_login("any"), facts={"providerId": service.provider["id"]})
    assert codes(consent.enter("code=4711&state=forged"))[-1] == "BA3040"

"""The demo bank as an ASPSP: what it grants, counts, refuses and forgets."""

from dataclasses import replace
from uuid import uuid4

import httpx
import pytest

from kontor.cli.demobank import serving_xs2a
from kontor.connectors.demo.people import person_for
from processes import free_port
from xs2a_dialogues import TODAY, Caller, new_login, read_code, running_xs2a_bank

ORDER = {
    "instructedAmount": {"currency": "EUR", "amount": "3.00"},
    "creditorAccount": {"iban": "DE89370400440532013000"},
    "creditorName": "Erika Muster",
}
SEPA = "/v1/payments/sepa-credit-transfers"


@pytest.fixture
def moving(settings):
    """A bank whose clock may be moved, and a caller with a consent."""
    with running_xs2a_bank(settings) as bank:
        caller = Caller(bank.url, new_login("test_bank_message"))
        caller.get_consent()
        yield bank, caller
        caller.close()


def make_order(login):
    return ORDER | {"debtorAccount": {"iban": person_for(login, TODAY).accounts[0].product.iban}}


def start(caller, path, pin="demo"):
    return caller.call("POST", f"{path}/authorisations", {"psuData": {"password": pin}})


def test_the_third_wrong_tan_ends_the_authorisation_and_rejects_the_consent(caller):
    opened = caller.open_consent().json()
    path = f"/v1/consents/{opened['consentId']}"
    link = start(caller, path).json()["_links"]["authoriseTransaction"]["href"]
    for _ in range(3):
        wrong = caller.call("PUT", link, {"scaAuthenticationData": "7"})
        assert read_code(wrong) == (401, "PSU_CREDENTIALS_INVALID")
    assert caller.call("GET", link).json()["scaStatus"] == "failed"
    assert read_code(caller.call("PUT", link, {"scaAuthenticationData": "24"})) == (409, "STATUS_INVALID")
    assert caller.call("GET", f"{path}/status").json()["consentStatus"] == "rejected"


def test_the_third_wrong_pin_locks_the_customer(caller):
    path = f"/v1/consents/{caller.open_consent().json()['consentId']}"
    codes = [read_code(start(caller, path, "wrong")) for _ in range(3)]
    assert codes == [(401, "PSU_CREDENTIALS_INVALID")] * 2 + [(403, "SERVICE_BLOCKED")]
    assert read_code(start(caller, path)) == (403, "SERVICE_BLOCKED")


def test_without_the_customer_it_is_asked_four_times_a_day(moving):
    bank, caller = moving
    for _ in range(4):
        assert caller.call("GET", "/v1/accounts", PSU_IP_Address=None).status_code == 200
    assert read_code(caller.call("GET", "/v1/accounts", PSU_IP_Address=None)) == (429, "ACCESS_EXCEEDED")
    assert caller.call("GET", "/v1/accounts").status_code == 200
    bank.clock.move(days=1)
    assert caller.call("GET", "/v1/accounts", PSU_IP_Address=None).status_code == 200


def test_a_consent_ends_after_half_a_year_at_most(moving):
    bank, caller = moving
    facts = caller.call("GET", f"/v1/consents/{caller.consent}").json()
    assert facts["validUntil"] == "2027-05-01"
    bank.clock.move(days=179)
    assert read_code(caller.call("GET", "/v1/accounts")) == (401, "CONSENT_EXPIRED")
    assert caller.call("GET", f"/v1/consents/{caller.consent}/status").json()["consentStatus"] == "expired"


def test_old_bookings_need_a_fresh_authentication(moving):
    bank, caller = moving
    account = caller.call("GET", "/v1/accounts").json()["accounts"][0]
    link = f"{account['_links']['transactions']['href']}?bookingStatus=booked&dateFrom="
    assert caller.call("GET", f"{link}2025-01-01").status_code == 200
    bank.clock.move(minutes=20)
    assert read_code(caller.call("GET", f"{link}2025-01-01")) == (400, "PERIOD_INVALID")
    assert caller.call("GET", f"{link}2026-10-01").status_code == 200


def test_a_consent_for_once_is_good_for_minutes(settings):
    with running_xs2a_bank(settings) as bank:
        caller = Caller(bank.url, new_login("test_bank_message"))
        caller.get_consent(recurringIndicator=False, frequencyPerDay=1)
        assert caller.call("GET", "/v1/accounts").status_code == 200
        bank.clock.move(minutes=30)
        assert read_code(caller.call("GET", "/v1/accounts")) == (401, "CONSENT_EXPIRED")
        caller.close()


def test_a_consent_reaches_as_far_as_it_says(caller):
    iban = person_for(caller.login, TODAY).accounts[0].product.iban
    caller.get_consent(access={"accounts": [{"iban": iban}], "balances": [{"iban": iban}]})
    accounts = caller.call("GET", "/v1/accounts").json()["accounts"]
    assert [account["iban"] for account in accounts] == [iban]
    assert set(accounts[0]["_links"]) == {"balances"}
    path = f"/v1/accounts/{accounts[0]['resourceId']}"
    assert caller.call("GET", f"{path}/balances").status_code == 200
    assert read_code(caller.call("GET", f"{path}/transactions?bookingStatus=both")) == (401, "CONSENT_INVALID")


def test_a_deleted_consent_is_worth_nothing(caller):
    caller.get_consent()
    assert caller.call("DELETE", f"/v1/consents/{caller.consent}").status_code == 204
    assert read_code(caller.call("GET", "/v1/accounts")) == (401, "CONSENT_INVALID")
    caller.consent = str(uuid4())
    assert read_code(caller.call("GET", "/v1/accounts")) == (403, "CONSENT_UNKNOWN")


def test_a_customer_may_be_identified_later(caller):
    login, caller.login = caller.login, None
    opened = caller.open_consent().json()
    link = opened["_links"]["startAuthorisationWithPsuIdentification"]["href"]
    begun = caller.call("POST", link, {}).json()
    assert begun["scaStatus"] == "received"
    caller.login = login
    known = caller.call("PUT", begun["_links"]["updatePsuIdentification"]["href"], {}).json()
    assert known["scaStatus"] == "psuIdentified"
    asked = caller.call("PUT", known["_links"]["updatePsuAuthentication"]["href"], {"psuData": {"password": "demo"}})
    assert asked.json()["scaStatus"] == "scaMethodSelected"
    assert asked.headers["aspsp-sca-approach"] == "EMBEDDED"


def test_pages_hold_every_booking_once(xs2a_bank):
    caller = Caller(xs2a_bank.url, new_login("test_student"))
    caller.get_consent()
    account = caller.call("GET", "/v1/accounts").json()["accounts"][0]
    link = f"{account['_links']['transactions']['href']}?bookingStatus=both&dateFrom=2026-06-01"
    rows, pages = [], 0
    while link:
        report = caller.call("GET", link).json()["transactions"]
        rows += [booking["transactionId"] for booking in report["booked"]]
        pages += 1
        link = report["_links"].get("next", {}).get("href")
    entries = person_for(caller.login, TODAY).accounts[0].entries
    known = [entry.transaction.bank_id for entry in entries if str(entry.transaction.booked_at) > "2026-05-31 12"]
    assert sorted(rows) == sorted(bank_id for bank_id in known if bank_id)
    assert pages > 3
    caller.close()


def test_an_account_of_several_currencies_has_a_balance_in_each(xs2a_bank):
    caller = Caller(xs2a_bank.url, new_login("test_products"))
    caller.get_consent()
    accounts = caller.call("GET", "/v1/accounts?withBalance=true").json()["accounts"]
    several = next(account for account in accounts if account["currency"] == "XXX")
    booked = [balance for balance in several["balances"] if balance["balanceType"] == "interimBooked"]
    assert {balance["balanceAmount"]["currency"] for balance in booked} == {"EUR", "USD", "CHF"}
    caller.close()


def test_the_same_request_id_is_the_same_payment(caller):
    number = str(uuid4())
    order = make_order(caller.login)
    first, second = (caller.call("POST", SEPA, order, X_Request_ID=number).json() for _ in range(2))
    assert first["paymentId"] == second["paymentId"]
    path = f"{SEPA}/{first['paymentId']}"
    link = start(caller, path).json()["_links"]["authoriseTransaction"]["href"]
    assert caller.call("PUT", link, {"scaAuthenticationData": "24"}).json()["scaStatus"] == "finalised"
    third = caller.call("POST", SEPA, order, X_Request_ID=number).json()
    assert (third["paymentId"], third["transactionStatus"]) == (first["paymentId"], "ACSC")
    assert read_code(caller.call("DELETE", path)) == (405, "CANCELLATION_INVALID")
    other = order | {"creditorName": "Somebody Else"}
    assert read_code(caller.call("POST", SEPA, other, X_Request_ID=number)) == (400, "FORMAT_ERROR")


def test_a_cancelled_payment_cannot_be_authorised_any_more(caller):
    path = f"{SEPA}/{caller.call('POST', SEPA, make_order(caller.login)).json()['paymentId']}"
    link = start(caller, path).json()["_links"]["authoriseTransaction"]["href"]
    assert caller.call("DELETE", path).status_code == 204
    assert read_code(caller.call("PUT", link, {"scaAuthenticationData": "24"})) == (409, "STATUS_INVALID")
    assert caller.call("GET", f"{path}/status").json()["transactionStatus"] == "CANC"


REFUSALS = [
    ("GET", "/v1/accounts", {"X_Request_ID": None}, 400, "FORMAT_ERROR"),
    ("GET", "/v1/accounts", {"X_Request_ID": "no-uuid"}, 400, "FORMAT_ERROR"),
    ("GET", "/v1/accounts", {}, 400, "FORMAT_ERROR"),
    ("GET", "/v1/accounts", {"Consent_ID": "x", "PSU_IP_Address": "999.1.1.1"}, 400, "FORMAT_ERROR"),
    ("GET", "/v1/accounts", {"Consent_ID": "x", "Accept": "text/html"}, 406, "REQUESTED_FORMATS_INVALID"),
    ("PATCH", "/v1/consents", {}, 405, "SERVICE_INVALID"),
    ("GET", SEPA, {}, 405, "SERVICE_INVALID"),
    ("GET", "/v1", {}, 404, "RESOURCE_UNKNOWN"),
    ("POST", "/v1/consents", {"PSU_IP_Address": None}, 400, "FORMAT_ERROR"),
    ("POST", "/v1/periodic-payments/instant-sepa-credit-transfers", {}, 404, "PRODUCT_UNKNOWN"),
    ("POST", "/v1/payments/target-2-payments", {}, 404, "PRODUCT_UNKNOWN"),
    ("POST", "/v1/payments/sepa-credit-transfers", {"Content_Type": "text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
]


@pytest.mark.parametrize(("method", "path", "headers", "status", "code"), REFUSALS)
def test_refusals_have_the_codes_of_the_standard(caller, method, path, headers, status, code):
    assert read_code(caller.call(method, path, **headers)) == (status, code)


def test_a_redirect_leads_over_the_banks_own_page(xs2a_bank):
    caller = Caller(xs2a_bank.url, new_login("test_redirect"))
    opened = caller.call("POST", "/v1/consents", caller.make_consent(), TPP_Redirect_URI="https://tpp.example/back?x=1")
    assert opened.headers["aspsp-sca-approach"] == "REDIRECT"
    links = opened.json()["_links"]
    page = httpx.URL(links["scaRedirect"]["href"]).path
    html = httpx.get(xs2a_bank.url + page, trust_env=False)
    assert "Demo-Bank" in html.text
    assert caller.call("GET", links["scaStatus"]["href"]).json()["scaStatus"] == "started"
    assert "x=1&result=ok" in xs2a_bank.confirm(links["scaRedirect"]["href"])
    assert caller.call("GET", links["scaStatus"]["href"]).json()["scaStatus"] == "finalised"
    assert httpx.get(xs2a_bank.url + page, trust_env=False).status_code == 410
    assert httpx.get(f"{xs2a_bank.url}/elsewhere", trust_env=False).status_code == 404
    caller.close()


def test_a_confirmation_code_that_is_wrong_ends_the_payment(xs2a_bank):
    caller = Caller(xs2a_bank.url, new_login("test_redirect"))
    order = make_order(caller.login)
    opened = caller.call("POST", SEPA, order, TPP_Redirect_URI="https://tpp.example/").json()
    xs2a_bank.confirm(opened["_links"]["scaRedirect"]["href"])
    link = opened["_links"]["confirmation"]["href"]
    assert caller.call("GET", link).json()["scaStatus"] == "unconfirmed"
    assert read_code(caller.call("PUT", link, {"confirmationCode": "guessed"})) == (400, "SCA_INVALID")
    assert caller.call("GET", link).json()["scaStatus"] == "failed"
    assert caller.call("GET", opened["_links"]["status"]["href"]).json()["transactionStatus"] == "RCVD"
    caller.close()


def test_the_command_serves_bank_and_page(settings):
    with serving_xs2a(replace(settings, today=TODAY), "127.0.0.1", free_port()) as address:
        caller = Caller(address, new_login("test_bank_message"))
        caller.get_consent()
        assert len(caller.call("GET", "/v1/accounts").json()["accounts"]) == 2
        caller.login = new_login("test_redirect")
        opened = caller.call("POST", "/v1/consents", caller.make_consent(), TPP_Redirect_URI="https://tpp.example/")
        page = opened.json()["_links"]["scaRedirect"]["href"]
        assert page.startswith(address)
        assert httpx.get(page, trust_env=False).status_code == 200
        caller.close()

"""Injected faults over XS2A, on a real socket: what each does to a response, and a bank that pays twice."""

from collections import Counter
from decimal import Decimal
from hashlib import sha256

import httpx
import pytest

from kontor.connectors.demo.people import person_for
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan
from xs2a_dialogues import TODAY, Caller, new_login, read_code, running_xs2a_bank

SHOP = "DE89370400440532013000"


@pytest.fixture(scope="module")
def faults():
    return FaultInjector(late_seconds=0.3)


@pytest.fixture(scope="module")
def bank(settings, faults):
    with running_xs2a_bank(settings, faults=faults, page_size=1000) as bank:
        yield bank


@pytest.fixture
def caller(bank, request):
    """Each test has its own customer, the same in every run: the login decides which bookings are wrong."""
    caller = Caller(bank.url, f"test_student+{sha256(request.node.name.encode()).hexdigest()[:12]}")
    caller.get_consent()
    yield caller
    caller.close()


def plan(faults, caller, *modes):
    faults.assign(caller.login, FaultPlan(3, modes, rate=1) if modes else None)


def find_list(caller):
    (account, *_) = caller.call("GET", "/v1/accounts").json()["accounts"]
    return f"{account['_links']['transactions']['href']}?bookingStatus=booked&dateFrom=2026-08-01"


def read_rows(caller, path):
    return caller.call("GET", path).json()["transactions"]["booked"]


def count(rows):
    return Counter(row["transactionId"] for row in rows)


@pytest.mark.parametrize("status", [200, 503])
def test_a_maintenance_page_is_html(faults, caller, status):
    plan(faults, caller, Fault(f"maintenance-{status}"))
    answer = caller.call("GET", "/v1/accounts")
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "Wartungsarbeiten" in answer.text


def test_a_late_answer_is_the_right_one(faults, caller):
    plan(faults, caller, Fault.LATE_ANSWER)
    assert caller.call("GET", "/v1/accounts").json()["accounts"]


def test_a_lost_answer_ends_in_the_middle_and_the_request_is_carried_out(faults, caller):
    plan(faults, caller, Fault.LOST_ANSWER)
    with pytest.raises(httpx.RemoteProtocolError):
        caller.call("DELETE", f"/v1/consents/{caller.consent}")
    plan(faults, caller)
    assert caller.call("GET", f"/v1/consents/{caller.consent}/status").json() == {"consentStatus": "terminatedByTpp"}


def test_a_repeated_answer_is_the_previous_one_and_names_its_request(bank, faults, caller):
    first = caller.call("GET", f"/v1/consents/{caller.consent}/status")
    plan(faults, caller, Fault.REPEATED_ANSWER)
    with pytest.raises(AssertionError):  # the request id is another request's
        caller.call("GET", "/v1/accounts")
    headers = {"X-Request-ID": "7d1d0be3-6b6b-4b4f-9b0b-0f5a4f8f6f7e", "Consent-ID": caller.consent}
    plan(faults, caller)
    httpx.get(f"{bank.url}/v1/consents/{caller.consent}/status", headers=headers)
    plan(faults, caller, Fault.REPEATED_ANSWER)
    again = httpx.get(f"{bank.url}/v1/accounts", headers=headers | {"X-Request-ID": first.headers["x-request-id"]})
    assert again.json() == first.json()
    assert again.headers["x-request-id"] == headers["X-Request-ID"]


def test_a_consent_expires_before_its_time(faults, caller):
    plan(faults, caller, Fault.EARLY_END)
    assert read_code(caller.call("GET", "/v1/accounts")) == (401, "CONSENT_EXPIRED")
    plan(faults, caller)
    assert read_code(caller.call("GET", "/v1/accounts")) == (401, "CONSENT_EXPIRED")


def start(caller):
    opened = caller.open_consent().json()
    return opened["_links"]["startAuthorisationWithPsuAuthentication"]["href"]


def test_the_right_pin_is_refused(faults, caller):
    link = start(caller)
    plan(faults, caller, Fault.REFUSED_PIN)
    answer = caller.call("POST", link, {"psuData": {"password": "demo"}})
    assert read_code(answer) == (401, "PSU_CREDENTIALS_INVALID")


def test_another_tan_is_asked_for_after_the_first(faults, caller):
    asked = caller.call("POST", start(caller), {"psuData": {"password": "demo"}}).json()
    link = asked["_links"]["authoriseTransaction"]["href"]
    plan(faults, caller, Fault.UNEXPECTED_TAN)
    again = caller.call("PUT", link, {"scaAuthenticationData": "24"}).json()
    assert (again["scaStatus"], "challengeData" in again) == ("scaMethodSelected", True)
    plan(faults, caller)
    assert caller.call("PUT", link, {"scaAuthenticationData": "24"}).json()["scaStatus"] == "finalised"


def test_rows_come_twice_in_any_order_or_from_earlier_days(faults, caller):
    path = find_list(caller)
    right = read_rows(caller, path)
    plan(faults, caller, Fault.DUPLICATE_ROWS)
    doubled = count(read_rows(caller, path))
    assert (doubled - count(right)).total() == 3
    plan(faults, caller, Fault.SHUFFLED_ROWS)
    shuffled = read_rows(caller, path)
    assert count(shuffled) == count(right)
    assert shuffled != right
    plan(faults, caller, Fault.VALUE_DATE_FILTER)
    early = read_rows(caller, path.replace("2026-08-01", "2026-11-05"))
    assert min(row["bookingDate"] for row in early) < "2026-11-05"


def test_an_empty_page_comes_first_and_the_bookings_follow(faults, caller):
    path = find_list(caller)
    right = read_rows(caller, path)
    plan(faults, caller, Fault.EMPTY_PAGE)
    page = caller.call("GET", path).json()["transactions"]
    assert page["booked"] == []
    assert read_rows(caller, page["_links"]["next"]["href"]) == right


def test_amounts_have_the_wrong_sign_or_twelve_decimals(faults, caller):
    path = find_list(caller)
    right = {row["transactionId"]: row["transactionAmount"]["amount"] for row in read_rows(caller, path)}
    plan(faults, caller, Fault.WRONG_SIGN)
    wrong = {row["transactionId"]: row["transactionAmount"]["amount"] for row in read_rows(caller, path)}
    changed = [name for name in right if right[name] != wrong[name]]
    assert changed
    assert all(Decimal(right[name]) == -Decimal(wrong[name]) < 0 for name in changed)
    plan(faults, caller, Fault.LONG_DECIMALS)
    amounts = [row["transactionAmount"]["amount"] for row in read_rows(caller, path)]
    assert {len(amount.partition(".")[2]) for amount in amounts} == {2, 12}


# Idempotency


@pytest.mark.parametrize(("pays_twice", "expected"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("repeats", ["order", "authorisation", "tan"])
def test_an_order_that_arrives_twice_is_booked_once_or_twice(settings, owner, repeats, pays_twice, expected):
    login = new_login("test_products")
    with running_xs2a_bank(settings, pays_twice=pays_twice) as bank:
        caller = Caller(bank.url, login)
        order = make_order(login)
        request_id = "7d1d0be3-6b6b-4b4f-9b0b-" + login[-12:]
        for number in range(2):
            if number == 0 or repeats == "order":
                opened = caller.call(
                    "POST", "/v1/payments/sepa-credit-transfers", order, X_Request_ID=request_id
                ).json()
            if number == 0 or repeats != "tan":
                link = f"{opened['_links']['self']['href']}/authorisations"
                asked = caller.call("POST", link, {"psuData": {"password": "demo"}})
                if asked.status_code != 201:
                    assert (number, pays_twice) == (1, False)
                    break
            answer = caller.call("PUT", asked.json()["_links"]["authoriseTransaction"]["href"], TAN)
            assert (answer.status_code == 200) is (number == 0 or pays_twice)
        assert caller.call("GET", opened["_links"]["status"]["href"]).json()["transactionStatus"] == "ACSC"
        caller.close()
    rows = owner.execute(
        "select count(*) from demo_bank_bookings where purpose like %s and place = 0", [f"%{login}%"]
    ).fetchone()
    assert rows[0] == expected


TAN = {"scaAuthenticationData": "24"}


def make_order(login):
    return {
        "debtorAccount": {"iban": person_for(login, TODAY).accounts[0].product.iban},
        "instructedAmount": {"currency": "EUR", "amount": "12.34"},
        "creditorAccount": {"iban": SHOP},
        "creditorName": "Erika Muster",
        "remittanceInformationUnstructured": f"Rechnung {login}",
    }

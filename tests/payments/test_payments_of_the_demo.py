"""Payments over HTTP with server, worker and the demo bank itself: what only separate processes can show."""

import pytest
from paying import CALLBACK, DETAILS, PRESENT

from banking import href, new_id, rels, wait_for
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario

IBANS = {scenario: iban for iban, scenario in TEST_IBANS.items()}


def order(customer, access_id, **details):
    product = customer.product(access_id, "GIROKONTO")
    body = {"instant": False, "transferDetails": DETAILS | {"amount": 1} | details}
    url = href(product, "initiate_single_transfer")
    answer = customer.post(url, body, params=CALLBACK | {"paymentId": new_id()}, headers=PRESENT)
    assert answer.status_code == 200, answer.text
    return answer.json()


def code(status):
    return status["messages"][-1]["code"]


def pay(customer, access_id, **details):
    status = order(customer, access_id, **details)
    assert code(status) == "BA3030", status
    answer = customer.post(href(status, "authenticate"), {"scaAuthenticationData": "12"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_transfer_is_executed_and_shows_in_the_transactions(customer):
    access_id = customer.add_complete(f"familie+{new_id()[:8]}")
    status = pay(customer, access_id, purpose="Geburtstag von Oma")
    assert (code(status), rels(status)) == ("BA1111", ["self", "get_single_transfer"])
    evidence = customer.read(f"/customer/v2/payment/{status['transfer']['paymentId']}/evidence")
    assert (evidence["verification"]["result"], evidence["choice"]) == ("MATCH", "NONE"), "verified without a question"
    product = customer.product(access_id, "GIROKONTO")
    wait_for(
        lambda: [transaction.get("verwendungszweck", "") for transaction in customer.transactions(product)],
        lambda found: any("Geburtstag von Oma" in purpose for purpose in found),
    )


@pytest.mark.parametrize(
    ("scenario", "in_the_end"),
    [(PayeeScenario.DIES_AFTER_BOOKING, "BA1111"), (PayeeScenario.DIES_BEFORE_BOOKING, "BA1104")],
)
def test_the_worker_finds_out_what_became_of_an_unknown_one(customer, scenario, in_the_end):
    access_id = customer.add_complete(f"familie+{new_id()[:8]}")
    status = pay(customer, access_id, iban=IBANS[scenario])
    assert code(status) == "BA1113"
    ended = wait_for(lambda: customer.read(href(status, "self")), lambda shown: code(shown) != "BA1113")
    assert code(ended) == in_the_end


def test_an_account_that_pays_to_its_reference_account_only_answers_ba1100(customer):
    access_id = customer.add_complete("test_reference")
    status = order(customer, access_id)
    [message] = status["messages"]
    assert (message["level"], message["code"]) == ("ERROR", "BA1100")
    assert "Referenzkonto" in message["message"]
    assert rels(status) == ["self"]


def test_a_legacy_transfer_is_released_with_its_tan(customer):
    login = f"familie+{new_id()[:8]}"
    access_id = customer.add_complete(login)
    product = customer.product(access_id, "GIROKONTO")
    body = {
        "credentials": customer.credentials(login),
        "empfaenger": "Erika Mustermann",
        "verwendungszweck": "Miete",
        "iban": DETAILS["iban"],
        "bic": DETAILS["bic"],
        "waehrung": "EUR",
        "betrag": 1.5,
        "sicherheitsverfahrenKodierung": "901",
    }
    answer = customer.post(href(product, "start_ueberweisung"), body)
    assert answer.status_code == 200, answer.text
    assert code(answer.json()) == "BA1110"
    url = href(answer.json(), "submit_text_tan")
    paid = customer.http.put(url, json={"tan": "4"}, headers=customer.headers)
    assert code(paid.json()) == "BA1111", paid.text

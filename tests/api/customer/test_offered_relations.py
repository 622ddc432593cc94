"""A relation is offered where its call works: for this token, with what is stored of this access."""

import pytest

from banking import ACCESSES, href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ, CUSTOMER_TRANSFER

WRITING = {
    "add_bankzugaenge", "add_import", "delete_bankzugaenge", "delete_bankzugang", "start_sca", "start_ueberweisung",
    "initiate_single_transfer", "initiate_bulk_transfer", "initiate_standing_order",
}  # fmt: skip


@pytest.fixture(scope="module")
def customer(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("familie+angebote", access_id="a")
    return customer


def list_offers(customer):
    """Of the customer, the access and its products."""
    access = customer.read_access("a")
    shown = [customer.read("/customer/v2"), access, *access["bankprodukte"]]
    return {relation["rel"] for resource in shown for relation in resource["relations"]}


def test_a_token_that_may_only_read_is_offered_nothing_that_changes_or_pays(customer):
    reader = narrow(customer, CUSTOMER_READ)
    everything, readable = list_offers(customer), list_offers(reader)
    assert {"add_bankzugaenge", "delete_bankzugang", "initiate_single_transfer", "start_ueberweisung"} <= everything
    assert readable & WRITING == set()
    assert {"self", "get_bankzugaenge", "get_kontoumsaetze", "get_issues"} <= readable


def test_each_scope_adds_its_own_relations(customer):
    reader = list_offers(narrow(customer, CUSTOMER_READ))
    changer = list_offers(narrow(customer, f"{CUSTOMER_READ} {CUSTOMER_MODIFY}"))
    payer = list_offers(narrow(customer, f"{CUSTOMER_READ} {CUSTOMER_TRANSFER}"))
    assert "add_bankzugaenge" in changer - reader
    assert "initiate_single_transfer" in payer - reader
    assert not (changer - reader) & (payer - reader)


def test_what_is_not_offered_is_refused(customer):
    reader = narrow(customer, CUSTOMER_READ)
    assert reader.post(ACCESSES, {}).status_code == 403


def test_without_stored_credentials_only_the_legacy_transfer_is_offered_and_the_account_says_what_it_can(customer):
    access_id = customer.add_complete("familie+ohne", access_id="ohne", sync=False)
    product = customer.product(access_id, "GIROKONTO")
    offered = [relation["rel"] for relation in product["relations"]]
    assert "start_ueberweisung" in offered
    assert not [rel for rel in offered if rel.startswith("initiate_")]
    assert product["transferSupport"] is True
    english = customer.read(href(product, "self"), params={"form": "en"})
    assert (english["transferSupport"], english["bulkTransferSupport"]) == (True, True)


def test_an_empty_tan_medium_means_none(customer):
    product = customer.product("a", "GIROKONTO")
    body = {
        "credentials": customer.credentials("familie+angebote"), "empfaenger": "Erika Mustermann", "betrag": 1.5,
        "verwendungszweck": "Miete", "iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "waehrung": "EUR",
        "sicherheitsverfahrenKodierung": "901", "tanMediumName": "",
    }  # fmt: skip
    answer = customer.post(href(product, "start_ueberweisung"), body)
    assert answer.status_code == 200, answer.text

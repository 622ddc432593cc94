"""The calls of docs/guides/analyses.md work as pasted, for a customer with a contract."""

import json

import pytest

from banking import BankCustomer, href, new_customer
from guide_code import Guide


@pytest.fixture
def customer(bank_server, shared) -> BankCustomer:
    customer = new_customer(shared)
    product = customer.product(customer.add_complete("leer"), "GIROKONTO")
    rows = [
        {"betrag": -54, "buchungsdatum": f"2026-{month:02}-02 00:00:00", "gegenkontoInhaber": "Stadtwerke Musterstadt",
         "verwendungszweck": "Strom Abschlag", "identifier": {"batchId": "b"}}
        for month in range(4, 12)
    ]  # fmt: skip
    answer = customer.post(href(product, "get_kontoumsaetze"), rows)
    assert answer.status_code == 201, answer.text
    return customer


def test_every_call_works_as_pasted(customer, tmp_path):
    [contract] = customer.read("/customer/v2/ai/contracts")
    printed = Guide("guides/analyses.md").run_shell(tmp_path, customer, "echo", contract=contract["id"])
    tree, analysed = (json.loads(line) for line in printed.splitlines() if line)
    [named] = customer.read("/customer/v2/ai/contracts")
    assert (named["details"]["name"], named["details"]["noticePeriod"]) == ("Strom", "P1M")
    assert tree["displayName"] == "Categories"
    [found] = analysed["contracts"]
    assert "Spotify" in json.dumps(found, ensure_ascii=False)

"""The first page: what needs attention with one press to act, and totals of every currency."""

import html
import re

import pytest

from banking import BankCustomer, new_customer
from console_site import read_token
from kontor.console.alerts import find_page
from kontor.console.rendering import load_texts

PAGE, ALERTS = "/console", "/customer/v2/hinweise"
TEXTS = load_texts()["de"]
DOLLARS = b""":20:STARTUMS
:25:10020030/1234567
:28C:1/1
:60F:C261101USD1100,00
:61:2611021102DR100,00NMSCNONREF
:86:020?00KARTENZAHLUNG?20Test?32Somebody
:62F:C261102USD1000,00
-"""


@pytest.fixture
def refused(console_site) -> BankCustomer:
    """Somebody whose bank refuses the credentials."""
    customer = new_customer(console_site.regulated)
    access_id = customer.add("demo1+attention", pin="wrong")
    customer.wait_until(access_id, lambda _: "BA1011" in customer.issue_codes(access_id))
    return customer


def dismiss(visitor, alert_id):
    token = read_token(visitor.get(PAGE).text)
    return visitor.post(PAGE, data={"action": "dismiss", "token": token, "alert": alert_id})


def test_what_needs_attention_is_shown_with_its_page_until_it_is_dismissed(console_site, refused):
    with console_site.visit(refused) as visitor:
        [alert] = refused.read(ALERTS)
        page = visitor.get(PAGE).text
        assert html.escape(alert["text"]) in page
        [target] = re.findall(r'href="(/console/accounts#bank-[^"]+)"', page)
        assert f'id="{target.partition("#")[2]}"' in visitor.get("/console/accounts").text
        assert dismiss(visitor, alert["id"]).headers["location"] == f"{PAGE}?notice=alert_dismissed"
        assert refused.read(f"{ALERTS}/{alert['id']}")["status"] == "ERLEDIGT"
        assert TEXTS("overview.alerts") not in visitor.get(PAGE).text


def test_a_notice_can_be_dismissed_twice_and_that_of_another_user_stays(console_site, refused):
    [alert] = refused.read(ALERTS)
    with console_site.visit(new_customer(console_site.regulated)) as stranger:
        assert dismiss(stranger, alert["id"]).status_code == 303
        assert dismiss(stranger, "../bankzugaenge").status_code == 303
    assert refused.read(ALERTS) == [alert]
    with console_site.visit(refused) as visitor:
        assert [dismiss(visitor, alert["id"]).status_code for _ in range(2)] == [303, 303]


def test_money_in_other_currencies_is_shown_beside_euros(console_site):
    customer = new_customer(console_site.regulated)
    answer = customer.http.post(
        "/customer/v2/imports", content=DOLLARS, headers=customer.headers | {"Content-Type": "text/plain"}
    )
    assert answer.status_code == 201, answer.text
    with console_site.visit(customer) as visitor:
        page = visitor.get(PAGE).text
    assert TEXTS("overview.total_in", currency="USD") in page
    assert re.search(r">1\.000,00\s(\$|USD)", page.replace("\xa0", " ")), page


@pytest.mark.parametrize(
    ("rel", "path", "page"),
    [
        ("bankzugang", "bankzugaenge/a", "/console/accounts#bank-a"),
        ("bankprodukt", "bankzugaenge/a/p", "/console/accounts/a/p"),
        ("kontoumsatz", "bankzugaenge/a/p/kontoumsaetze/t", "/console/transactions/a/p/t"),
        ("contract", "ai/contracts/c", "/console/contracts/c"),
        ("budget", "budgets/b", "/console/budgets#budget-b"),
    ],
)
def test_every_kind_of_object_leads_to_its_page(rel, path, page):
    assert find_page({"rel": rel, "href": f"https://kontor.example/customer/v2/{path}"}) == page

"""One transaction in the console: its facts, and what its user says about it."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from banking import new_id
from console_ledger import LAST, PAGE, Ledger, booking, open_ledger
from kontor.console.entry_parts import PartsForm, TypedPart
from kontor.console.views.transaction import read_amount
from kontor.pages.browser import BadRequestError


@pytest.fixture(scope="module")
def ledger(console_site) -> Iterator[Ledger]:
    """For tests that only read."""
    with open_ledger(console_site) as made:
        made.push(
            booking(LAST, "-59.99", "Allianz Versicherungs-AG", "Haftpflichtversicherung"),
            booking(LAST, "-7.77", "Dürr GmbH", "Wirklich nichts Bekanntes"),
        )
        yield made


@pytest.fixture
def own_ledger(console_site) -> Iterator[Ledger]:
    with open_ledger(console_site) as made:
        yield made


def test_amounts_of_addresses_are_numbers():
    assert [read_amount(text) for text in (None, "", "-12.5", "1e3")] == [None, None, "-12.5", "1000"]
    for text in ("x", "NaN", "Infinity", "1e99", "12,50"):
        with pytest.raises(BadRequestError):
            read_amount(text)


def test_the_details_show_all_trees_and_reasons(ledger):
    entry_id = ledger.find("Allianz")
    page = ledger.open(ledger.details_url(entry_id))
    for said in ("Kategorie", "Partner", "Versicherungsart", "Privathaftpflicht", "Für Selbständige", "spricht für"):
        assert said in page
    assert "Allianz Versicherungs-AG" in page  # as the bank writes it
    assert entry_id in page
    assert "INCOME_SALARY" not in page.partition('name="category"')[2].partition("</select>")[0]


def test_nobody_sees_somebody_elses_transaction(ledger, console_site):
    url = ledger.details_url(ledger.find("Allianz"))
    with console_site.visit() as visitor:
        assert visitor.get(url).status_code == 404
    base = url.partition("?")[0].rpartition("/")[0]
    assert ledger.visitor.get(f"{base}/{new_id()}?on={LAST.isoformat()}").status_code == 404
    assert ledger.visitor.get(f"{base}/{new_id()}").status_code == 404
    assert ledger.visitor.get(f"{base}/{new_id()}?on=heute").status_code == 400


def test_an_address_without_the_day_leads_to_the_transaction(ledger):
    """As notices have it."""
    url = ledger.details_url(ledger.find("Allianz"))
    answer = ledger.visitor.get(url.partition("?")[0])
    assert answer.status_code == 303
    assert f"on={LAST.isoformat()}" in answer.headers["location"]
    assert "Haftpflichtversicherung" in ledger.open(answer.headers["location"])


def test_after_a_correction_the_list_is_as_it_was_left(ledger):
    back = urlencode({"search": "duerr", "evil": "x"})
    url = f"{ledger.details_url(ledger.find('duerr')).partition('&back=')[0]}&{urlencode({'back': back})}"
    location = ledger.act(url, "correct", {"category": "SERVICES_OTHER"}).headers["location"]
    assert "search=duerr" in location
    assert "evil" not in location
    assert "notice=category_changed" in location


def test_a_correction_of_one_transaction_is_shown_as_the_users_word(own_ledger):
    ledger = own_ledger
    ledger.push(*(booking(LAST, f"-{at + 10}.00", "Zum Krug", f"Rechnung {at}") for at in range(3)))
    first = ledger.find("Rechnung 0")
    answer = ledger.correct(first, "LIVING_GROCERIES", scope="one")
    assert answer.headers["location"].endswith(f"#t-{first}")
    shown = dict(ledger.list())
    assert "von Ihnen festgelegt" in shown[first]
    assert "Lebensmittel" in shown[first]
    assert sum("von Ihnen festgelegt" in text for text in shown.values()) == 1
    assert "Diese Kategorie haben Sie selbst festgelegt" in ledger.open(ledger.details_url(first))
    assert ledger.correct(first, "INCOME_SALARY").status_code == 400  # does not fit the sign


def test_all_transactions_of_a_partner_follow_a_rule_whose_deletion_undoes_it(own_ledger):
    ledger = own_ledger
    names = ("PENNY MARKT 5257//KOELN/DE", "PENNY SAGT DANKE 0815", "Penny-Markt GmbH")
    ledger.push(
        *(booking(LAST - timedelta(days=at), "-10.00", name, f"Beleg Nummer{at}") for at, name in enumerate(names))
    )
    ledger.push(booking(LAST, "-4.00", "Anderer Laden", "Sonst was"))
    before = dict(ledger.list())
    first = ledger.find("Nummer0")
    page = ledger.open(ledger.details_url(first))
    assert re.search(r"Alle Umsätze mit Penny \(3\)", page, re.IGNORECASE)
    answer = ledger.correct(first, "SHOPPING_BEAUTY", scope="all")
    assert dict(parse_qsl(urlsplit(answer.headers["location"]).query))["partner"] == "PENNY"
    assert dict(ledger.list()) == before  # a preview comes first
    preview = ledger.open(answer.headers["location"])
    assert re.search(r'big-figure">3</span> Umsätze · <span class="money">−30,00 €', preview)
    fields = {found[1]: found[2] for found in re.finditer(r'type="hidden" name="(\w+)" value="([^"]*)"', preview)}
    fields = {name: value for name, value in fields.items() if name not in ("token", "action")}
    assert ledger.act(f"{PAGE}/rules/new", "save", fields).headers["location"].endswith("notice=rule_added")
    assert sum("durch Ihre Regel" in text for _, text in ledger.list()) == 3
    rule = re.search(r'name="rule" value="([^"]+)"', ledger.open(f"{PAGE}/rules"))
    assert rule is not None
    ledger.act(f"{PAGE}/rules", "delete", {"rule": rule[1]})
    assert dict(ledger.list()) == before


def test_a_note_and_keywords_are_shown_found_and_removed(own_ledger):
    ledger = own_ledger
    ledger.push(booking(LAST, "-10.00", "Zum Krug", "Rechnung"), booking(LAST, "-11.00", "Zum Krug", "Rechnung"))
    entry_id = ledger.find("10,00")
    url = ledger.details_url(entry_id)
    ledger.act(url, "annotate", {"note": "Mit <b>Anna</b>", "keywords": "Urlaub, , Steuer"})
    row = ledger.read(entry_id)
    assert (row["notiz"], row["schlagworte"]) == ("Mit <b>Anna</b>", ["Urlaub", "Steuer"])
    assert "<b>Anna" not in ledger.visitor.get(PAGE).text
    ((found, text),) = ledger.list(keyword="urlaub")
    assert found == entry_id
    assert "#Urlaub" in text
    assert "Mit <b>Anna</b>" in text
    assert 'href="/console/transactions?keyword=Steuer"' in ledger.open(PAGE)
    ledger.act(url, "annotate", {"note": " ", "keywords": ""})
    assert ledger.read(entry_id).keys() & {"notiz", "schlagworte"} == set()


# Parts


def test_an_amount_is_split_step_by_step_without_scripts(own_ledger):
    ledger = own_ledger
    ledger.push(booking(LAST, "-100.00", "Kaufhaus", "Einkauf"))
    entry_id = ledger.find("100,00")
    url = ledger.details_url(entry_id)
    lines = {
        "amount-0": "60,05", "category-0": "LIVING_GROCERIES", "note-0": "Grillabend",
        "amount-1": "30", "category-1": "LIVING_DRUGSTORE", "note-1": "",
    }  # fmt: skip
    added = ledger.act(url, "split", lines | {"press": "add"})
    assert added.status_code == 200
    assert "Noch zu verteilen: <strong>9,95 €" in html.unescape(added.text)
    assert 'name="amount-2"' in added.text
    refused = ledger.act(url, "split", lines | {"press": "save"})
    assert refused.status_code == 422
    assert "Es sind noch 9,95 € zu verteilen" in html.unescape(refused.text)
    third = {"amount-2": "", "category-2": "LIVING_GROCERIES", "note-2": ""}
    removed = ledger.act(url, "split", lines | third | {"press": "remove-1"})
    assert 'name="amount-2"' not in removed.text
    assert "teile" not in ledger.read(entry_id)
    assert "notice=parts_saved" in ledger.act(url, "split", lines | third | {"press": "save"}).headers["location"]
    assert [part["betrag"] for part in ledger.read(entry_id)["teile"]] == [-60.05, -30.0, -9.95]
    ((_, text),) = ledger.list(category="LIVING_DRUGSTORE")
    assert "in 3 Teilen" in text
    assert "Grillabend" in ledger.open(url)
    ledger.act(url, "split", lines | third | {"press": "unite"})
    assert "teile" not in ledger.read(entry_id)
    assert ledger.act(url, "split", lines | {"press": "explode"}).status_code == 400


def test_parts_are_checked_before_they_are_sent():
    def find_problem(*amounts, category="X"):
        return PartsForm(Decimal(-10), [TypedPart(amount, category) for amount in amounts]).find_problem()

    assert find_problem("4", "6") is None
    assert find_problem("4", "") is None
    assert find_problem("4", "7") == "too_much"
    assert find_problem("10", "") == "no_amount"  # nothing is left for it
    assert find_problem("", "") == "no_amount"
    assert find_problem("x", "6") == "wrong_amount"
    assert find_problem("0", "10") == "wrong_amount"
    assert find_problem("4", "6", category="") == "no_category"
    credit = PartsForm(Decimal(10), [TypedPart("4", "A"), TypedPart("", "B")])
    assert [part["betrag"] for part in credit.write()] == [4.0, 6.0]

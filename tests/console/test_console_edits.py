"""Edits of several transactions, rules and own categories in the console."""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from console_ledger import LAST, PAGE, Ledger, booking, open_ledger

EDITS, RULES, CATEGORIES = f"{PAGE}/edits", f"{PAGE}/rules", f"{PAGE}/categories"


@pytest.fixture
def ledger(console_site) -> Iterator[Ledger]:
    with open_ledger(console_site) as made:
        made.push(
            *(booking(LAST, f"-{at + 10}.00", "Zum Krug", f"Rechnung {at}") for at in range(3)),
            booking(LAST, "5.00", "Zum Krug", "Erstattung"),
            booking(LAST, "-99.00", "Anderer Laden", "Sonst was"),
        )
        yield made


def list_fields(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form with this action, without those that `act` adds."""
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    form = next(form for form in forms if f'name="action" value="{action}"' in form)
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))
    return {name: html.unescape(value) for name, value in fields.items() if name not in ("token", "action")}


# Several at once


def test_chosen_rows_are_changed_after_a_preview_and_the_change_is_undone(ledger):
    ids = [ledger.find(f"Rechnung {at}") for at in range(2)]
    chosen = {f"row.{entry_id}": "1" for entry_id in ids} | {"scope": "chosen", "filter": "search=krug"}
    wanted = {"category": "LIVING_GROCERIES", "keywords": "Ausflug, Essen", "note": "Mit Anna"}
    answer = ledger.act(EDITS, "preview", chosen | wanted)
    page = html.unescape(answer.text)
    assert answer.status_code == 200
    assert re.search(r'big-figure">2</span> Umsätze werden geändert · <span class="money">−21,00 €', page)
    assert "Zum Krug" in page.partition('class="examples"')[2]
    assert "schlagworte" not in ledger.read(ids[0])
    done = ledger.act(EDITS, "apply", list_fields(answer.text, "apply"))
    assert done.headers["location"] == f"{EDITS}?notice=edit_done"
    row = ledger.read(ids[0])
    assert (row["notiz"], row["schlagworte"]) == ("Mit Anna", ["Ausflug", "Essen"])
    assert "schlagworte" not in ledger.read(ledger.find("Rechnung 2"))
    listed = ledger.open(EDITS)
    assert "Schlagwörter: Ausflug, Essen" in listed
    assert "2 Umsätze" in listed
    undone = ledger.act(EDITS, "undo", list_fields(listed, "undo"))
    assert undone.headers["location"] == f"{EDITS}?notice=edit_undone"
    assert ledger.read(ids[0]).keys() & {"notiz", "schlagworte"} == set()
    assert "Noch haben Sie nicht mehrere" in ledger.open(EDITS)


def test_all_that_match_the_filter_are_changed_and_those_of_another_sign_are_left(ledger):
    chosen = {"scope": "all", "filter": "search=krug", "category": "LIVING_GROCERIES"}
    page = html.unescape(ledger.act(EDITS, "preview", chosen).text)
    assert 'big-figure">3</span>' in page
    assert "Ein weiterer bleibt" in page
    ledger.act(EDITS, "apply", list_fields(page, "apply"))
    assert sum("von Ihnen festgelegt" in text for _, text in ledger.list()) == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"scope": "chosen", "category": "LIVING_GROCERIES"}, "keine Zeile ausgewählt"),
        ({"scope": "all"}, "Bitte wählen Sie eine Kategorie"),
        ({"scope": "all", "category": "NOTHING"}, "tags"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_changed(ledger, fields, said):
    answer = ledger.act(EDITS, "preview", {"filter": ""} | fields)
    assert answer.status_code == 422
    assert said in html.unescape(answer.text)
    assert ledger.customer.read("/customer/v2/kontoumsaetze/bearbeitungen") == []


def test_somebody_elses_transaction_cannot_be_chosen(ledger, console_site):
    other = console_site.rich.read("/customer/v2/kontoumsaetze?limit=1")[0]["id"]
    fields = {f"row.{other}": "1", "scope": "chosen", "filter": "", "note": "x"}
    assert ledger.act(EDITS, "preview", fields).status_code == 404
    assert ledger.act(EDITS, "apply", fields).status_code == 404


# Rules


def rule_fields(**fields: str) -> dict[str, str]:
    names = ("name", "text", "partner", "counterparty", "iban", "min", "max", "direction", "account", "active")
    return dict.fromkeys(names, "") | {"category": "LIVING_GROCERIES"} | fields


def list_rules(ledger: Ledger) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = ledger.customer.read("/customer/v2/ai/tagging-rules")
    return rules


def test_a_rule_with_conditions_is_previewed_made_changed_paused_and_deleted(ledger):
    account = ledger.product["id"]
    fields = rule_fields(text="krug", min="11", max="12,00", direction="out", account=account, name="Kneipe")
    answer = ledger.act(f"{RULES}/new", "preview", fields)
    assert answer.status_code == 200
    assert re.search(r'big-figure">2</span> Umsätze · <span class="money">−23,00 €', html.unescape(answer.text))
    assert list_rules(ledger) == []
    ledger.act(f"{RULES}/new", "save", list_fields(answer.text, "save"))
    (rule,) = list_rules(ledger)
    conditions = {"text": "krug", "amountFrom": 11.0, "amountTo": 12.0, "sign": "-", "product": account}
    assert rule["conditions"] == conditions
    page = ledger.open(RULES)
    for said in ("Kneipe", "Text enthält „krug“", "ab 11,00 €", "bis 12,00 €", "nur Ausgaben"):
        assert said in page
    url = f"{RULES}/{rule['id']}"
    assert 'value="krug"' in ledger.open(url)
    ledger.act(url, "save", rule_fields(text="krug", name="Kneipe", category="SHOPPING_BEAUTY"))
    (changed,) = list_rules(ledger)
    assert (changed["id"], changed["conditions"]) == (rule["id"], {"text": "krug"})
    assert sum("durch Ihre Regel" in text for _, text in ledger.list()) == 3
    ledger.act(RULES, "pause", {"rule": rule["id"], "active": "no"})
    assert "pausiert" in ledger.open(RULES)
    assert list_rules(ledger)[0]["active"] is False
    assert sum("durch Ihre Regel" in text for _, text in ledger.list()) == 0
    ledger.act(RULES, "pause", {"rule": rule["id"], "active": "yes"})
    assert sum("durch Ihre Regel" in text for _, text in ledger.list()) == 3
    ledger.act(RULES, "delete", {"rule": rule["id"]})
    assert "Es gibt noch keine Regel" in ledger.open(RULES)
    assert ledger.visitor.get(url).status_code == 404


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (rule_fields(), "mindestens eine Bedingung"),
        (rule_fields(text="krug", min="viel"), "kein Betrag"),
        (rule_fields(text="krug", category=""), "wählen Sie eine Kategorie"),
        (rule_fields(text="krug", category="NOTHING"), "Diese Regel ist nicht möglich"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_what_was_typed(ledger, fields, said):
    answer = ledger.act(f"{RULES}/new", "save", fields)
    assert answer.status_code == 422
    assert said in html.unescape(answer.text)
    assert f'name="text" maxlength="256" value="{fields["text"]}"' in answer.text
    assert list_rules(ledger) == []


def test_the_way_back_from_a_rule_leads_to_the_console_only(ledger):
    for address in ("https://evil.example/console/transactions/x", "//evil.example/console/transactions/"):
        assert "evil.example" not in ledger.open(f"{RULES}/new?entry={address}").partition('class="calls"')[0]


# Own categories


def test_an_own_category_is_made_used_renamed_and_deleted(ledger):
    ledger.act(CATEGORIES, "add", {"name": "Hund Bella", "basis": "RECREATION_PETS"})
    (category,) = ledger.customer.read("/customer/v2/ai/categories")
    name, number = category["systemName"], str(category["systemId"])
    entry_id = ledger.find("Rechnung 0")
    ledger.correct(entry_id, name)
    ((found, text),) = ledger.list(category=name)
    assert found == entry_id
    assert "Hund Bella" in text
    ledger.act(CATEGORIES, "change", {"number": number, "name": "Katze", "basis": "RECREATION_PETS"})
    assert "Katze" in dict(ledger.list())[entry_id]
    page = ledger.open(CATEGORIES)
    assert f'href="{PAGE}?category={name}"' in page
    ledger.act(CATEGORIES, "delete", {"number": number})
    assert "Katze" not in dict(ledger.list())[entry_id]
    assert ledger.act(CATEGORIES, "delete", {"number": number}).status_code == 404
    refused = ledger.act(CATEGORIES, "add", {"name": "Nichts", "basis": "NOTHING"})
    assert refused.status_code == 400
    assert 'value="Nichts"' in refused.text

"""The console's pages of transactions: searching, understanding, correcting."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from banking import ACCESSES, BankCustomer, new_customer, new_id
from console_site import ConsoleSite, read_token
from kontor.analysis.tagging.taggings import EVIDENCE_KINDS
from kontor.console.categories import choose_fitting, fits_sign, name_categories, read_categories
from kontor.console.entries import Tag, find_purpose, group_by_day, read_entries, shorten
from kontor.console.evidence import sort_out, tell_reasons
from kontor.console.rendering import load_texts
from kontor.console.views.transactions import choose_product, read_amount
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

ROW = re.compile(r'<li id="t-([0-9a-f-]{36})">(.*?)</li>', re.DOTALL)
PAGE = "/console/transactions"
LAST = date(2026, 10, 30)
HOSTILE = "</summary><script>alert(1)</script>"


class Ledger:
    """A customer whose only account has what a test pushed, in front of the console."""

    def __init__(self, customer: BankCustomer, visitor: httpx.Client) -> None:
        self.customer, self.visitor = customer, visitor
        self.access_id = self.customer.add_complete("leer+ledger")
        self.product = self.customer.product(self.access_id, "GIROKONTO")
        self.path = f"{ACCESSES}/{self.access_id}/{self.product['id']}/kontoumsaetze"

    def push(self, *rows: dict[str, Any]) -> None:
        batch = [{"identifier": {"batchId": new_id()}} | row for row in rows]
        assert self.customer.post(self.path, batch).status_code == 201

    def list(self, **query: Any) -> list[tuple[str, str]]:
        """The rows of the page: id and text."""
        answer = self.visitor.get(PAGE, params=query)
        assert answer.status_code == 200, answer.text
        return [(found[1], html.unescape(found[2])) for found in ROW.finditer(answer.text)]

    def details_url(self, entry_id: str) -> str:
        found = re.search(rf'data-url="([^"]*{entry_id}[^"]*)"', self.visitor.get(PAGE).text)
        assert found is not None
        return html.unescape(found[1])

    def correct(self, entry_id: str, category: str, **fields: str) -> httpx.Response:
        url = self.details_url(entry_id)
        form = {"action": "correct", "token": read_token(self.visitor.get(url).text), "category": category} | fields
        return self.visitor.post(url, data=form)


def booking(day: date, amount: str, name: str | None, purpose: str, **more: Any) -> dict[str, Any]:
    given = {"buchungsdatum": day.isoformat(), "betrag": float(amount), "verwendungszweck": purpose}
    return given | ({"gegenkontoInhaber": name} if name else {}) | more


@contextmanager
def open_ledger(site: ConsoleSite) -> Iterator[Ledger]:
    customer = new_customer(site.regulated)
    with site.visit(customer) as visitor:
        yield Ledger(customer, visitor)


@pytest.fixture(scope="module")
def ledger(console_site) -> Iterator[Ledger]:
    """For tests that only read: 120 purchases on 40 days, a salary, an insurance, and somebody's bad text."""
    with open_ledger(console_site) as made:
        _fill(made)
        yield made


def _fill(made: Ledger) -> None:
    made.push(
        *(booking(LAST - timedelta(days=at // 3), f"-{at + 1}.50", "REWE Markt GmbH", f"Einkauf {at}")
          for at in range(120)),
        booking(LAST, "2500.00", "Muster AG", "Gehalt Oktober"),
        booking(LAST, "-59.99", "Allianz Versicherungs-AG", "Haftpflichtversicherung"),
        booking(LAST, "-1.11", HOSTILE, HOSTILE),
        booking(LAST, "-7.77", "Dürr GmbH", "Wirklich nichts Bekanntes"),
    )  # fmt: skip


# By value


def test_the_purpose_is_what_a_person_wrote():
    assert find_purpose("EREF+123 MREF+4 SVWZ+Miete  Mai CRED+DE9") == "Miete Mai"
    assert find_purpose("Beitrag 2026 End-to-End-Ref.: 96 CORE / Mandatsref.: 41") == "Beitrag 2026"
    assert find_purpose("EREF+123") == "EREF+123"
    assert find_purpose("") == ""


def test_long_texts_end_between_words():
    assert shorten("kurz", 10) == "kurz"
    assert shorten("eins zwei drei vier", 14) == "eins zwei…"
    assert shorten("x" * 30, 10) == "x" * 9 + "…"


def test_who_it_was_is_the_counterparty_else_the_partner_else_the_purpose():
    item = {"displayName": "IKEA", "systemName": "IKEA"}
    partners = [{"id": "b", "tags": [{"tagTreeItem": item, "details": {"confidenceLevel": 0.9}}]}]
    rows = [{"id": "a", "gegenkontoInhaber": "Anna"}, {"id": "b", "verwendungszweck": "IKEA 14.11."}, {"id": "c"}]
    assert [entry.title for entry in read_entries(rows, partners)] == ["Anna", "IKEA", "–"]


def test_rows_are_grouped_by_the_day_of_booking():
    rows = [
        {"id": "a", "buchungsdatum": "2026-11-13 00:00:00"},
        {"id": "b", "wertstellungsdatum": "2026-11-13 23:59:59"},
        {"id": "c", "buchungsdatum": "2026-11-12 00:00:00"},
        {"id": "d"},
    ]
    found = [(day, [entry.id for entry in some]) for day, some in group_by_day(read_entries(rows))]
    assert found == [(date(2026, 11, 13), ["a", "b"]), (date(2026, 11, 12), ["c"]), (None, ["d"])]


TREE = [
    {"systemName": "LIVING", "displayName": "Leben"},
    {"systemName": "LIVING_GROCERIES", "displayName": "Essen", "systemNameParent": "LIVING"},
    {"systemName": "INCOME", "displayName": "Einkommen"},
    {"systemName": "INCOME_SALARY", "displayName": "Gehalt", "systemNameParent": "INCOME"},
    {"systemName": "TAXES", "displayName": "Steuern"},
    {"systemName": "TRANSFER", "displayName": "Umbuchungen"},
    {"systemName": "TRANSFER_OWN", "displayName": "Eigene", "systemNameParent": "TRANSFER"},
    {"systemName": "NET", "displayName": "Saldo"},
]


def test_only_categories_that_fit_the_sign_are_offered_and_never_a_sum():
    def offered(amount):
        mains = choose_fitting(read_categories(TREE), amount)
        return [category.system_name for main in mains for category in main.below]

    assert offered(Decimal(-1)) == ["LIVING_GROCERIES", "TAXES", "TRANSFER_OWN"]
    assert offered(Decimal(1)) == ["INCOME_SALARY", "TRANSFER_OWN"]
    assert fits_sign("TRANSFER_OWN", Decimal(0))


@pytest.mark.parametrize("language", ["de", "en"])
def test_evidence_reads_as_sentences_and_the_same_is_said_once(language):
    evidence = [
        {"kind": "keyword", "text": "rewe", "detail": "rewe*: LIVING_GROCERIES", "weight": 4, "decisive": True},
        {"kind": "keyword", "text": "rewe", "detail": "*rewe: LIVING_GROCERIES", "weight": 4, "decisive": True},
        {"kind": "partner", "text": "rewe", "detail": "REWE_GROUP: LIVING_GROCERIES", "weight": 2, "decisive": True},
        {"kind": "model", "text": "x", "detail": "TAXES", "weight": 0.42, "decisive": False},
        {"kind": "stars", "text": "x", "detail": "TAXES", "weight": 0, "decisive": False},
    ]
    category = Tag("Essen", "LIVING_GROCERIES", Decimal(1), evidence, {})
    names = name_categories(read_categories(TREE))
    found = tell_reasons(category, None, names, load_texts()[language])
    decisive, outvoted = sort_out(found)
    assert [reason.share for reason in decisive] == [1, Decimal("0.25")]
    assert "Essen" in decisive[0].sentence
    assert "Rewe Group" in decisive[1].sentence
    assert "42" in outvoted[0].sentence
    assert "stars" in outvoted[1].sentence
    partner = Tag("REWE", "REWE_GROUP", Decimal(1), [], {})
    assert "REWE" in tell_reasons(category, partner, names, load_texts()[language])[1].sentence


def test_all_kinds_of_evidence_have_a_sentence():
    texts = load_texts()["de"].texts
    assert [kind for kind in (*EVIDENCE_KINDS, "user", "rule") if f"evidence.{kind}" not in texts] == []


def test_amounts_are_numbers_as_a_browser_sends_them():
    assert [read_amount(text) for text in (None, "", "-12.5", "1e3")] == [None, None, "-12.5", "1000"]
    for text in ("x", "NaN", "Infinity", "1e99", "12,50"):
        with pytest.raises(BadRequestError):
            read_amount(text)


def test_an_account_that_is_not_there_is_not_found():
    assert choose_product([], None) is None
    with pytest.raises(ApiError) as refused:
        choose_product([], "a/b")
    assert refused.value.status == 404


# Lists


def test_the_newest_come_first_fifty_on_a_page_and_the_next_page_goes_on(ledger):
    expected = [transaction["id"] for transaction in ledger.customer.read(ledger.path)]
    first = ledger.visitor.get(PAGE).text
    assert [found[1] for found in ROW.finditer(first)] == expected[:50]
    following = re.search(r'rel="next" href="\?([^"]*)"', first)
    assert following is not None
    second = ledger.visitor.get(f"{PAGE}?{html.unescape(following[1])}").text
    assert [found[1] for found in ROW.finditer(second)] == expected[50:100]
    assert "Zurück zu den neuesten" in second


def test_a_row_says_who_what_how_sure_and_how_much(ledger):
    row = next(text for _, text in ledger.list(search="Allianz") if "Allianz" in text)
    assert "Haftpflicht" in row
    assert "59,99 €" in row
    assert re.search(r"\d{2} %", row)
    assert "Privathaftpflicht" in row


@pytest.mark.parametrize(
    ("query", "said", "count"),
    [
        ({"search": "duerr"}, "Dürr GmbH", 1),
        ({"search": "rewe einkauf 119"}, "Einkauf 119", 1),
        ({"category": "INCOME"}, "Muster AG", 1),
        ({"min": "-10.50", "max": "-9.50"}, "REWE", 2),
        ({"from": "2026-10-29", "to": "2026-10-29"}, "REWE", 3),
        ({"search": "nirgends"}, "", 0),
    ],
)
def test_filters_find_what_fits(ledger, query, said, count):
    found = ledger.list(**query)
    assert len(found) == count
    assert all(said in text for _, text in found)


def test_what_finds_nothing_says_so_and_offers_to_start_again(ledger):
    page = ledger.visitor.get(PAGE, params={"search": "nirgends"}).text
    assert "Kein Umsatz passt" in page
    assert "Alle Filter zurücksetzen" in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"min": "viel"}, 400),
        ({"category": "NOTHING"}, 400),
        ({"from": "gestern"}, 400),
        ({"cursor": "!"}, 400),
        ({"account": "somebody/else"}, 404),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_with_a_page(ledger, query, status):
    answer = ledger.visitor.get(PAGE, params=query)
    assert answer.status_code == status
    assert "<h1" in answer.text


def test_texts_of_banks_stay_texts(ledger):
    page = ledger.visitor.get(PAGE).text
    assert "<script>alert" not in page
    assert HOSTILE in html.unescape(page)
    entry_id = next(key for key, text in ledger.list(search="alert") if "alert" in text)
    details = ledger.visitor.get(ledger.details_url(entry_id)).text
    assert "<script>alert" not in details
    assert HOSTILE in html.unescape(details)


def test_a_page_of_fifty_is_light(ledger):
    assert len(ledger.visitor.get(PAGE).content) < 200_000


def test_without_accounts_the_page_offers_to_connect_a_bank(console_site):
    with console_site.visit(new_customer(console_site.redirecting)) as visitor:
        page = visitor.get(PAGE).text
    assert "kein Konto mit Umsätzen" in page
    assert "/console/accounts" in page


# One transaction


def test_the_details_show_all_trees_and_reasons(ledger):
    entry_id = ledger.list(search="Allianz")[0][0]
    page = html.unescape(ledger.visitor.get(ledger.details_url(entry_id)).text)
    for said in ("Kategorie", "Partner", "Versicherungsart", "Privathaftpflicht", "Für Selbständige", "spricht für"):
        assert said in page
    assert entry_id in page
    assert "INCOME_SALARY" not in page.partition('name="category"')[2].partition("</select>")[0]


def test_nobody_sees_somebody_elses_transaction(ledger, console_site):
    url = ledger.details_url(ledger.list(search="Allianz")[0][0])
    with console_site.visit() as visitor:
        assert visitor.get(url).status_code == 404
    assert ledger.visitor.get(url.partition("?")[0]).status_code == 400
    base = url.partition("?")[0].rpartition("/")[0]
    assert ledger.visitor.get(f"{base}/{new_id()}?on={LAST.isoformat()}").status_code == 404


@pytest.fixture
def own_ledger(console_site) -> Iterator[Ledger]:
    with open_ledger(console_site) as made:
        yield made


def test_a_correction_is_shown_as_the_users_word_and_rules_can_be_deleted(own_ledger):
    ledger = own_ledger
    rows = [booking(LAST - timedelta(days=at), f"-{at + 10}.00", "Zum Krug", f"Rechnung {at}") for at in range(3)]
    ledger.push(*rows, booking(LAST, "-5.00", "Anderer Laden", "Sonst was"))
    ids = {text: key for key, text in ledger.list()}
    first = next(key for text, key in ids.items() if "Rechnung 0" in text)
    answer = ledger.correct(first, "LIVING_GROCERIES")
    assert answer.status_code == 303
    assert answer.headers["location"].endswith(f"#t-{first}")
    shown = dict(ledger.list())
    assert "von Ihnen festgelegt" in shown[first]
    assert "Lebensmittel" in shown[first]
    assert sum("von Ihnen festgelegt" in text for text in shown.values()) == 1
    assert ledger.correct(first, "SHOPPING_BEAUTY", existing="1", rule="1").status_code == 303
    shown = dict(ledger.list())
    assert sum("von Ihnen festgelegt" in text for text in shown.values()) == 3
    ledger.push(booking(LAST, "-9.99", "Zum Krug", "Rechnung neu"))
    newest = next(text for _, text in ledger.list() if "Rechnung neu" in text)
    assert "durch Ihre Regel" in newest
    assert "Diese Kategorie haben Sie selbst festgelegt" in ledger.visitor.get(ledger.details_url(first)).text
    _delete_the_only_rule(ledger)
    assert ledger.correct(first, "INCOME_SALARY").status_code == 400  # does not fit the sign


def _delete_the_only_rule(ledger: Ledger) -> None:
    page = ledger.visitor.get(f"{PAGE}/rules").text
    assert "Zum Krug" in page
    rule = re.search(r'name="rule" value="([^"]+)"', page)
    assert rule is not None
    form = {"action": "delete", "rule": rule[1], "token": read_token(page)}
    answer = ledger.visitor.post(f"{PAGE}/rules", data=form)
    assert answer.headers["location"] == f"{PAGE}/rules?notice=rule_deleted"
    assert "Noch gibt es keine Regel" in ledger.visitor.get(f"{PAGE}/rules").text
    assert ledger.visitor.post(f"{PAGE}/rules", data=form).status_code == 404


def test_after_a_correction_the_list_is_as_it_was_left(ledger):
    entry_id = ledger.list(search="duerr")[0][0]
    back = urlencode({"search": "duerr", "evil": "x"})
    url = f"{ledger.details_url(entry_id).partition('&back=')[0]}&{urlencode({'back': back})}"
    form = {"action": "correct", "token": read_token(ledger.visitor.get(url).text), "category": "SERVICES_OTHER"}
    location = ledger.visitor.post(url, data=form).headers["location"]
    assert "search=duerr" in location
    assert "evil" not in location
    assert "notice=category_changed" in location


def test_somebody_elses_account_has_no_list(ledger, console_site):
    account = f"{ledger.access_id}/{ledger.product['id']}"
    with console_site.visit() as visitor:
        assert visitor.get(PAGE, params={"account": account}).status_code == 404

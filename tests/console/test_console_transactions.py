"""The console's pages of transactions: searching, understanding, correcting."""

import html
import re
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest

from banking import new_customer
from console_ledger import LAST, PAGE, ROW, Ledger, booking, open_ledger
from console_site import money
from kontor.analysis.tagging.taggings import EVIDENCE_KINDS
from kontor.console.categories import choose_fitting, fits_sign, name_categories, read_categories
from kontor.console.entries import Tag, clean_name, find_purpose, group_by_day, read_entries, shorten
from kontor.console.entry_filters import link_entries, split_search
from kontor.console.evidence import sort_out, tell_reasons
from kontor.console.rendering import load_texts

HOSTILE = "</summary><script>alert(1)</script>"


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


def test_who_it_was_is_the_partner_if_sure_else_the_counterparty_else_the_purpose():
    item = {"displayName": "IKEA", "systemName": "IKEA"}
    partners = [
        {"id": key, "tags": [{"tagTreeItem": item, "details": {"confidenceLevel": sure}}]}
        for key, sure in (("b", 0.9), ("d", 0.4))
    ]
    rows = [
        {"id": "a", "gegenkontoInhaber": "Anna"},
        {"id": "b", "gegenkontoInhaber": "IKEA DT NL 147//KIEL", "verwendungszweck": "IKEA 14.11."},
        {"id": "c"},
        {"id": "d", "gegenkontoInhaber": "Ikarus"},
    ]
    entries = read_entries(rows, partners)
    assert [entry.title for entry in entries] == ["Anna", "IKEA", "–", "Ikarus"]
    assert [entry.hint for entry in entries] == ["", "", "", ""]  # texts of the bank are in the details
    assert [entry.monogram for entry in entries] == ["A", "I", "·", "I"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("ZUM KRUG 5257//KOELN/DE", "Zum Krug"),
        ("STADTWERKE KIEL GMBH", "Stadtwerke Kiel GmbH"),
        ("MUSTER REISEN GMBH", "Muster Reisen GmbH"),
        ("Anna Müller", "Anna Müller"),
        ("H&M 0412", "H&M"),
        ("4711", "4711"),
        ("Zettle_*Cafe Mokka", "Cafe Mokka"),
        ("SumUp *Hofladen Tannhof", "Hofladen Tannhof"),
    ],
)
def test_names_of_counterparties_read_as_people_write_them(raw, shown):
    assert clean_name(raw) == shown


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
    assert [kind for kind in (*EVIDENCE_KINDS, "user", "rule", "own-model") if f"evidence.{kind}" not in texts] == []


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


def test_a_row_says_who_what_and_how_much_and_how_sure_only_where_it_is_not(ledger):
    row = next(text for _, text in ledger.list(search="Allianz") if "Allianz" in text)
    assert "Haftpflicht" in row
    assert "59,99 €" in row
    assert "Privathaftpflicht" in row
    assert "unsicher" not in row
    assert re.search(r"unsicher, \d{1,2} %", ledger.list(search="duerr")[0][1])


def test_the_sums_follow_the_filter(ledger):
    assert _read_sums(ledger.visitor.get(PAGE, params={"direction": "in"}).text) == [
        "1",
        "2.500,00 €",
        "0,00 €",
        "2.500,00 €",
    ]
    expected = sum(Decimal(at) + Decimal("1.5") for at in range(90))  # purchases of the last 30 days
    found = _read_sums(ledger.visitor.get(PAGE, params={"search": "rewe", "month": "2026-10"}).text)
    assert found == ["90", "0,00 €", money(-expected), money(-expected)]


def _read_sums(page: str) -> list[str]:
    row = re.search(r'<tr data-currency="EUR">(.*?)</tr>', page, re.DOTALL)
    assert row is not None
    return [re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", html.unescape(row[1]))]


@pytest.mark.parametrize(
    ("query", "said", "count"),
    [
        ({"search": "duerr"}, "Dürr", 1),
        ({"search": "rewe einkauf 119"}, "120,50 €", 1),
        ({"search": "59,99"}, "Allianz", 1),
        ({"search": "2500"}, "Muster AG", 1),
        ({"search": "2500", "as": "text"}, "", 0),
        ({"search": "rewe 120,50 €"}, "120,50 €", 1),
        ({"category": "INCOME"}, "Muster AG", 1),
        ({"min": "9,50", "max": "10.50"}, "REWE", 2),
        ({"direction": "in", "min": "2.400"}, "Muster AG", 1),
        ({"direction": "in"}, "Muster AG", 1),
        ({"from": "2026-10-29", "to": "2026-10-29"}, "REWE", 3),
        ({"month": "2026-09", "search": "7,50"}, "", 0),
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
        ({"direction": "sideways"}, 400),
        ({"month": "2026-13"}, 400),
        ({"month": "9999-12"}, 400),
        ({"min": "1e3"}, 400),
        ({"figure": "much"}, 400),
        ({"account": "somebody"}, 404),
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


def test_addresses_of_before_lead_to_the_same_transactions(ledger):
    account = f"{ledger.access_id}/{ledger.product['id']}"
    answer = ledger.visitor.get(PAGE, params={"account": account, "min": "-10.50", "max": "-9.50"})
    assert answer.status_code == 303
    query = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
    assert query == {"account": ledger.product["id"], "direction": "out", "min": "9.50", "max": "10.50"}
    assert len(ledger.list(**query)) == 2


def test_the_month_can_be_changed_and_the_other_filters_stay(ledger):
    page = html.unescape(ledger.visitor.get(PAGE, params={"month": "2026-10", "search": "rewe"}).text)
    assert 'rel="prev" href="/console/transactions?search=rewe&month=2026-09"' in page
    assert 'rel="next" href="/console/transactions?search=rewe&month=2026-11"' in page
    assert 'href="/console/transactions?search=rewe">Alle Monate' in page


def test_a_figure_that_the_list_does_not_add_up_to_is_told(ledger):
    assert "difference" not in ledger.visitor.get(PAGE, params={"direction": "in", "figure": "2500.00"}).text
    page = html.unescape(ledger.visitor.get(PAGE, params={"direction": "in", "figure": "2400"}).text)
    assert "Sie kommen von 2.400,00 €. Diese Liste ergibt 2.500,00 €" in page


def test_somebody_elses_account_has_no_list(ledger, console_site):
    with console_site.visit() as visitor:
        assert visitor.get(PAGE, params={"account": ledger.product["id"]}).status_code == 404


def test_several_accounts_are_one_list_and_chips_choose_some_of_them(console_site, visitor):
    page = html.unescape(visitor.get(PAGE).text)
    customer = console_site.rich
    expected = [row["id"] for row in customer.read("/customer/v2/kontoumsaetze?limit=50")]
    assert [found[1] for found in ROW.finditer(page)] == expected
    products = [product for product in customer.products(console_site.access_id) if product["kategorie"] != "DEPOT"]
    first, second = products[0]["id"], products[1]["id"]
    assert f'href="{PAGE}?account={first}"' in page
    chosen = visitor.get(PAGE, params={"account": first}).text
    assert f"account={first}%2C{second}" in chosen
    both = customer.read(f"/customer/v2/kontoumsaetze?limit=50&produkt={first},{second}")
    found = visitor.get(PAGE, params={"account": f"{first},{second}"}).text
    assert [row[1] for row in ROW.finditer(found)] == [row["id"] for row in both]


@pytest.mark.parametrize(
    ("typed", "words", "amount"),
    [
        ("rewe", "rewe", None),
        ("12,50", "", "12.50"),
        ("-12,50 €", "", "12.50"),
        ("1.234,56", "", "1234.56"),
        ("1,234.56", "", "1234.56"),
        ("miete 800,00", "miete", "800.00"),
        ("miete 01.10", "miete 01.10", None),
        ("filiale 5257", "filiale 5257", None),
        ("DE02 1203", "DE02 1203", None),
    ],
)
def test_the_search_field_takes_words_and_an_amount(typed, words, amount):
    assert split_search(typed) == (words, None if amount is None else Decimal(amount))


def test_a_link_to_the_list_says_all_that_must_hold():
    link = link_entries(
        accounts=["a", "b"], category="LIVING", direction="out", month="2026-10", figure=Decimal("-1.50")
    )
    assert dict(parse_qsl(urlsplit(link).query)) == {
        "account": "a,b", "category": "LIVING", "direction": "out", "month": "2026-10", "figure": "-1.50"
    }  # fmt: skip
    assert link_entries() == PAGE

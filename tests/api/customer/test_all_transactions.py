"""Transactions over all accounts: the list with each of its filters, its pages, and sums."""

from decimal import Decimal

import pytest
from psycopg import sql

from banking import ACCESSES, href, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY
from kontor.storage import customer_transactions
from kontor.wire.transactions import CUSTOMER_FIELDS

CUSTOMER = "/customer/v2"
ALL = f"{CUSTOMER}/kontoumsaetze"
SUMS = f"{ALL}/summe"


def make_row(amount, day, holder, purpose, **others):
    return {
        "identifier": {"batchId": "known"},
        "betrag": amount,
        "buchungsdatum": f"2026-10-{day:02} 00:00:00",
        "gegenkontoInhaber": holder,
        "verwendungszweck": purpose,
    } | others


@pytest.fixture(scope="module")
def known(bank_server, shared):
    """A customer with two empty accounts, and bookings on both that alternate by day."""
    customer = new_customer(shared)
    customer.add_complete("leer+alle", access_id="eins")
    customer.add_complete("leer+anderes", access_id="zwei")
    giro, other = (customer.product(access_id, "GIROKONTO") for access_id in ("eins", "zwei"))
    push(customer, giro, [
        make_row(2500, 1, "Muster GmbH", "Lohn / Gehalt 10/2026"),
        make_row(-900, 3, "Hausverwaltung MÜLLER", "Miete Wohnung 12"),
        make_row(-23.45, 5, "REWE Markt GmbH", "REWE SAGT DANKE"),
        make_row(-7, 6, "Café Zürich", "Kaffee", waehrung="CHF"),
    ])  # fmt: skip
    push(customer, other, [
        make_row(-900, 2, "Autohaus Nord", "Rate 12"),
        make_row(12.5, 4, "Erika Muster", "Auslagen"),
        make_row(-12.5, 5, "REWE Markt GmbH", "REWE SAGT DANKE"),
    ])  # fmt: skip
    return customer, giro, other


def push(customer, product, rows):
    assert customer.post(href(product, "get_kontoumsaetze"), rows).status_code == 201


def amounts(customer, **query):
    return [row["betrag"] for row in customer.read(ALL, params=query)]


def read_pages(customer, **query):
    """All pages, following the Link header."""
    answer, pages = customer.get(ALL, params=query), []
    while True:
        assert answer.status_code == 200, answer.text
        pages.append(answer.json())
        if "next" not in answer.links:
            return pages
        answer = customer.get(answer.links["next"]["url"])


def read_all(customer):
    return [row for page in read_pages(customer, limit=1000) for row in page]


def test_the_customer_offers_the_list(known):
    assert href(known[0].read(CUSTOMER), "get_kontoumsaetze").endswith(ALL)


def test_rows_of_all_accounts_are_listed_newest_first_with_their_places(known):
    customer, giro, other = known
    listed = customer.read(ALL)
    days = [row["buchungsdatum"][8:10] for row in listed]
    assert days == ["06", "05", "05", "04", "03", "02", "01"]
    for product, access_id in ((giro, "eins"), (other, "zwei")):
        own = [row | {"zugangId": access_id, "produktId": product["id"]} for row in customer.transactions(product)]
        assert [row for row in listed if row["produktId"] == product["id"]] == own
    assert customer.read(ALL, params={"order": "asc"}) == listed[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"from": "2026-10-05"}, [-23.45, -12.5, -7]),
        ({"to": "2026-10-02"}, [-900, 2500]),
        ({"from": "2026-10-02", "to": "2026-10-03"}, [-900, -900]),
        ({"search": "rewe"}, [-23.45, -12.5]),
        ({"search": "mueller"}, [-900]),
        ({"search": "nirgends"}, []),
        ({"category": "LIVING_GROCERIES"}, [-23.45, -12.5]),
        ({"category": "LIVING", "maxAmount": "-20"}, [-23.45]),
        ({"minAmount": "0"}, [12.5, 2500]),
        ({"maxAmount": "-100"}, [-900, -900]),
        ({"richtung": "EIN"}, [12.5, 2500]),
        ({"richtung": "AUS"}, [-900, -900, -23.45, -12.5, -7]),
        ({"betrag": "12.5"}, [-12.5, 12.5]),
        ({"betrag": "900.00", "search": "miete"}, [-900]),
        ({"betrag": "12.5", "richtung": "AUS"}, [-12.5]),
        ({"schlagwort": "Urlaub"}, []),
    ],
    ids=str,
)
def test_a_filter_selects_in_the_list_and_in_sums(known, query, found):
    customer, *_ = known
    assert sorted(amounts(customer, **query)) == sorted(found)
    sums = customer.read(SUMS, params=query)
    assert sum(entry["anzahl"] for entry in sums) == len(found)
    assert sum(Decimal(str(entry["summe"])) for entry in sums) == sum(Decimal(str(amount)) for amount in found)


def test_products_are_selected_by_their_ids(known):
    customer, giro, other = known
    assert amounts(customer, produkt=giro["id"]) == [-7, -23.45, -900, 2500]
    assert len(amounts(customer, produkt=f"{giro['id']},{other['id']}")) == 7
    assert amounts(customer, produkt="00000000-0000-0000-0000-000000000001") == []
    assert customer.read(SUMS, params={"produkt": other["id"]}) == [
        {"waehrung": "EUR", "anzahl": 3, "einnahmen": 12.5, "ausgaben": -912.5, "summe": -900}
    ]


def test_sums_have_one_entry_for_each_currency(known):
    assert known[0].read(SUMS) == [
        {"waehrung": "CHF", "anzahl": 1, "einnahmen": 0, "ausgaben": -7, "summe": -7},
        {"waehrung": "EUR", "anzahl": 6, "einnahmen": 2512.5, "ausgaben": -1835.95, "summe": 676.55},
    ]


@pytest.mark.parametrize(
    "query", [{}, {"order": "asc"}, {"betrag": "900"}, {"tag": "true"}, {"richtung": "AUS"}], ids=str
)
def test_pages_follow_each_other_without_gap_or_overlap(known, query):
    customer, *_ = known
    whole = customer.read(ALL, params=query)
    for limit in (1, 2, 3):
        pages = read_pages(customer, **query, limit=limit)
        assert {len(page) for page in pages[:-1]} <= {limit}
        assert [row for page in pages for row in page] == whole


def test_a_page_has_100_rows_and_at_most_1000(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("demo1+alle", access_id="voll")
    answer = customer.get(ALL)
    assert (len(answer.json()), "next" in answer.links) == (100, True)
    assert customer.get(ALL, params={"limit": 1001}).status_code == 400


def test_tags_classifications_and_reasons_are_shown_as_in_the_products_list(known):
    customer, giro, _ = known
    query = {"tag": "categories", "categorize": "true", "explain": "true"}
    listed = {row["id"]: row for row in customer.read(ALL, params=query)}
    for row in customer.transactions(giro, **query):
        place = {"zugangId": "eins", "produktId": giro["id"]}
        assert listed[row["id"]] == row | place


@pytest.mark.parametrize(
    "query",
    [
        {"produkt": "x"}, {"produkt": ""}, {"richtung": "BEIDE"}, {"betrag": "-1"}, {"betrag": "1,5"}, {"limit": 0},
        {"cursor": "x"}, {"category": "NONE"}, {"from": "gestern"}, {"since": "2026-01-01"}, {"schlagwort": ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_parameter_is_named(known, query):
    answer = known[0].get(ALL, params=query)
    assert answer.status_code == 400
    assert next(iter(query)) in answer.json()["message"]


def test_sums_take_filters_only(known):
    for name in ("limit", "cursor", "order", "tag"):
        answer = known[0].get(SUMS, params={name: "1"})
        assert answer.status_code == 400
        assert name in answer.json()["message"]


def test_a_stranger_sees_nothing_and_reading_needs_its_scope(known, bank_server, shared):
    customer, giro, _ = known
    stranger = new_customer(shared)
    for url in (ALL, SUMS):
        assert stranger.read(url) == []
        assert stranger.read(url, params={"produkt": giro["id"]}) == []
        assert narrow(customer, CUSTOMER_MODIFY).get(url).status_code == 403


def test_an_account_in_two_accesses_is_listed_and_added_up_once(bank_server, shared):
    customer = new_customer(shared)
    first = customer.add_complete("student+zweimal")
    alone, sums = read_all(customer), customer.read(SUMS)
    second = customer.add_complete("student+zweimal")
    both = read_all(customer)
    assert alone
    assert len(both) == len(alone)
    assert {row["zugangId"] for row in both} == {second}
    assert customer.read(SUMS) == sums
    changes = customer.read(f"{ALL}/aenderungen", params={"limit": 5000})["neu"]
    assert {row["id"]: row for row in changes} == {row["id"]: row for row in both}
    assert customer.delete(f"{ACCESSES}/{second}").status_code == 200
    assert {row["zugangId"] for row in customer.read(ALL)} == {first}
    assert customer.read(SUMS) == sums


def test_a_page_can_be_read_in_the_order_of_an_index(known, owner):
    """What the planner takes for few rows depends on its statistics; without sorting it must know an index."""
    customer, *_ = known
    query = customer_transactions._page_query(CUSTOMER_FIELDS, (), (), is_ascending=False)
    for way in ("seqscan", "sort", "incremental_sort", "bitmapscan"):
        owner.execute(sql.SQL("set {} = off").format(sql.Identifier(f"enable_{way}")))
    try:
        plan = owner.execute(
            sql.SQL("explain {}").format(sql.SQL(query.replace("$1", f"'{customer.reference}'").replace("$2", "100")))
        ).fetchall()
    finally:
        owner.execute("reset all")
    text = "\n".join(line for (line,) in plan)
    assert "transactions_newest" in text
    assert "Seq Scan" not in text

"""The list of transactions narrowed by words, category and amount, in either order, page by page."""

import pytest

from kontor.storage.searches import make_pattern

ALL = [-30, -48.1, -12.5, -23.45, -900, 2500]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("rewe", [-30, -23.45]),
        ("ReWe   dAnKe", [-30, -23.45]),
        ("rewe versicherung", []),  # all words, in one transaction
        ("huk 4711", [-48.1]),  # words may stand in different fields
        ("müller", [-900]),
        ("mueller", [-900]),
        ("MUELLER", [-900]),
        ("bäckerei", [-12.5]),
        ("BRÖTCHEN großmann", [-12.5]),
        ("kartenzahlung", [-12.5]),  # booking text
        ("de0212030000", [-900]),  # IBAN
        ("DE02 1203 0000", [-900]),
        ("100%", [-23.45]),  # signs mean themselves
        ("(frisch)", [-23.45]),
        ("50_C", [-30]),
        ("50.C", []),
        (".*", []),
        ("[", []),
        ("\\", []),
        ("   ", ALL),
        ("nirgends", []),
    ],
)
def test_all_words_must_occur_whatever_their_case_and_umlauts(known, search, found):
    assert known.amounts(search=search) == found


def test_without_the_new_parameters_newest_come_first(known):
    assert known.amounts() == ALL
    assert known.amounts(order="desc") == ALL
    assert known.amounts(order="asc") == ALL[::-1]


def test_a_found_transaction_is_shown_exactly_as_in_the_list(known):
    listed = {row["id"]: row for row in known.read(tag="categories", categorize="true", explain="true")}
    found = known.read(search="e", tag="categories", categorize="true", explain="true")
    assert {row["id"]: row for row in found} == listed
    assert known.read(order="asc")[::-1] == known.read()


def test_a_category_finds_its_own_and_a_main_category_its_subcategories(known):
    shown = known.read(categorize="true")
    of = {row["betrag"]: row["classifications"][0] for row in shown}
    assert of[-900]["category"] == "HOUSING_RENT"
    assert known.amounts(category="HOUSING_RENT") == [-900]
    groceries = [amount for amount in ALL if of[amount]["category"] == "LIVING_GROCERIES"]
    assert len(groceries) > 1
    assert known.amounts(category="LIVING_GROCERIES") == groceries
    assert known.amounts(category="LIVING") == [a for a in ALL if of[a].get("parentCategory") == "LIVING"]
    assert known.amounts(category="TAXES") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"minAmount": "0"}, [2500]),
        ({"maxAmount": "0"}, [-30, -48.1, -12.5, -23.45, -900]),
        ({"minAmount": "-48.1", "maxAmount": "-23.45"}, [-30, -48.1, -23.45]),
        ({"minAmount": "5", "maxAmount": "-5"}, []),
        ({"search": "rewe", "maxAmount": "-25"}, [-30]),
        ({"search": "rewe", "from": "2026-01-04"}, [-30]),
        ({"search": "rewe", "to": "2026-01-03"}, [-23.45]),
        ({"order": "asc", "from": "2026-01-03", "to": "2026-01-05"}, [-23.45, -12.5, -48.1]),
    ],
)
def test_signed_amounts_and_times_combine_with_the_rest(known, query, found):
    assert known.amounts(**query) == found


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("query", [{}, {"search": "e"}, {"maxAmount": "0", "tag": "true"}, {"search": "rewe"}])
def test_pages_in_either_order_bring_everything_once(known, order, limit, query):
    expected = known.read(order=order, **query)
    pages = known.page_through(order=order, limit=limit, **query)
    assert [row for page in pages for row in page] == expected
    assert all(len(page) == limit for page in pages[:-1])
    assert 1 <= len(pages[-1]) <= limit  # no empty page at the end


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({"category": "NOTHING"}, "category: is no system name of a category"),
        ({"category": ""}, "category: is no system name of a category"),
        ({"search": ""}, "search:"),
        ({"search": "x" * 101}, "search:"),
        ({"search": "a\x00b"}, "search: expected printable characters"),
        ({"minAmount": "much"}, "minAmount:"),
        ({"minAmount": "NaN"}, "minAmount:"),
        ({"maxAmount": "1e9"}, "maxAmount:"),
        ({"maxAmount": "1.234"}, "maxAmount:"),
        ({"order": "up"}, "order:"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(known, query, complaint):
    answer = known.get(**query)
    assert answer.status_code == 400
    assert complaint in answer.text


def test_somebody_elses_account_is_not_searched(known, demo1):
    assert demo1[0].get(f"{known.url}/kontoumsaetze", params={"search": "rewe"}).status_code == 404


def test_a_long_result_without_limit_is_sent_whole_in_pieces(demo1):
    customer, access_id = demo1
    product = customer.product(access_id, "GIROKONTO")
    listed = customer.transactions(product)
    assert customer.transactions(product, order="asc") == listed[::-1]


def test_a_word_becomes_a_pattern_that_finds_every_spelling():
    assert make_pattern("Müller") == make_pattern("Mueller").replace("m", "M") == "M(?:ue|ü|Ü)ller"
    assert make_pattern("a.b") == r"a\.b"

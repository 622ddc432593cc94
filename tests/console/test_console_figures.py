"""Figures of the console's pages lead to the transactions that make them up."""

import html
import re
from datetime import date
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from console_site import ConsoleSite
from kontor.console.cashflows import Span
from kontor.console.entry_filters import PAGE, read_filter
from kontor.console.figure_links import CategoryLinks, find_days
from many_examples import few_cases, some_of

FIGURE = re.compile(r'<a class="figure"[^>]*? href="([^"]+)">')


def list_links(visitor: httpx.Client, page: str) -> list[str]:
    text = visitor.get(f"/console{page}").text
    return [html.unescape(found[1]) for found in FIGURE.finditer(text)]


def add_up(site: ConsoleSite, url: str) -> dict[str, Decimal]:
    """What the list at this address shows as its totals."""
    query = {name: value for name, value in parse_qsl(urlsplit(url).query) if name != "figure"}
    asked = str(httpx.QueryParams(read_filter(query).for_api()))
    sums = site.rich.read(f"/customer/v2/kontoumsaetze/summe?{asked}")
    return {found["waehrung"]: Decimal(str(found["summe"])) for found in sums}


@pytest.mark.parametrize(
    "query", few_cases(["", "?of=LIVING", "?by=quarter", "?by=year", "?savings=without", "?span=24"], 2)
)
def test_each_linked_sum_of_a_category_is_the_total_of_its_list(console_site, visitor, query):
    links = [link for link in list_links(visitor, f"/cashflow{query}") if "category=" in link]
    assert len(links) > 5
    for link in links[:: max(1, len(links) // 60)]:
        figure = Decimal(dict(parse_qsl(urlsplit(link).query))["figure"])
        assert add_up(console_site, link)["EUR"] == figure, link


def test_the_list_behind_a_sum_says_nothing_of_a_difference(visitor):
    link = next(link for link in list_links(visitor, "/cashflow") if "category=" in link)
    assert 'id="difference"' not in visitor.get(link).text


def test_a_total_opens_all_transactions_of_its_time_and_their_list_says_where_it_adds_up_to_something_else(
    console_site, visitor
):
    links = [link for link in list_links(visitor, "/cashflow") if "category=" not in link and "figure=" in link]
    assert len(links) > 5
    for link in links[:4]:
        figure = Decimal(dict(parse_qsl(urlsplit(link).query))["figure"])
        is_another = add_up(console_site, link)["EUR"] != figure
        assert ('id="difference"' in visitor.get(link).text) is is_another, link


def test_tiles_open_what_they_are_made_of(visitor):
    """On the same page, or on the page of its contract or its transactions: each address has its target."""
    for page in ("", "/cashflow", "/insurances", "/contracts"):
        text = visitor.get(f"/console{page}").text
        targets = [link for link in map(html.unescape, FIGURE.findall(text)) if "#" in link]
        assert targets, page
        for link in targets:
            assert f'id="{link.rpartition("#")[2]}"' in text, link


def test_a_sum_with_something_pending_and_sums_of_own_transfers_are_not_linked():
    links = CategoryLinks(date(2026, 11, 18), [("LIVING_GROCERIES", date(2026, 11, 17))])
    month, before = Span("2026_M11", ""), Span("2026_M10", "")
    amount = Decimal(-5)
    assert links.find("LIVING", [month], amount) is None
    assert links.find("LIVING_GROCERIES", [before, month], amount) is None
    assert links.find("HOUSING", [month], amount) == f"{PAGE}?category=HOUSING&from=2026-11-01&to=2026-11-18&figure=-5"
    assert links.find("LIVING", [before], amount) == f"{PAGE}?category=LIVING&from=2026-10-01&to=2026-10-31&figure=-5"
    assert links.find("TRANSFER", [before], amount) is None
    assert CategoryLinks(date(2026, 11, 18), [], True).find("BANKFINANCE", [before], amount) is None


def test_spans_are_days():
    assert find_days(Span("2024_M02", "")) == (date(2024, 2, 1), date(2024, 2, 29))
    assert find_days(Span("2026_Q4", "")) == (date(2026, 10, 1), date(2026, 12, 31))
    assert find_days(Span("2026_Y", "")) == (date(2026, 1, 1), date(2026, 12, 31))


@pytest.mark.examples
def test_the_total_of_a_contract_is_linked_where_the_list_adds_up_to_it(console_site, visitor):
    contracts = some_of(console_site.rich.read("/customer/v2/ai/contracts"))
    linked = 0
    for contract in contracts:
        links = [link for link in list_links(visitor, f"/contracts/{contract['id']}") if link.startswith(PAGE)]
        for link in links:
            linked += 1
            assert add_up(console_site, link) == {"EUR": Decimal(str(contract["details"]["amountTotal"]))}
    assert linked > len(contracts) // 3


def test_balances_lead_to_the_transactions_of_their_accounts(console_site, visitor):
    products = console_site.rich.products(console_site.access_id)
    account = next(product for product in products if product["kategorie"] == "GIROKONTO")
    for page in ("", "/accounts"):
        assert f"{PAGE}?account={account['id']}" in list_links(visitor, page)


def test_the_change_of_a_balance_is_linked_where_it_is_the_total_of_its_list(console_site, visitor):
    linked = 0
    for product in console_site.rich.products(console_site.access_id):
        page = f"/console/accounts/{console_site.access_id}/{product['id']}"
        text = html.unescape(visitor.get(page).text)
        found = re.search(r'<a class="figure" href="([^"]+)">\+?(−?[\d.]+,\d\d) €', text)
        if found is not None:
            linked += 1
            shown = found[2].replace(".", "").replace(",", ".").replace("−", "-")
            assert add_up(console_site, found[1]) == {"EUR": Decimal(shown)}
    assert linked


def test_totals_of_contracts_lead_to_the_contracts_that_make_them_up(visitor):
    chosen = ("costs", "costs", "income", "all")
    assert list_links(visitor, "/contracts") == [f"?show={choice}#list-title" for choice in chosen]

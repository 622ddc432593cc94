"""Every sum that a page shows is the sum of what the page shows beside it, to the cent."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from lxml import html

from banking import new_customer
from kontor.console.views import VIEWS
from kontor.pages.formatting import BERLIN

PATHS = [view.url for view in VIEWS if not view.is_operator and not view.is_adviser and "{" not in view.path]
CASHFLOW = "/console/cashflow"
LAST_MONTH = datetime.now(BERLIN).replace(day=1) - timedelta(days=1)
CHOICES = [
    f"{CASHFLOW}?{choice}"
    for choice in ("by=quarter", "by=year", "savings=without", "span=24", f"month={LAST_MONTH:%Y-%m}")
]
DEMO_PEOPLE = (
    "arbeitslos", "azubi", "berufseinstieg", "demo1", "elternzeit", "familie", "freiberuf", "rente", "schulden",
    "student", "trennung", "umzug", "vermoegend",
)  # fmt: skip


def read_value(element):
    return Decimal(element.get("data-value"))


def find_wrong(page):
    """What does not add up, and totals that nobody has marked."""
    tree = html.fromstring(page)
    wrong = []
    for total in tree.iterfind(".//*[@data-sum]"):
        name = total.get("data-sum")
        parts = [read_value(part) for part in tree.iterfind(f".//*[@data-part='{name}']")]
        if sum(parts, Decimal(0)) != read_value(total):
            wrong.append((name, read_value(total), sum(parts, Decimal(0))))
    for name in {step.get("data-step") for step in tree.iterfind(".//*[@data-step]")}:
        reached, has_steps = Decimal(0), False
        for element in tree.xpath(f".//*[@data-step='{name}' or @data-level='{name}']"):
            if element.get("data-step"):
                reached, has_steps = reached + read_value(element), True
            elif has_steps and reached != read_value(element):
                wrong.append((name, read_value(element), reached))
            else:
                reached = read_value(element)
    marked = "descendant-or-self::*[@data-sum or @data-level]"
    for row in tree.xpath(".//tfoot/tr | .//tr[contains(concat(' ', @class, ' '), ' sum ')]"):
        amounts = [cell for cell in row.iterfind("td") if "amount" in (cell.get("class") or "")]
        wrong += [("not marked", cell.text_content()) for cell in amounts if is_figure(cell) and not cell.xpath(marked)]
    return wrong


def is_figure(cell):
    return any(sign.isdigit() for sign in cell.text_content())


def walk(client):
    """All pages of a customer, and those of single categories, accounts and contracts."""
    seen, waiting = set(), [*PATHS, *CHOICES]
    wrong = {}
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        answer = client.get(path)
        if answer.is_redirect:
            continue  # a step of something that has not begun
        assert answer.status_code == 200, path
        if found := find_wrong(answer.text):
            wrong[path] = found
        for link in html.fromstring(answer.text).iterfind(".//main//a[@href]"):
            target = link.get("href").partition("#")[0]
            if path == CASHFLOW and target.startswith("?") and "of=" in target:
                waiting.append(CASHFLOW + target)
            elif target.startswith(("/console/accounts/", "/console/contracts/")) and target.count("/") <= 4:
                waiting.append(target)
    return seen, wrong


def test_every_sum_adds_up_and_none_is_unmarked(visitor):
    seen, wrong = walk(visitor)
    assert wrong == {}
    assert any("of=" in path for path in seen)


@pytest.mark.long
@pytest.mark.parametrize("login", DEMO_PEOPLE)
def test_every_sum_adds_up_for_every_demo_person(console_site, login):
    customer = new_customer(console_site.regulated)
    customer.add_complete(f"{login}+sums")
    with console_site.visit(customer) as client:
        assert walk(client)[1] == {}


def test_without_savings_nothing_lies_between_the_categories_and_the_total(visitor):
    assert "Auf eigene Konten gespart" in visitor.get(CASHFLOW).text
    assert "Auf eigene Konten gespart" not in visitor.get(f"{CASHFLOW}?savings=without").text


def test_a_wrong_sum_and_an_unmarked_one_are_found():
    page = (
        '<table><tbody><tr><td data-part="a" data-value="1.10">1</td></tr><tr class="sum"><td class="amount"'
        ' data-sum="a" data-value="1.11">1</td></tr></tbody><tfoot><tr><td class="amount">7 €</td></tr></tfoot></table>'
    )
    assert find_wrong(page) == [("a", Decimal("1.11"), Decimal("1.10")), ("not marked", "7 €")]

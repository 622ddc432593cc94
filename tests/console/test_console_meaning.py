"""Life, insurances, occasions, affordability and the user's data: whole pages of the running service."""

import html
import re
from decimal import Decimal

import pytest

from banking import new_customer
from console_site import read_token, sign_in_form
from plain_http import plain_client

PATHS = ("life", "insurances", "triggers", "affordability", "quickstart", "data")


@pytest.mark.parametrize("path", PATHS)
def test_a_user_without_banks_sees_whole_pages(console_site, path):
    with console_site.visit(new_customer(console_site.regulated)) as client:
        answer = client.get(f"/console/{path}")
    assert answer.status_code == 200
    assert f'data-view="{path}"' in answer.text


def _visible(answer):
    assert answer.status_code == 200, answer.text
    text = re.sub(r'<details class="calls".*', "", answer.text, flags=re.DOTALL)
    return html.unescape(text)


def test_life_shows_every_event_and_stage_with_its_reason(visitor, console_site):
    page = _visible(visitor.get("/console/life"))
    events = console_site.rich.read("/customer/v2/ai/life-events", params={"explain": "true"})
    stages = console_site.rich.read("/customer/v2/ai/life-stages")
    assert page.count('<li class="event">') == len(events) > 3
    assert page.count('<div class="tile stage">') == len(stages) == 4
    for finding in events + stages:
        assert finding["tagTreeItem"]["displayName"] in page
    for event in events:
        assert not [step["text"] for step in event["details"]["evidence"] if step["text"] in page]


def test_insurances_add_up_to_the_total(visitor, console_site):
    page = _visible(visitor.get("/console/insurances"))
    contracts = console_site.rich.read("/customer/v2/ai/contracts", params={"insuranceOnly": "true"})
    active = [contract for contract in contracts if contract["details"]["status"] != "INACTIVE"]
    assert len(active) > 5
    for contract in active:
        assert contract["details"]["counterpartyName"] in page
    rows = re.findall(
        r'<tr class="division">.*?<td class="amount"[^>]*><span[^>]*>([\d.,]+) €</span></td>', page, re.DOTALL
    )
    total = re.search(r'<tfoot>.*?<td class="amount"[^>]*>([\d.,]+) €</td>', page, re.DOTALL)[1]
    number = lambda text: Decimal(text.replace(".", "").replace(",", "."))  # noqa: E731
    assert sum(number(amount) for amount in rows) == number(total)


def test_triggers_stand_in_their_groups(visitor, console_site):
    page = _visible(visitor.get("/console/triggers"))
    found = console_site.rich.read("/customer/v2/ai/sales-triggers")
    assert page.count('<li class="occasion">') == len(found) > 0


def test_affordability_shows_the_figures_of_the_api(visitor, console_site):
    page = _visible(visitor.get("/console/affordability"))
    details = console_site.rich.read("/customer/v2/ai/affordability")["details"]
    shown = f"{details['discretionary']:,.2f} €".translate(str.maketrans(",.", ".,"))
    assert shown in page
    assert page.count('<li class="clear">') + page.count('<li class="seen">') == 6


def test_the_token_is_in_no_page(visitor, console_site):
    cookie = visitor.cookies["kontor-console"]
    for path in PATHS:
        page = visitor.get(f"/console/{path}").text
        assert cookie not in page
        assert "kontor_at_" not in page


def test_another_language_of_code_than_ours_is_refused(visitor):
    assert visitor.get("/console/quickstart", params={"code": "cobol"}).status_code == 400


# Exports and erasure


@pytest.mark.parametrize("query", ["format=csv", "format=csv&dialect=german&from=2026-01-01", "format=gnucash"])
def test_an_export_is_what_the_api_exports(visitor, console_site, query):
    answer = visitor.get(f"/console/data/export?{query}")
    api = console_site.rich.get(f"/customer/v2/export?{query}")
    assert answer.status_code == 200
    assert answer.content == api.content
    assert answer.headers["content-disposition"] == api.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"


def test_everything_is_exported_as_json(visitor):
    answer = visitor.get("/console/data/export?format=json")
    assert answer.headers["content-type"].startswith("application/json")
    assert isinstance(answer.json(), dict)


def test_a_wrong_export_is_a_page(visitor):
    answer = visitor.get("/console/data/export?format=pdf")
    assert answer.status_code == 400
    assert 'data-view="problem"' in answer.text


def test_strangers_export_nothing(console_site):
    with plain_client(base_url=console_site.address, timeout=60) as rest:
        assert rest.get("/console/data/export?format=csv").headers["location"].startswith("/console/sign-in")
        made_up = "eyJ0b2tlbiI6ICJub25lIiwgInJvbGUiOiAidXNlciIsICJuYW1lIjogIngifQ=="
        answer = rest.get("/console/data/export?format=csv", headers={"Cookie": f"kontor-console={made_up}"})
    assert "notice=expired" in answer.headers["location"]


def _form(client, path):
    page = client.get(path).text
    return {"action": "erase", "token": read_token(page)}


def test_erasing_asks_for_the_own_name_and_then_nothing_is_left(console_site):
    customer = new_customer(console_site.regulated)
    with console_site.visit(customer) as client:
        form = _form(client, "/console/data")
        wrong = client.post("/console/data", data=form | {"username": "somebody"})
        assert wrong.status_code == 422
        assert 'id="erase-problem"' in wrong.text
        assert customer.get("/customer/v2").status_code == 200
        assert (
            client.post("/console/data", data=form | {"username": customer.username, "token": "x"}).status_code == 403
        )
        gone = client.post("/console/data", data=form | {"username": customer.username})
        assert (gone.status_code, gone.headers["location"]) == (303, "/console/sign-in?notice=erased")
        assert "kontor-console" not in client.cookies
        assert "gelöscht" in client.get(gone.headers["location"]).text
    assert customer.get("/customer/v2").status_code in (401, 403)
    with plain_client(base_url=console_site.address, timeout=60) as again:
        assert again.post("/console/sign-in", data=sign_in_form(customer)).status_code == 422

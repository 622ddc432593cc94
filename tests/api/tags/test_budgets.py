"""Budgets over the API: shape, figures by month, carry-over, categories in one budget at most, limits, other users."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from banking import narrow, new_customer
from kontor.domain.clocks import BERLIN
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ
from many_examples import few_cases

BUDGETS = "/customer/v2/budgets"
CATEGORIES = "/customer/v2/ai/categories/"
GROCERIES = {"gegenkontoInhaber": "REWE Markt GmbH", "verwendungszweck": "REWE SAGT DANKE"}
RENT = {"gegenkontoInhaber": "Hausverwaltung Meier", "verwendungszweck": "Miete Wohnung 12"}
FOOD = {"name": "Essen", "kategorien": ["LIVING_GROCERIES"], "betrag": 300, "beginn": "2026-01", "uebertrag": False}
FIELDS = [
    "id", "name", "kategorien", "betrag", "beginn", "uebertrag", "ausgegeben", "verbleibend", "prognose", "lower",
    "upper", "status", "relations",
]  # fmt: skip


def month_ago(count):
    """The first day of that month, as yyyy-mm-dd."""
    day = datetime.now(BERLIN).date().replace(day=1)
    for _ in range(count):
        day = (day - timedelta(days=1)).replace(day=1)
    return day.isoformat()


def next_month(count=1):
    day = datetime.now(BERLIN).date().replace(day=1)
    for _ in range(count):
        day = (day + timedelta(days=32)).replace(day=1)
    return f"{day:%Y-%m}"


def book(account, amount, months_ago=0, **row):
    account.push(GROCERIES | row | {"betrag": amount}, batch=uuid4().hex, at=f"{month_ago(months_ago)} 00:00:00")


def add(customer, **changes):
    answer = customer.post(BUDGETS, FOOD | changes)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def put(customer, url, body):
    return customer.http.put(url, json=body, headers=customer.headers)


def figures(shown):
    return {name: shown[name] for name in ("ausgegeben", "verbleibend", "prognose", "lower", "upper", "status")}


def test_a_budget_has_the_literal_shape_and_says_what_is_spent_and_left(account):
    book(account, -120.5)
    book(account, -40)
    book(account, 10.25, verwendungszweck="REWE Erstattung")
    location = add(account.customer)
    shown = account.customer.read(location)
    assert list(shown) == FIELDS
    assert {name: shown[name] for name in FOOD} == FOOD
    UUID(shown["id"])
    assert shown["relations"] == [{"rel": "self", "href": location}]
    assert location.endswith(f"{BUDGETS}/{shown['id']}")
    assert account.customer.read(BUDGETS) == [shown]
    names = {row["betrag"]: row["tags"][0]["tagTreeItem"]["systemName"] for row in account.list(tag="true")}
    spent = -sum(amount for amount, name in names.items() if name == "LIVING_GROCERIES")
    assert (shown["ausgegeben"], shown["verbleibend"]) == (spent, 300 - spent)
    assert figures(shown)["status"] == "IM_RAHMEN"
    assert b'"betrag":300.00' in account.customer.get(location).content


def test_without_bookings_nothing_is_spent_and_a_budget_is_kept_whole(account):
    add(account.customer, name="  Essen \n und  Trinken ", betrag=0.01, uebertrag=True)
    [shown] = account.customer.read(BUDGETS)
    assert (shown["name"], shown["betrag"], shown["uebertrag"]) == ("Essen und Trinken", 0.01, True)
    assert shown["ausgegeben"] == shown["prognose"] == 0


def test_months_before_are_asked_for_and_their_forecast_is_what_was_spent(account):
    for count, amount in enumerate((-50, -310, -20)):
        book(account, amount, months_ago=count)
    url = add(account.customer, beginn=month_ago(2)[:7])
    found = {count: account.customer.read(url, params={"monat": month_ago(count)[:7]}) for count in range(4)}
    assert figures(found[1]) == {
        "ausgegeben": 310, "verbleibend": -10, "prognose": 310, "lower": 310, "upper": 310, "status": "UEBERSCHRITTEN",
    }  # fmt: skip
    assert (found[2]["ausgegeben"], found[2]["verbleibend"], found[2]["status"]) == (20, 280, "IM_RAHMEN")
    assert (found[3]["ausgegeben"], found[3]["verbleibend"]) == (0, 300)
    assert account.customer.read(url) == found[0]
    assert account.customer.read(BUDGETS, params={"monat": month_ago(1)[:7]}) == [found[1]]


def test_what_is_left_and_what_is_overspent_goes_to_the_next_month(account):
    for count, amount in enumerate((-50, -700, -20)):
        book(account, amount, months_ago=count)
    url = add(account.customer, beginn=month_ago(2)[:7], uebertrag=True)
    left = [account.customer.read(url, params={"monat": month_ago(count)[:7]})["verbleibend"] for count in range(3)]
    assert left == [300 + 300 - 700 + 300 - 20 - 50, 300 + 300 - 20 - 700, 300 - 20]
    assert account.customer.read(url, params={"monat": month_ago(1)[:7]})["status"] == "UEBERSCHRITTEN"
    assert account.customer.read(url, params={"monat": next_month()})["verbleibend"] == 4 * 300 - 770
    assert put(account.customer, url, FOOD | {"beginn": month_ago(1)[:7], "uebertrag": True}).status_code == 200
    assert account.customer.read(url)["verbleibend"] == 300 - 700 + 300 - 50, "only what is left since the new start"


def test_a_forecast_of_90_percent_is_tight_and_more_spent_than_there_is_is_exceeded(account):
    book(account, -269.99)
    url = add(account.customer)
    assert account.customer.read(url)["status"] == "IM_RAHMEN"
    book(account, -0.01)
    assert account.customer.read(url)["status"] == "KNAPP"
    book(account, -30)
    assert (account.customer.read(url)["status"], account.customer.read(url)["verbleibend"]) == ("KNAPP", 0)
    book(account, -0.01)
    assert account.customer.read(url)["status"] == "UEBERSCHRITTEN"


def test_the_parts_of_a_split_transaction_and_corrections_count(account):
    book(account, -100)
    url = add(account.customer)
    assert account.customer.read(url)["ausgegeben"] == 100
    [row] = account.list()
    parts = [
        {"betrag": -30, "tags": {"systemName": "LIVING_GROCERIES"}},
        {"betrag": -70, "tags": {"systemName": "RECREATION_HOBBY"}},
    ]
    assert account.correct(row, {"teile": parts}).status_code == 200
    assert account.customer.read(url)["ausgegeben"] == 30
    assert account.correct(row, {"teile": []}).status_code == 200
    assert account.correct(row, {"tags": {"systemName": "RECREATION_HOBBY"}}).status_code == 200
    assert account.customer.read(url)["ausgegeben"] == 0


def test_an_own_category_has_a_budget_beside_that_of_its_basis_and_leaves_it_when_deleted(account):
    book(account, -100)
    own = account.customer.read(
        account.customer.post(CATEGORIES, {"displayName": "Bio", "basis": "LIVING_GROCERIES"}).headers["location"]
    )
    name = own["systemName"]
    url = add(account.customer)
    both = add(account.customer, name="Bio", kategorien=[name, "RECREATION"])
    assert account.correct(account.list()[0], {"tags": {"systemName": name}}).status_code == 200
    assert [shown["ausgegeben"] for shown in account.customer.read(BUDGETS)] == [100, 100]
    other = account.customer.post(BUDGETS, FOOD | {"kategorien": [name]})
    assert other.status_code == 400
    assert name in other.json()["message"]
    assert account.customer.delete(CATEGORIES + str(own["systemId"])).status_code == 200
    assert (account.customer.read(both)["kategorien"], account.customer.read(both)["ausgegeben"]) == (["RECREATION"], 0)
    assert account.customer.read(url)["ausgegeben"] == 100


def test_a_booking_counts_once_in_a_budget_that_names_its_main_category_too(account):
    book(account, -100)
    url = add(account.customer, kategorien=["LIVING_GROCERIES", "LIVING"])
    assert account.customer.read(url)["ausgegeben"] == 100


@pytest.mark.parametrize(
    ("first", "second"),
    [("LIVING_GROCERIES", "LIVING_GROCERIES"), ("LIVING", "LIVING_GROCERIES"), ("LIVING_GROCERIES", "LIVING")],
)
def test_a_category_is_in_one_budget_at_most_also_within_its_main_category(account, first, second):
    url = add(account.customer, kategorien=[first])
    refused = account.customer.post(BUDGETS, FOOD | {"kategorien": ["HOUSING", second]})
    assert refused.status_code == 400
    assert refused.json()["message"].startswith(f"kategorien[1]: {second} ")
    assert url.rpartition("/")[2] in refused.json()["message"]
    other = add(account.customer, kategorien=["HOUSING"])
    assert put(account.customer, other, FOOD | {"kategorien": [second]}).status_code == 400
    assert put(account.customer, url, FOOD | {"kategorien": [second]}).status_code == 200, "its own is no other one"
    assert account.customer.delete(url).status_code == 200
    assert put(account.customer, other, FOOD | {"kategorien": [first]}).status_code == 200


def test_of_many_budgets_added_at_once_for_one_category_one_is_stored(account):
    names = ["LIVING", "LIVING_GROCERIES", "LIVING", "LIVING_GROCERIES", "LIVING_GROCERIES", "LIVING"]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda name: account.customer.post(BUDGETS, FOOD | {"kategorien": [name]}), names))
    assert sorted(answer.status_code for answer in answers) == [201, 400, 400, 400, 400, 400]
    assert len(account.customer.read(BUDGETS)) == 1


def test_the_limit_is_100_and_is_named(account, owner):
    owner.execute(
        "insert into budgets (user_id, id, name, categories, amount, starts_on, carries_over)"
        " select %s, gen_random_uuid(), 'b', '{}', 1, '2026-01-01', false from generate_series(1, 99)",
        [account.customer.reference],
    )
    add(account.customer)
    refused = account.customer.post(BUDGETS, FOOD | {"kategorien": ["HOUSING"]})
    assert (refused.status_code, "100" in refused.json()["message"]) == (400, True)
    assert len(account.customer.read(BUDGETS)) == 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"betrag": 0}, "betrag: expected more than 0, at most 999999999999.99, with at most two decimals"),
        ({"betrag": -5}, "betrag: expected more than 0"),
        ({"betrag": 1.005}, "betrag: expected more than 0"),
        ({"betrag": 1e12}, "betrag: expected more than 0"),
        ({"betrag": 1e300}, "betrag: expected more than 0"),
        ({"betrag": "NaN"}, "betrag: "),
        ({"betrag": None}, "betrag: "),
        ({"beginn": "2026-13"}, "beginn: expected a month as yyyy-mm, from 2000-01 to 2049-12"),
        ({"beginn": "1999-12"}, "beginn: expected a month"),
        ({"beginn": "２０２６-01"}, "beginn: expected a month"),
        ({"beginn": "2026-01-01"}, "beginn: expected a month"),
        ({"name": ""}, "name: "),
        ({"name": " \t "}, "name: expected a name"),
        ({"name": "x" * 101}, "name: "),
        ({"kategorien": []}, "kategorien: "),
        ({"kategorien": ["LIVING_GROCERIES"] * 2}, "kategorien[1]: LIVING_GROCERIES is named twice"),
        ({"kategorien": ["HOUSING", "NET"]}, "kategorien[1]: is no system name of a category"),
        ({"kategorien": ["X_0123456789AB"]}, "kategorien[0]: is no system name of a category"),
        ({"kategorien": ["NO", "EXPENSES"]}, "kategorien[0]: is no system name of a category; kategorien[1]: "),
        ({"uebertrag": "yes"}, "uebertrag: "),
        ({"betrag": 0, "beginn": "x"}, "beginn: expected a month"),
    ],
)
def test_what_is_wrong_with_a_budget_is_told(account, changes, message):
    refused = account.customer.post(BUDGETS, FOOD | changes)
    assert refused.status_code == 400
    assert message in refused.json()["message"]
    assert account.customer.read(BUDGETS) == []


def test_all_wrong_fields_are_told_with_their_pointers(account):
    headers = {"Accept": "application/problem+json"}
    refused = account.customer.post(BUDGETS, FOOD | {"betrag": 0, "beginn": "x", "name": " "}, headers=headers)
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/name", "/betrag", "/beginn"]


def test_every_field_is_required(account):
    for name in FOOD:
        body = {other: value for other, value in FOOD.items() if other != name}
        refused = account.customer.post(BUDGETS, body)
        assert (refused.status_code, refused.json()["message"]) == (400, f"{name}: is required")


@pytest.mark.parametrize("month", ["2026", "2026-00", "1999-12", "2050-01", "x", next_month(2)])
def test_a_month_that_cannot_be_told_is_refused(account, month):
    url = add(account.customer)
    for address in (BUDGETS, url):
        refused = account.customer.get(address, params={"monat": month})
        assert (refused.status_code, refused.json()["message"][:16]) == (400, "monat: expected ")
        assert account.customer.get(address, params={"month": "2026-01"}).status_code == 400
    assert account.customer.get(url, params={"monat": next_month()}).status_code == 200


def test_a_budget_of_somebody_else_is_not_found(account, shared):
    url = add(account.customer)
    other = new_customer(shared)
    unknown = f"{BUDGETS}/{uuid4()}"
    answers = [
        answer
        for address in (url, unknown, f"{BUDGETS}/none")
        for answer in (
            other.get(address),
            put(other, address, FOOD),
            put(other, address, {"betrag": "nothing"}),
            other.delete(address),
        )
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert other.read(BUDGETS) == []
    assert add(other), "categories of others are free"
    assert account.customer.read(url)["name"] == "Essen"


def test_reading_and_changing_need_their_scopes(account):
    url = add(account.customer)
    reader, changer = narrow(account.customer, CUSTOMER_READ), narrow(account.customer, CUSTOMER_MODIFY)
    assert (reader.get(BUDGETS).status_code, reader.get(url).status_code) == (200, 200)
    refused = [reader.post(BUDGETS, {}), put(reader, url, {}), reader.delete(url)]
    refused += [changer.get(BUDGETS), changer.get(url)]
    assert [answer.status_code for answer in refused] == [403] * 5
    assert put(changer, url, FOOD | {"name": "x"}).status_code == 200
    assert changer.delete(url).status_code == 200
    assert account.customer.get(url).status_code == 404
    assert account.customer.delete(url).status_code == 404


def test_the_customer_offers_budgets_and_goals(account):
    shown = narrow(account.customer, CUSTOMER_READ).read("/customer/v2")
    offered = {relation["rel"]: relation["href"] for relation in shown["relations"]}
    for rel in ("get_budgets", "get_sparziele"):
        assert account.customer.read(offered[rel]) == []


def read_flows(customer, span):
    """What was booked and what is predicted in a month, by category; aggregates are left out."""
    found = {}
    for flow in customer.read("/customer/v2/ai/cashflow/"):
        item = flow["tagTreeItem"]
        booked, expected = (
            [entry for entry in flow["details"][kind] if entry["tagTreeItem"]["systemName"] == span]
            for kind in ("statistics", "predictions")
        )
        if item.get("systemNameParent") != "AGGREGATE" and booked and expected:
            [amount], [prediction] = [entry["cashflow"] for entry in booked], expected
            lower, upper = prediction["lower"], prediction["upper"]
            found[item["systemName"]] = {
                "ausgegeben": -amount, "prognose": -prediction["cashflow"], "lower": -upper, "upper": -lower,
            }  # fmt: skip
    return found


@pytest.mark.parametrize("person", few_cases(["demo1", "familie"], 1))
def test_budgets_of_the_demo_banks_people_are_the_cashflow_also_with_an_access_added_twice(bank_server, shared, person):
    customer, login = new_customer(shared), f"{person}+{uuid4().hex[:8]}"
    customer.add_complete(login)
    flows = read_flows(customer, f"{datetime.now(BERLIN):%Y_M%m}")
    assert len(flows) > 3
    for name in flows:
        add(customer, name=name, kategorien=[name])
    for _ in range(2):
        shown = {budget["name"]: budget for budget in customer.read(BUDGETS)}
        assert {name: {field: shown[name][field] for field in flows[name]} for name in flows} == flows
        customer.add_complete(login)

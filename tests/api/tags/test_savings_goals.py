"""Savings goals over the API: shape, balances, rates, what is expected, limits, and products of others."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from banking import narrow, new_customer
from kontor.domain.clocks import BERLIN
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ

GOALS = "/customer/v2/sparziele"
BIKE = {"name": "Fahrrad", "zielbetrag": 900}


def add(customer, **changes):
    answer = customer.post(GOALS, BIKE | changes)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def put(customer, url, body):
    return customer.http.put(url, json=body, headers=customer.headers)


def set_balance(owner, account, balance):
    """As a bank would have told it, with the change of the data version."""
    of = [balance, account.customer.reference, account.product["id"]]
    owner.execute("update products set balance = %s where user_id = %s and id = %s", of)
    owner.execute("update data_versions set version = version + 1 where user_id = %s", [account.customer.reference])


def test_a_goal_without_products_has_what_the_user_says(account):
    location = add(account.customer)
    shown = account.customer.read(location)
    UUID(shown["id"])
    assert shown == BIKE | {
        "id": shown["id"], "angespart": 0, "fortschritt": 0, "status": "OFFEN",
        "relations": [{"rel": "self", "href": location}],
    }  # fmt: skip
    assert account.customer.read(GOALS) == [shown]
    assert put(account.customer, location, BIKE | {"angespart": 899.99}).status_code == 200
    shown = account.customer.read(location)
    assert (shown["angespart"], shown["fortschritt"], shown["status"]) == (899.99, 99.9, "OFFEN")
    assert put(account.customer, location, BIKE | {"name": "Rad"}).status_code == 200
    assert account.customer.read(location)["angespart"] == 899.99, "left out: unchanged"
    assert put(account.customer, location, BIKE | {"angespart": 1000}).status_code == 200
    shown = account.customer.read(location)
    assert (shown["fortschritt"], shown["status"]) == (111.1, "ERREICHT")
    assert b'"angespart":1000.00' in account.customer.get(location).content


def test_the_needed_rate_is_for_whole_months_and_is_gone_when_it_is_not_needed(account):
    today = datetime.now(BERLIN).date()
    for days, rate in ((0, 900), (27, 900), (366, 75), (-1, None)):
        url = add(account.customer, zieldatum=(today + timedelta(days=days)).isoformat())
        shown = account.customer.read(url)
        assert shown.get("rateNoetig") == rate
        assert shown["zieldatum"] == (today + timedelta(days=days)).isoformat()
        assert "voraussichtlichAm" not in shown
    assert put(account.customer, url, BIKE | {"angespart": 900}).status_code == 200
    shown = account.customer.read(url)
    assert ("zieldatum" in shown, "rateNoetig" in shown, shown["status"]) == (False, False, "ERREICHT")


def test_the_balance_of_products_counts_whatever_is_sent(account, owner):
    set_balance(owner, account, Decimal("450.00"))
    url = add(account.customer, produkte=[account.product["id"]])
    shown = account.customer.read(url)
    assert (shown["angespart"], shown["fortschritt"], shown["produkte"]) == (450, 50, [account.product["id"]])
    assert put(account.customer, url, BIKE | {"produkte": shown["produkte"], "angespart": -7}).status_code == 200
    assert account.customer.read(url)["angespart"] == 450
    set_balance(owner, account, Decimal("-20.00"))
    shown = account.customer.read(url)
    assert (shown["angespart"], shown["fortschritt"], shown["status"]) == (-20, -2.3, "OFFEN")
    assert put(account.customer, url, BIKE).status_code == 200
    shown = account.customer.read(url)
    assert ("produkte" in shown, shown["angespart"]) == (False, 0)


def test_a_product_that_two_accesses_report_counts_once(bank_server, shared):
    customer, login = new_customer(shared), f"student+{uuid4().hex[:8]}"
    accounts = [customer.product(customer.add_complete(login), "GIROKONTO") for _ in range(2)]
    assert accounts[0]["id"] != accounts[1]["id"]
    url = add(customer, produkte=[account["id"] for account in accounts])
    assert customer.read(url)["angespart"] == accounts[0]["saldo"]
    for account in accounts:
        assert customer.read(add(customer, produkte=[account["id"]]))["angespart"] == account["saldo"]


def test_the_day_is_expected_at_the_pace_of_the_last_months(account, owner):
    today = datetime.now(BERLIN).date()
    url = add(account.customer, produkte=[account.product["id"]])
    assert "voraussichtlichAm" not in account.customer.read(url)
    first = today.replace(day=1)
    for _ in range(4):
        first = (first - timedelta(days=1)).replace(day=1)
        row = {"betrag": 100, "verwendungszweck": f"Sparen {first}", "gegenkontoInhaber": "Oma"}
        account.push(row, batch=uuid4().hex, at=f"{first} 00:00:00")
    set_balance(owner, account, Decimal("700.00"))
    expected = account.customer.read(url)["voraussichtlichAm"]
    day = datetime.fromisoformat(expected).date()
    assert 12 * (day.year - today.year) + day.month - today.month == 2, "200 are missing, and 100 come a month"
    assert day.day <= today.day
    row = {"betrag": -400, "verwendungszweck": "Urlaub", "gegenkontoInhaber": "Reisebüro"}
    account.push(row, batch=uuid4().hex, at=f"{(today.replace(day=1) - timedelta(days=1)).replace(day=1)} 00:00:00")
    assert "voraussichtlichAm" not in account.customer.read(url), "at a pace of 0 it is never reached"


def test_a_product_that_is_gone_is_in_no_goal(account):
    url = add(account.customer, produkte=[account.product["id"]])
    assert account.customer.delete(f"/customer/v2/bankzugaenge/{account.access_id}").status_code == 200
    shown = account.customer.read(url)
    assert ("produkte" in shown, shown["angespart"], shown["status"]) == (False, 0, "OFFEN")


def test_a_product_of_somebody_else_is_as_unknown_as_any(account, open_account, shared):
    other = open_account(shared)
    url = add(account.customer)
    messages = set()
    for product in (other.product["id"], str(uuid4())):
        body = BIKE | {"produkte": [account.product["id"], product]}
        for refused in (account.customer.post(GOALS, body), put(account.customer, url, body)):
            assert refused.status_code == 400
            messages.add(refused.json()["message"])
    assert messages == {"produkte[1]: is no product of the user"}


def test_a_product_in_another_currency_is_refused(account, owner):
    of = [account.customer.reference, account.product["id"]]
    owner.execute("update products set currency = 'USD' where user_id = %s and id = %s", of)
    refused = account.customer.post(GOALS, BIKE | {"produkte": [account.product["id"]] * 2})
    assert refused.status_code == 400
    assert refused.json()["message"] == (
        "produkte[0]: is not in euros: amounts are not converted; produkte[1]: is named twice"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zielbetrag": 0}, "zielbetrag: expected more than 0, at most 999999999999.99, with at most two decimals"),
        ({"zielbetrag": 0.001}, "zielbetrag: expected more than 0"),
        ({"zielbetrag": 1e12}, "zielbetrag: expected more than 0"),
        ({"zielbetrag": "Infinity"}, "zielbetrag: "),
        ({"zielbetrag": None}, "zielbetrag: "),
        ({"name": "\n"}, "name: expected a name"),
        ({"name": "x" * 101}, "name: "),
        ({"zieldatum": "2026-02-30"}, "zieldatum: "),
        ({"zieldatum": "2026-02"}, "zieldatum: "),
        ({"produkte": ["giro"]}, "produkte[0]: "),
        ({"produkte": "giro"}, "produkte: "),
    ],
)
def test_what_is_wrong_with_a_goal_is_told(account, changes, message):
    refused = account.customer.post(GOALS, BIKE | changes)
    assert refused.status_code == 400
    assert message in refused.json()["message"]
    assert account.customer.read(GOALS) == []


def test_what_is_said_to_be_saved_is_an_amount(account):
    url = add(account.customer)
    for saved in (-1, 0.005, 1e12, "x"):
        refused = put(account.customer, url, BIKE | {"angespart": saved})
        assert (refused.status_code, refused.json()["message"][:11]) == (400, "angespart: ")
    largest = 999999999999.99
    assert put(account.customer, url, {"name": "n", "zielbetrag": 0.01, "angespart": largest}).status_code == 200
    shown = account.customer.read(url)
    assert (shown["angespart"], shown["fortschritt"]) == (largest, 9999999999999900)
    assert put(account.customer, url, {"name": "n", "zielbetrag": largest, "angespart": 0}).status_code == 200
    assert account.customer.read(url)["angespart"] == 0


def test_a_goal_of_somebody_else_is_not_found(account, shared):
    url = add(account.customer)
    other = new_customer(shared)
    answers = [
        answer
        for address in (url, f"{GOALS}/{uuid4()}", f"{GOALS}/none")
        for answer in (other.get(address), put(other, address, BIKE), put(other, address, {}), other.delete(address))
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert other.read(GOALS) == []
    assert account.customer.read(url)["name"] == "Fahrrad"


def test_reading_and_changing_need_their_scopes(account):
    url = add(account.customer)
    reader, changer = narrow(account.customer, CUSTOMER_READ), narrow(account.customer, CUSTOMER_MODIFY)
    assert (reader.get(GOALS).status_code, reader.get(url).status_code) == (200, 200)
    refused = [reader.post(GOALS, {}), put(reader, url, {}), reader.delete(url), changer.get(GOALS), changer.get(url)]
    assert [answer.status_code for answer in refused] == [403] * 5
    assert account.customer.get(GOALS, params={"monat": "2026-11"}).status_code == 400
    assert changer.delete(url).status_code == 200
    assert (account.customer.get(url).status_code, account.customer.delete(url).status_code) == (404, 404)


def test_the_limit_is_100_also_for_many_at_once(account, owner):
    add(account.customer)
    owner.execute(
        "insert into savings_goals (user_id, id, name, target)"
        " select %s, gen_random_uuid(), 'g', 1 from generate_series(1, 97)",
        [account.customer.reference],
    )
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: account.customer.post(GOALS, BIKE), range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 400, 400, 400]
    assert "100" in next(answer for answer in answers if answer.status_code == 400).json()["message"]
    assert len(account.customer.read(GOALS)) == 100

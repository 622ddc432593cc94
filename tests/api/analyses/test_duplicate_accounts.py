"""One account in several accesses: every analysis answers as if there were one."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from banking import ACCESSES, href, new_customer
from kontor.connectors.demo.people import person_for
from kontor.demobank.statements import write_camt053, write_mt940
from kontor.domain.clocks import BERLIN
from kontor.domain.transactions import Transaction
from kontor.services.statements.imports import Owner
from many_examples import few_cases

URL = "/ai/v1/analyses"
ALL = (
    "contracts", "cashflow", "disposable-money", "life-events", "life-stages", "sales-triggers", "affordability",
    "credit-check",
)  # fmt: skip
# Names of things, not facts: another row of the same booking has another id.
NAMES = {"id", "transactionIds", "transactionIdsRegular", "transactionIdsNonRegular", "relations", "evidence"}


def leave_names_out(found):
    """Without ids; lists in an order that does not depend on them."""
    if isinstance(found, dict):
        return {key: leave_names_out(value) for key, value in found.items() if key not in NAMES}
    if isinstance(found, list):
        return sorted((leave_names_out(item) for item in found), key=lambda item: json.dumps(item, sort_keys=True))
    return found


def analyse(customer, names=ALL):
    return {name: leave_names_out(customer.read(f"/customer/v2/ai/{name}/")) for name in names}


def list_named(found):
    """All transactions that an answer names."""
    if isinstance(found, dict):
        ids = [set(value) for key, value in found.items() if key == "transactionIds"]
        return set().union(*ids, *(list_named(value) for value in found.values()))
    return set().union(*(list_named(item) for item in found)) if isinstance(found, list) else set()


def list_ids(customer, access_id):
    return {
        row["id"]
        for product in customer.products(access_id)
        if product["kategorie"] != "DEPOT"
        for row in customer.transactions(product)
    }


@pytest.fixture(scope="module", params=few_cases(["schulden", "demo1"], 1))
def twice(bank_server, shared, request):
    """A customer with the same login in one access, then in two: (customer, both accesses, answers to one, to both)"""
    customer, login = new_customer(shared), f"{request.param}+{uuid4().hex[:8]}"
    first = customer.add_complete(login)
    alone = analyse(customer)
    second = customer.add_complete(login)
    return customer, (first, second), alone, analyse(customer)


def test_the_bank_names_the_same_accounts_in_both_accesses(twice):
    customer, accesses, _, _ = twice
    first, second = (
        {product.get("iban", product["kontonummer"]) for product in customer.products(key)} for key in accesses
    )
    assert first == second


@pytest.mark.parametrize("name", ALL)
def test_the_same_login_in_two_accesses_is_analysed_as_in_one(twice, name):
    _, _, alone, both = twice
    assert alone[name], "there is something to count twice"
    assert both[name] == alone[name]


def test_findings_name_the_transactions_of_the_freshest_access(twice):
    customer, (_, second), _, _ = twice
    named = list_named(customer.read("/customer/v2/ai/contracts/"))
    assert named
    assert named <= list_ids(customer, second)


def test_a_third_access_changes_nothing_and_neither_does_deleting_the_freshest(bank_server, shared):
    customer, login = new_customer(shared), f"test_student+{uuid4().hex[:8]}"
    first = customer.add_complete(login)
    alone = analyse(customer)
    others = [customer.add_complete(login) for _ in range(2)]
    assert analyse(customer) == alone
    for access_id in others:
        assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    assert analyse(customer) == alone
    assert list_named(customer.read("/customer/v2/ai/contracts/")) <= list_ids(customer, first)


async def test_what_an_operator_exports_has_each_account_and_booking_once(bank_server, shared, services):
    """`kontor export-case` reads these facts."""
    customer, login = new_customer(shared), f"test_products+{uuid4().hex[:8]}"
    user = await services.users.find_user_by_operator(shared.name, customer.username)
    found = []
    for _ in range(2):
        customer.add_complete(login)
        facts = await services.analyses.load_facts_by_operator(user.id)
        rows = sorted((record.day, record.amount, record.purpose, record.is_pending) for record in facts.records)
        found.append((rows, sorted((account.name, account.iban, account.balance) for account in facts.accounts)))
    assert found[0] == found[1]


# Bank and file


async def import_file(services, shared, customer, data):
    access_id = f"files-{uuid4().hex[:8]}"
    user = await services.users.find_user_by_operator(shared.name, customer.username)
    owner = Owner(user.id, user.pseudonym, user.tenant_id, "test")
    await services.imports.import_file(owner, access_id, data)
    return access_id


def find_account(login):
    """The account that files are written of: (product, its final bookings, today)"""
    today = datetime.now(BERLIN).date()
    account = person_for(login, today).accounts[0]
    return account.product, [entry.transaction for entry in account.entries if not entry.transaction.is_pending], today


@pytest.fixture(scope="module")
def family(bank_server, shared):
    """A customer with a contract with a name of more than 54 characters: (customer, login, what analyses answer)"""
    customer, login = new_customer(shared), "familie+x12"
    customer.add_complete(login)
    return customer, login, analyse(customer)


@pytest.mark.parametrize("write", few_cases([write_camt053, write_mt940], 1))
async def test_a_file_of_a_connected_account_changes_nothing(family, shared, services, write):
    """MT940 names bank code and account number, camt the IBAN: both are the account. MT940 cuts names, too."""
    customer, login, alone = family
    product, rows, today = find_account(login)
    rows = rows[-200:]
    opening = product.balance - sum(row.amount for row in rows)
    access_id = await import_file(services, shared, customer, write(product, rows, opening, day=today))
    assert len(list_ids(customer, access_id)) == len(rows)
    both = analyse(customer)
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    assert {name: both[name] == alone[name] for name in ALL} == dict.fromkeys(ALL, True)


async def test_older_history_of_a_file_counts_and_its_old_balance_does_not(family, shared, services):
    customer, login, _ = family
    before, check = sum_up(customer), customer.read("/customer/v2/ai/credit-check/")
    product, _, _ = find_account(login)
    days = [datetime(2020, 5, day, 11, tzinfo=UTC) for day in (4, 11, 18)]
    rows = [
        Transaction(Decimal("-41.37"), "EUR", day, purpose=f"Einkauf {day:%d.%m.}", counterparty_name="REWE Markt")
        for day in days
    ]
    data = write_camt053(product, rows, Decimal(-90_000), day=days[-1].date())
    access_id = await import_file(services, shared, customer, data)
    total, after = sum_up(customer), customer.read("/customer/v2/ai/credit-check/")
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    assert total == before + 3 * Decimal("-41.37")
    assert after["details"]["overdraftDays"] == check["details"]["overdraftDays"]


def sum_up(customer):
    """All that was ever booked and counts."""
    flows = customer.read("/customer/v2/ai/cashflow/")
    net = next(flow for flow in flows if flow["tagTreeItem"]["systemName"] == "NET")
    total = next(
        statistic
        for statistic in net["details"]["statistics"]
        if statistic["tagTreeItem"]["systemName"] == "TOTAL_TOTAL"
    )
    return Decimal(str(total["cashflow"]))


# What the user says


def test_a_correction_in_one_access_holds_for_the_booking(bank_server, shared):
    customer, login = new_customer(shared), f"test_student+{uuid4().hex[:8]}"
    first = customer.add_complete(login)
    product = next(product for product in customer.products(first) if product["kategorie"] == "GIROKONTO")
    row = next(
        transaction
        for transaction in customer.transactions(product, tag="true")
        if transaction["tags"][0]["tagTreeItem"]["systemName"] == "LIVING_GROCERIES"
        and not transaction.get("vorgemerkt")
    )
    answer = customer.http.put(
        f"{href(product, 'get_kontoumsaetze')}/{row['id']}",
        json={"tags": [{"systemName": "RECREATION_HOBBY"}]},
        headers=customer.headers,
    )
    assert answer.status_code == 200, answer.text
    alone = analyse(customer, ["cashflow"])
    customer.add_complete(login)
    assert analyse(customer, ["cashflow"]) == alone


def test_what_a_correction_teaches_leaves_bookings_alone_that_another_access_knew(bank_server, shared):
    """The second access brings the bookings again that were there before the correction."""
    customer, login = new_customer(shared), f"test_student+{uuid4().hex[:8]}"
    first = customer.add_complete(login)
    product = next(product for product in customer.products(first) if product["kategorie"] == "GIROKONTO")
    rows = [
        row
        for row in customer.transactions(product, tag="true")
        if row["tags"][0]["tagTreeItem"]["systemName"] == "LIVING_GROCERIES" and not row.get("vorgemerkt")
    ]
    oldest = min(rows, key=lambda row: row["buchungsdatum"])
    url = f"{href(product, 'get_kontoumsaetze')}/{oldest['id']}"
    answer = customer.http.put(url, json={"tags": [{"systemName": "RECREATION_HOBBY"}]}, headers=customer.headers)
    assert answer.status_code == 200, answer.text
    alone = analyse(customer, ["cashflow"])
    customer.add_complete(login)
    assert analyse(customer, ["cashflow"]) == alone


# Without storing anything


def year():
    """A salary and a rent, ten times."""
    facts = {"user": "u", "provider": "p", "product": "k", "tenant": "t"}
    rows = []
    for month in range(1, 11):
        for day, amount, purpose, name in (
            (28, 2800, "Lohn / Gehalt", "Muster GmbH"),
            (3, -900, "Miete Wohnung 12", "Hausverwaltung Meier"),
        ):
            booked = {"buchungsdatum": f"2026-{month:02d}-{day:02d}T00:00:00+01:00", "betrag": amount}
            named = {"id": f"{month} {name}", "verwendungszweck": purpose, "gegenkontoInhaber": name}
            rows.append(facts | booked | named)
    return rows


def test_accounts_of_a_caller_with_one_iban_are_one_account(bank_server, demo1):
    caller, _ = demo1
    account = {"iban": "DE71999999994755365063", "inhaber": "Anna", "saldo": 12.5, "kategorie": "GIROKONTO"}
    body = {"today": "2026-11-15", "analyses": ALL, "transactions": year()}
    alone = caller.post(URL, body | {"accounts": [account | {"product": "k"}]}).json()
    copies = [row | {"id": f"again {row['id']}", "product": "copy"} for row in year()]
    spelled = account | {"product": "copy", "iban": "DE71 9999 9999 4755 3650 63"}
    twice = body | {"transactions": year() + copies, "accounts": [account | {"product": "k"}, spelled]}
    both = caller.post(URL, twice).json()
    assert {name: leave_names_out(both[name]) == leave_names_out(alone[name]) for name in ALL} == dict.fromkeys(
        ALL, True
    )
    apart = twice | {"accounts": [account | {"product": "k"}, account | {"product": "copy", "iban": None}]}
    assert leave_names_out(caller.post(URL, apart).json()) != leave_names_out(alone)

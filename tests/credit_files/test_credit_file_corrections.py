"""Advisers correct categories of bookings in credit files: in the file alone, where the customer allows it."""

import json
from decimal import Decimal

import pytest
from test_credit_file_reviews import FILES, RECOMPUTE, REVIEWS, allow, create, list_reviews, review
from test_credit_files_api import canonicalize, get_as, verify

from advising import create_office, make_adviser
from banking import new_customer, rels

ALL = "/customer/v2/kontoumsaetze?limit=1000&tag=categories"
BOTH = ("credit-check", "credit-bookings")
FURNISHING, SALARY = "HOUSING_FURNISHING", "INCOME_SALARY"


@pytest.fixture(scope="module")
async def office(bank_server, standing_services, shared):
    return await create_office(standing_services, shared)


@pytest.fixture(scope="module")
def adviser(shared, office):
    return make_adviser(shared, office)


@pytest.fixture(scope="module")
def tenant_of_flat(shared):
    """A customer who pays rent."""
    customer = new_customer(shared)
    customer.add_complete("berufseinstieg")
    return customer


def create_for(customer, adviser, umfang=BOTH):
    disclosure = allow(customer, adviser, umfang)
    return disclosure, create(customer, freigabe=disclosure.rpartition("/")[2]).rpartition("/")[2]


def correct(adviser, name, row, category=FURNISHING):
    return review(adviser, name, RECOMPUTE | {"korrekturen": [{"umsatz": row, "systemName": category}]})


def find_rent(file):
    [rent] = [value for value in file["werte"] if value["name"] == "MIETE"]
    return Decimal(str(rent["wert"])), rent["umsaetze"]


def list_bookings(adviser, name):
    return {booking["id"]: booking for booking in adviser.read(f"{REVIEWS}/{name}/transactions")}


def put_category(customer, row, category):
    [found] = [
        transaction
        for transaction in customer.read("/customer/v2/kontoumsaetze?limit=1000")
        if transaction["id"] == row
    ]
    path = f"/customer/v2/bankzugaenge/{found['zugangId']}/{found['produktId']}/kontoumsaetze/{row}"
    answer = customer.http.put(path, json={"tags": [{"systemName": category}]}, headers=customer.headers)
    assert answer.status_code == 200, answer.text


def test_a_corrected_tag_counts_in_the_new_version_is_recorded_there_and_leaves_old_bytes_and_data(
    tenant_of_flat, adviser
):
    customer = tenant_of_flat
    _, name = create_for(customer, adviser)
    before = get_as(customer, f"{FILES}/{name}", "application/json").content
    data = customer.read(ALL)
    amount, rows = find_rent(json.loads(before))
    answer = correct(adviser, name, rows[-1])
    assert answer.status_code == 201, answer.text
    text = adviser.get(answer.headers["location"]).text
    shown = json.loads(text)
    new_amount, new_rows = find_rent(shown)
    assert (new_amount < amount, new_rows) == (True, rows[:-1])
    assert shown["korrekturen"] == [{
        "umsatz": rows[-1], "vorher": "HOUSING_RENT", "nachher": FURNISHING, "berater": adviser.reference,
        "korrigiertAm": shown["erstelltAm"],
    }]  # fmt: skip
    assert shown["pruefung"]["kommentar"] == RECOMPUTE["kommentar"]
    verify(customer, text, canonicalize(text))
    assert get_as(customer, f"{FILES}/{name}", "application/json").content == before
    assert customer.read(ALL) == data
    own = customer.read(f"{FILES}/{shown['id']}")
    assert own["korrekturen"] == shown["korrekturen"]
    page = get_as(customer, f"{FILES}/{shown['id']}", "text/html").text
    assert "Korrekturen bei der Prüfung" in page
    assert adviser.reference in page
    assert get_as(customer, f"{FILES}/{shown['id']}", "application/pdf").content.startswith(b"%PDF-")


def test_a_correction_and_the_reads_for_it_are_in_the_audit_trail(tenant_of_flat, adviser, owner):
    disclosure, name = create_for(tenant_of_flat, adviser)
    _, rows = find_rent(tenant_of_flat.read(f"{FILES}/{name}"))
    new = correct(adviser, name, rows[-1]).headers["location"].rpartition("/")[2]
    entries = owner.execute("select object from audit_entries where action = 'credit-file.correct'").fetchall()
    [entry] = [text for (text,) in entries if new in text]
    assert entry.endswith(f"transaction {rows[-1]}")
    assert {read["umfang"] for read in tenant_of_flat.read(f"{disclosure}/zugriffe")} == set(BOTH)


def test_a_correction_holds_in_later_versions_until_it_is_taken_back(tenant_of_flat, adviser):
    customer = tenant_of_flat
    _, name = create_for(customer, adviser)
    _, rows = find_rent(customer.read(f"{FILES}/{name}"))
    second = correct(adviser, name, rows[-1]).headers["location"].rpartition("/")[2]
    third = review(adviser, second, RECOMPUTE).headers["location"].rpartition("/")[2]
    fourth = review(adviser, third).headers["location"].rpartition("/")[2]
    versions = [customer.read(f"{FILES}/{version}") for version in (second, third, fourth)]
    assert [find_rent(version)[1] for version in versions] == [rows[:-1]] * 3
    assert versions[0]["korrekturen"] == versions[1]["korrekturen"] == versions[2]["korrekturen"]
    assert list_bookings(adviser, fourth)[rows[-1]]["korrigiert"] is True
    back = correct(adviser, fourth, rows[-1], "HOUSING_RENT").headers["location"].rpartition("/")[2]
    last = customer.read(f"{FILES}/{back}")
    assert (find_rent(last)[1], "korrekturen" in last) == (rows, False)


def test_what_the_customer_says_after_a_correction_counts_more(shared, adviser):
    customer = new_customer(shared)
    customer.add_complete("berufseinstieg")
    _, name = create_for(customer, adviser)
    _, rows = find_rent(customer.read(f"{FILES}/{name}"))
    second = correct(adviser, name, rows[-1]).headers["location"].rpartition("/")[2]
    put_category(customer, rows[-1], "HOUSING_OTHER")
    third = review(adviser, second, RECOMPUTE).headers["location"].rpartition("/")[2]
    assert "korrekturen" not in customer.read(f"{FILES}/{third}")
    assert list_bookings(adviser, third)[rows[0]]["systemName"] == "HOUSING_RENT"


def test_the_adviser_sees_the_bookings_behind_the_figures_and_nothing_of_what_is_barred(shared, adviser):
    customer = new_customer(shared)
    customer.add_complete("berufseinstieg")
    _, name = create_for(customer, adviser)
    file = customer.read(f"{FILES}/{name}")
    named = {row for value in file["werte"] for row in value["umsaetze"]}
    bookings = list_bookings(adviser, name)
    assert bookings.keys() == named
    data = {row["id"]: row for row in customer.read("/customer/v2/kontoumsaetze?limit=1000")}
    for row, shown in bookings.items():
        fields = ("betrag", "waehrung", "buchungsdatum", "verwendungszweck", "buchungstext", "gegenkontoInhaber")
        assert {key: shown.get(key) for key in fields} == {key: data[row].get(key) for key in fields}
        assert "gegenkontoIban" not in shown
    [entry] = list_reviews(adviser, customer)
    assert "get_transactions" in rels(entry)
    _, rows = find_rent(file)
    put_category(customer, rows[-1], "HEALTH_SERVICES")
    assert list_bookings(adviser, name).keys() == named - {rows[-1]}
    answer = correct(adviser, name, rows[-1])
    assert (answer.status_code, "umsatz" in answer.json()["message"]) == (400, True)


def test_a_booking_that_the_customer_has_split_is_not_shown(shared, adviser):
    customer = new_customer(shared)
    customer.add_complete("berufseinstieg")
    _, name = create_for(customer, adviser)
    _, rows = find_rent(customer.read(f"{FILES}/{name}"))
    [found] = [
        transaction
        for transaction in customer.read("/customer/v2/kontoumsaetze?limit=1000")
        if transaction["id"] == rows[-1]
    ]
    path = f"/customer/v2/bankzugaenge/{found['zugangId']}/{found['produktId']}/kontoumsaetze/{rows[-1]}"
    parts = [
        {"betrag": -10.0, "tags": [{"systemName": "HEALTH_SERVICES"}]},
        {"betrag": round(found["betrag"] + 10, 2), "tags": [{"systemName": "HOUSING_RENT"}]},
    ]
    answer = customer.http.put(path, json={"teile": parts}, headers=customer.headers)
    assert answer.status_code == 200, answer.text
    assert rows[-1] not in list_bookings(adviser, name)
    assert correct(adviser, name, rows[-1]).status_code == 400


def test_without_the_customers_consent_no_booking_is_shown_and_nothing_is_corrected(tenant_of_flat, adviser):
    customer = tenant_of_flat
    _, name = create_for(customer, adviser, umfang=("credit-check",))
    allow(customer, adviser, BOTH)  # another disclosure than that of the file
    _, rows = find_rent(customer.read(f"{FILES}/{name}"))
    assert adviser.get(f"{REVIEWS}/{name}/transactions").status_code == 404
    answer = correct(adviser, name, rows[-1])
    assert (answer.status_code, "credit-bookings" in answer.json()["message"]) == (409, True)
    entry = next(entry for entry in list_reviews(adviser, customer) if entry["id"] == name)
    assert "get_transactions" not in rels(entry)


def test_a_withdrawal_closes_the_bookings_at_once_and_other_advisers_never_see_them(
    tenant_of_flat, adviser, shared, office
):
    disclosure, name = create_for(tenant_of_flat, adviser)
    colleague = make_adviser(shared, office)
    assert colleague.get(f"{REVIEWS}/{name}/transactions").status_code == 404
    assert tenant_of_flat.get(f"{REVIEWS}/{name}/transactions").status_code == 403
    assert adviser.get(f"{REVIEWS}/{name}/transactions").status_code == 200
    tenant_of_flat.delete(disclosure)
    assert adviser.get(f"{REVIEWS}/{name}/transactions").status_code == 404
    _, rows = find_rent(tenant_of_flat.read(f"{FILES}/{name}"))
    assert correct(adviser, name, rows[-1]).status_code == 404


def test_only_a_booking_of_the_file_gets_another_category_that_it_can_have(tenant_of_flat, adviser, shared):
    customer = tenant_of_flat
    _, name = create_for(customer, adviser)
    _, rows = find_rent(customer.read(f"{FILES}/{name}"))
    stranger = new_customer(shared)
    stranger.add_complete("berufseinstieg")
    _, others = find_rent(stranger.read(create(stranger)))
    cases = [
        (others[0], FURNISHING, "korrekturen[0].umsatz"),
        ("00000000-0000-0000-0000-000000000000", FURNISHING, "korrekturen[0].umsatz"),
        (rows[-1], SALARY, "korrekturen[0].systemName"),
        (rows[-1], "HOUSING", "korrekturen[0].systemName"),
        (rows[-1], "X_ABCDEFGHJKMN", "korrekturen[0].systemName"),
        (rows[-1], "HOUSING_RENT", "korrekturen[0].systemName"),
        (rows[-1], "HEALTH_SERVICES", "korrekturen[0].systemName"),
    ]
    for row, category, field in cases:
        answer = correct(adviser, name, row, category)
        assert (answer.status_code, field in answer.json()["message"]) == (400, True), (category, answer.text)
    correction = {"umsatz": rows[-1], "systemName": FURNISHING}
    twice = review(adviser, name, RECOMPUTE | {"korrekturen": [correction] * 2})
    confirmed = review(adviser, name, RECOMPUTE | {"ergebnis": "BESTAETIGT", "korrekturen": [correction]})
    assert [answer.status_code for answer in (twice, confirmed)] == [400, 400]
    assert [entry["status"] for entry in list_reviews(adviser, customer) if entry["id"] == name] == ["UNGEPRUEFT"]

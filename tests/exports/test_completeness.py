"""Completeness statements: balances as the list of balances has them, gaps where something is not known."""

from datetime import date
from decimal import Decimal

import pytest
from known_accounts import open_account

from banking import new_customer
from kontor.domain.completeness import MonthSums, Source, state_months

STATEMENT = "/customer/v2/vollstaendigkeit"
# 29.00 and 29.00, and yet a closing balance of 153.50.
MISMATCH = """:20:STARTUMS
:25:DE89370400440532013000
:28C:1
:60F:C261031EUR100,00
:61:2611021102C29,00NTRF
:86:166?00GUTSCHRIFT?20EREF+A-17?21SVWZ+Kurs?32Anna Muster?31DE02500105170137075030
:61:2611031103C29,00NTRF
:86:166?00GUTSCHRIFT?20EREF+B-3?21SVWZ+Kurs?32Ben Beispiel?31DE02100500000054540402
:62F:C261103EUR153,50
-
"""


def money(number):
    return Decimal(str(number))


def test_months_are_those_of_the_list_of_balances_and_of_the_transactions(demo1):
    customer, access_id = demo1
    statements = customer.read(STATEMENT)
    products = {product["id"]: product for product in customer.products(access_id)}
    assert {entry["produktId"] for entry in statements} == {
        key for key, product in products.items() if product["kategorie"] != "DEPOT"
    }
    for entry in statements:
        url = f"/customer/v2/bankzugaenge/{access_id}/{entry['produktId']}"
        listed = customer.read(f"{url}/balances", params={"interval": "month"})
        ends = {balance["date"][:7]: balance["balance"] for balance in listed}
        final = [row for row in customer.transactions(products[entry["produktId"]]) if not row.get("vorgemerkt")]
        rows = [row for row in final if row["waehrung"] == entry["waehrung"]]
        assert {row["waehrung"] for row in final} - {entry["waehrung"]} == set(
            entry.get("ausgeschlosseneWaehrungen", [])
        )
        assert sum(month["anzahl"] for month in entry["monate"]) == len(rows) > 0
        for month in entry["monate"]:
            assert month["saldoEnde"] == ends[month["monat"]]
            booked = [money(row["betrag"]) for row in rows if row["buchungsdatum"].startswith(month["monat"])]
            assert money(month["einnahmen"]) == sum(amount for amount in booked if amount > 0)
            assert money(month["ausgaben"]) == sum(amount for amount in booked if amount < 0)
            assert money(month["saldoAnfang"]) + sum(booked) == money(month["saldoEnde"])


def test_days_before_the_first_booking_and_after_the_last_read_are_gaps(demo1):
    for entry in demo1[0].read(STATEMENT):
        first, *_, last = entry["monate"]
        assert [gap["art"] for gap in last["luecken"]] == ["NOCH_NICHT_ABGERUFEN"]
        assert last["luecken"][0]["bis"][:7] == last["monat"]
        assert all(gap["art"] == "VOR_ERSTER_BUCHUNG" for gap in first["luecken"])
        assert all(month["luecken"] == [] for month in entry["monate"][1:-1])


def test_a_months_bookings_that_do_not_give_the_files_balances_are_a_gap(shared, bank_server):
    customer = new_customer(shared)
    headers = customer.headers | {"Content-Type": "application/octet-stream"}
    answer = customer.http.post("/customer/v2/imports", content=MISMATCH.encode(), headers=headers)
    assert answer.status_code == 201, answer.text
    [entry] = customer.read(STATEMENT)
    [gap] = [gap for gap in entry["monate"][0]["luecken"] if gap["art"] == "SALDO_ABWEICHUNG"]
    assert gap == {"art": "SALDO_ABWEICHUNG", "von": "2026-11-02", "bis": "2026-11-03", "differenz": -4.50}


def test_the_export_has_the_same_months(demo1):
    customer = demo1[0]
    exported = [
        (
            month["product_id"],
            month["month"],
            month["opening_balance"],
            month["booking_count"],
            month["closing_balance"],
        )
        for month in customer.read("/customer/v2/export")["completeness"]
    ]
    assert exported == [
        (entry["produktId"], month["monat"], month["saldoAnfang"], month["anzahl"], month["saldoEnde"])
        for entry in customer.read(STATEMENT)
        for month in entry["monate"]
    ]


def test_a_stranger_has_no_months(known, shared):
    known.push([{"betrag": 1, "buchungsdatum": "2026-01-01"}], batch="completeness")
    assert known.customer.read(STATEMENT) != []
    assert new_customer(shared).read(STATEMENT) == []
    assert open_account(shared).customer.read(STATEMENT) == []


@pytest.mark.parametrize("balance", [None, Decimal(70)])
def test_a_month_without_bookings_keeps_its_balance_and_without_one_nothing_is_reckoned(balance):
    sums = {
        date(2026, 1, 1): MonthSums(1, Decimal(50), Decimal(0), Decimal(50), date(2026, 1, 1)),
        date(2026, 3, 1): MonthSums(2, Decimal(0), Decimal(-30), Decimal(-10), date(2026, 3, 2)),
    }
    months = state_months(Source(balance, date(2026, 4, 1), None), sums)
    balances = [(month.opening, month.closing) for month in months]
    kinds = [[str(gap.kind) for gap in month.gaps] for month in months]
    if balance is None:
        assert balances == [(None, None)] * 4
        assert kinds == [["NO_BALANCE"]] * 3 + [["NOT_YET_READ", "NO_BALANCE"]]
    else:  # 20 of March's expenses are booked after the day of the balance
        assert balances == [(30, 80), (80, 80), (80, 50), (50, 50)]
        assert kinds == [[], [], [], ["NOT_YET_READ"]]

"""CSV: one line per transaction, in a form for programs and one for German spreadsheets, harmless in both."""

import csv
import io

import pytest
from known_accounts import day, open_account

from kontor.domain.spreadsheets import escape_formula
from kontor.wire.csv_exports import HEADINGS

EXPORT = "/customer/v2/export"


def read_csv(customer, **query):
    answer = customer.get(EXPORT, params={"format": "csv", **query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].endswith('.csv"')
    return answer.content


def test_plain_lines_are_what_the_interface_lists(known):
    text = read_csv(known.customer).decode()
    assert not text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(HEADINGS)
    assert [float(row["amount"]) for row in rows] == known.amounts(order="asc")
    first = rows[0]
    assert (first["booking_date"], first["amount"], first["currency"]) == ("2026-01-01", "2500.00", "EUR")
    assert (first["category"], first["category_name"], first["main_category"]) == (
        "INCOME_SALARY",
        "Lohn und Gehalt",
        "INCOME",
    )
    assert (first["counterparty"], first["counterparty_iban"]) == ("Muster GmbH", "DE02500105170137075030")
    assert {row["product_id"] for row in rows} == {known.product_id}
    assert {row["access_id"] for row in rows} == {known.access_id}
    car = next(row for row in rows if row["amount"] == "-48.10")
    assert car["insurance_type"].startswith("VEHICLE")
    assert (car["partner"], bool(car["partner_name"])) != ("UNKNOWN", False)
    assert 0 < float(car["confidence"]) <= 1
    assert car["freelancer_category"]


def test_german_lines_open_in_a_german_spreadsheet(known):
    content = read_csv(known.customer, dialect="german")
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=";"))
    assert list(rows[0]) == list(HEADINGS.values())
    assert (rows[2]["Betrag"], rows[2]["Buchungstag"], rows[2]["Vorgemerkt"]) == ("-23,45", "03.01.2026", "nein")
    assert rows[0]["Kategorie"] == "Lohn und Gehalt"


def test_days_narrow_the_lines(known):
    rows = list(csv.DictReader(io.StringIO(read_csv(known.customer, **{"from": day(1), "to": day(2)}).decode())))
    assert [row["amount"] for row in rows] == ["-900.00", "-23.45"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30 123", "'+49 30 123"),
        ("-12", "'-12"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'=1"),
        ("x;=1+1", "x; =1+1"),
        ("x,@SUM(A1)", "x, @SUM(A1)"),
        ("12,-- EUR", "12,-- EUR"),
        ("\r\n@x", "'@x"),
        ("\uff1dcmd", "'\uff1dcmd"),
        ("Miete = 900", "Miete = 900"),
        ("two\nlines", "two lines"),
        (None, ""),
    ],
)
def test_words_of_strangers_are_no_formulas(text, cell):
    assert escape_formula(text) == cell


@pytest.mark.parametrize("dialect", ["plain", "german"])
def test_no_cell_of_a_malicious_booking_begins_like_a_formula(shared, bank_server, dialect):
    account = open_account(shared)
    bad = '=HYPERLINK("http://evil","x")'
    account.push(
        [
            {"betrag": -1, "buchungsdatum": day(0), "gegenkontoInhaber": bad, "verwendungszweck": f"\t{bad}",
             "buchungstext": "@x", "gegenkontoIban": "+x"}
        ]
    )  # fmt: skip
    text = read_csv(account.customer, dialect=dialect).decode("utf-8-sig")
    delimiter = ";" if dialect == "german" else ","
    [cells] = list(csv.reader(io.StringIO(text), delimiter=delimiter))[1:]
    suspicious = [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell]
    assert suspicious == ["-1,00" if dialect == "german" else "-1.00"]
    assert f"'{bad}" in cells

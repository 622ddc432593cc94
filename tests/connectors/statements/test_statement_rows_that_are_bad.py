"""One row that cannot be read is reported with its place; the others are read."""

from decimal import Decimal

import pytest

from kontor.connectors.statements import LIMITS, StatementError, read_camt, read_csv, read_mt940, read_statements
from statement_files import pack

MT940 = (
    ":20:STARTUMSE\r\n:25:10020030/1234567\r\n:28C:1/1\r\n:60F:C261101EUR100,00\r\n"
    ":61:2611021102D1,00NTRFNONREF\r\n:86:166?00A?20eins\r\n"
    ":61:26XX021102D2,00NTRFNONREF\r\n:86:166?00B?20zwei\r\n"
    ":61:2611021102D3,00NTRFNONREF\r\n:86:166?00C?20drei\r\n:62F:C261102EUR96,00\r\n-\r\n"
)
ENTRY = '<Ntry><Amt Ccy="EUR">{}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>{}</Dt></BookgDt></Ntry>'
CSV_HEAD = (
    "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Beguenstigter/Zahlungspflichtiger;"
    "Kontonummer/IBAN;Betrag;Waehrung;Info"
)


def write_camt(*entries: tuple[str, str]) -> bytes:
    rows = "\n".join(ENTRY.format(*entry) for entry in entries)
    return (
        '<?xml version="1.0"?>\n'
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt>\n'
        f"<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>\n{rows}\n</Stmt></BkToCstmrStmt></Document>"
    ).encode()


def write_csv(*rows: tuple[str, str, str]) -> bytes:
    lines = [f"DE89370400440532013000;{day};{day};KAUF;{purpose};Laden;;{amount};EUR;" for day, purpose, amount in rows]
    return "\n".join([CSV_HEAD, *lines, ""]).encode()


def test_a_bad_booking_of_an_mt940_is_reported_with_its_line():
    (statement,) = read_mt940(MT940.encode())
    assert [entry.purpose for entry in statement.entries] == ["eins", "drei"]
    (row,) = statement.rejected
    assert (row.line, row.field) == (7, "61")
    assert "cannot be read" in row.reason


def test_lines_are_those_of_the_file_also_behind_the_end_of_a_message():
    """Marks between messages and lines of text are lines as well."""
    good = MT940.replace("26XX02", "261102")
    statements = read_mt940((good + "\r\n" + MT940.replace("drei", "drei\r\nund mehr")).encode())
    assert [row.line for statement in statements for row in statement.rejected] == [13 + 7]


def test_a_balance_that_cannot_be_read_is_reported_and_the_bookings_stay():
    (statement,) = read_mt940(MT940.replace("26XX02", "261102").replace("C261102EUR96,00", "C2611EUR").encode())
    assert (len(statement.entries), statement.closing, statement.rejected[0].line) == (3, None, 11)


SWISS = MT940.replace("26XX02", "261102").replace("EUR", "CHF").replace("C261101CHF100,00", "C2611CHF100,00")


@pytest.mark.parametrize(
    "text",
    [SWISS, SWISS.replace("C261102CHF96,00", "?").replace("/1234567", "/1234567CHF")],
    ids=["closing balance", "account"],
)
def test_without_a_readable_opening_balance_the_currency_is_that_of_the_closing_balance_or_the_account(text):
    (statement,) = read_mt940(text.encode())
    assert [entry.currency for entry in statement.entries] == ["CHF"] * 3
    assert (statement.account.currency, statement.account.account_number) == ("CHF", "1234567")
    assert (statement.opening, statement.rejected[0].field) == (None, "60F")


def test_a_statement_whose_currency_cannot_be_read_is_refused():
    with pytest.raises(StatementError, match="currency of these bookings is not known") as caught:
        read_mt940(SWISS.replace("C261102CHF96,00", "?").encode())
    assert (caught.value.line, caught.value.field) == (4, "60F")


def test_a_bad_entry_of_a_camt_is_reported_with_its_line_and_number():
    (statement,) = read_camt(write_camt(("1.00", "2026-11-02"), ("1,00", "2026-11-02"), ("3.00", "2026-11-03")))
    assert [entry.amount for entry in statement.entries] == [Decimal("-1.00"), Decimal("-3.00")]
    (row,) = statement.rejected
    assert row.line == 5
    assert row.reason.startswith("Entry 2: The amount cannot be read")


def test_bad_rows_of_a_csv_are_reported_with_their_lines():
    rows = [
        ("02.11.26", "eins", "-1,00"),
        ("31.13.26", "kein Tag", "-2,00"),
        ("03.11.26", '"mit\nUmbruch"', "-3,00"),
        ("04.11.26", "kein Betrag", "-4,x"),
        ("", "ohne Tag", "-5,00"),
        ("05.11.26", "ohne Betrag", ""),
        ("06.11.26", "sieben", "-7,00"),
    ]
    (statement,) = read_csv(write_csv(*rows))
    assert [entry.amount for entry in statement.entries] == [Decimal(-1), Decimal(-3), Decimal(-7)]
    assert [(row.line, row.field) for row in statement.rejected] == [
        (3, "booked"),
        (6, "amount"),
        (7, "booked"),
        (8, "amount"),
    ]


def test_a_row_that_was_cut_is_reported():
    (statement,) = read_csv(write_csv(("02.11.26", "eins", "-1,00")) + b"DE89370400440532013000;03.11.26;03.1")
    assert len(statement.entries) == 1
    assert [(row.line, row.field) for row in statement.rejected] == [(3, "value")]


def test_a_bad_row_is_reported_for_the_account_it_is_of():
    rows = write_csv(("02.11.26", "eins", "-1,00"), ("02.11.26", "zwei", "-2,00"), ("03.11.26", "drei", "x"))
    lines = rows.split(b"\n")
    statements = read_csv(b"\n".join([*lines[:2], *(line.replace(b"DE89", b"DE88") for line in lines[2:])]))
    assert [(statement.account.iban[:4], len(statement.rejected)) for statement in statements] == [
        ("DE89", 0),
        ("DE88", 1),
    ]


@pytest.mark.parametrize(
    "data",
    [
        MT940.replace("2611021102", "26XX021102").encode(),
        write_camt(("x", "2026-11-02"), ("y", "2026-11-02")),
        write_csv(("99.99.99", "a", "1,00"), ("02.11.26", "b", "eins")),
    ],
    ids=["MT940", "camt", "CSV"],
)
def test_a_file_of_bad_rows_only_is_refused_with_the_first_reasons(data):
    with pytest.raises(StatementError) as caught:
        read_statements(data)
    assert "No booking can be read" in str(caught.value)
    assert "cannot be read" in str(caught.value).partition("No booking")[2].partition("line ")[2]
    assert caught.value.line is not None


def test_in_a_zip_a_bad_row_is_named_with_its_file():
    read = read_statements(pack(**{"november.sta": MT940.encode(), "dezember.xml": write_camt(("1.00", "2026-12-02"))}))
    (row,) = [row for statement in read.statements for row in statement.rejected]
    assert (row.line, row.reason.partition(":")[0]) == (7, "november.sta")


def test_a_file_of_which_hardly_anything_can_be_read_is_no_statement():
    bad = [("02.11.26", "x", "eins")] * (LIMITS.rejected + 1)
    with pytest.raises(StatementError, match="More than 1000 rows"):
        read_csv(write_csv(("02.11.26", "y", "1,00"), *bad))

"""Amounts as banks really write them: with the noise of binary fractions, and with either decimal sign."""

from decimal import Decimal

import pytest

from kontor.connectors.json_values import read_amount
from kontor.connectors.statements import IssueKind, read_camt, read_csv, read_mt940
from kontor.connectors.statements.csv_values import choose_decimal, parse_number
from kontor.connectors.statements.values import drop_noise
from kontor.domain.cleaning import clean_amount

BALANCE = (
    '<Bal><Tp><CdOrPrtry><Cd>{}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">{}</Amt><CdtDbtInd>CRDT</CdtDbtInd>'
    "<Dt><Dt>2026-11-02</Dt></Dt></Bal>"
)
ENTRY = (
    '<Ntry><Amt Ccy="EUR">{}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-02</Dt></BookgDt>'
    "</Ntry>"
)


def read_report(opening, closing, *amounts):
    body = BALANCE.format("OPBD", opening) + BALANCE.format("CLBD", closing)
    body += "".join(ENTRY.format(amount) for amount in amounts)
    (statement,) = read_camt(
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt><Rpt><Acct><Id>'
        f"<IBAN>DE89370400440532013000</IBAN></Id></Acct>{body}</Rpt></BkToCstmrAcctRpt></Document>".encode()
    )
    return statement


def test_noise_behind_the_cents_is_dropped_in_bookings_and_balances():
    statement = read_report("1000.000000000001", "1093.989999999983", "94.010000000021", "0.02")
    assert [entry.amount for entry in statement.entries] == [Decimal("94.01"), Decimal("0.02")]
    assert (statement.opening.amount, statement.closing.amount) == (Decimal(1000), Decimal("1093.99"))
    assert [issue.kind for issue in statement.issues] == [IssueKind.BALANCE_MISMATCH]  # 0.04 are really missing
    assert read_report("0.00", "94.03", "94.010000000021", "0.0199999999999996").issues == ()


def test_noise_in_an_mt940_is_dropped():
    text = (
        ":20:X\r\n:25:10020030/1234567\r\n:60F:C261101EUR100,000000000001\r\n:61:2611021102D94,010000000021NTRFNONREF\r\n"
        ":86:166?00X\r\n:62F:C261102EUR5,989999999979\r\n-\r\n"
    )
    (statement,) = read_mt940(text.encode())
    assert (statement.entries[0].amount, statement.closing.amount) == (Decimal("-94.01"), Decimal("5.99"))
    assert statement.issues == ()


def test_noise_in_an_xs2a_amount_is_dropped():
    assert read_amount("-94.010000000021") == Decimal("-94.01")
    assert read_amount("94,01") is None


def test_fractions_of_a_cent_that_mean_something_are_stored_rounded_and_reported():
    statement = read_report("0.00", "0.015", "0.005", "0.01")
    (issue,) = statement.issues
    assert (issue.kind, issue.found - issue.expected) == (IssueKind.AMOUNT_ROUNDED, Decimal("-0.005"))


@pytest.mark.parametrize(
    ("amount", "stored"),
    [("0.005", "0.01"), ("1.125", "1.13"), ("-0.025", "-0.03"), ("94.010000000021", "94.01"), ("7", "7.00")],
)
def test_half_a_cent_goes_away_from_zero_as_in_stored_amounts(amount, stored):
    assert clean_amount(Decimal(amount)) == Decimal(stored)


def test_what_is_further_from_a_cent_than_noise_is_kept():
    assert drop_noise(Decimal("1.00001")) == Decimal("1.00001")
    assert drop_noise(Decimal("1.0000001")) == Decimal("1.00")
    with pytest.raises(ValueError, match="too large"):
        drop_noise(Decimal("1e21"))


# Decimal signs of CSV downloads


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("-1.234,56", ",", "-1234.56"),
        ("1.234,56-", ",", "-1234.56"),
        ("-1.380", ",", "-1380"),
        ("1 234,5 €", ",", "1234.5"),
        ("1'234'567,89 EUR", ",", "1234567.89"),
        ("12", ",", "12"),
        ("0,125", ",", "0.125"),
        ("1,234.56", ".", "1234.56"),
        ("-12.5", ".", "-12.5"),
    ],
)
def test_numbers_are_read_with_the_sign_of_their_form(text, decimal, number):
    assert parse_number(text, decimal) == Decimal(number)


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("5000.01 EUR", ","),  # no thousands
        ("1.23.456", ","),
        ("12.3456", ","),
        ("1.234'567", ","),
        ("1,234", ","),  # a thousand, or one and a bit?
        ("1.234", "."),
        ("1,23", "."),
        ("--32,04 EUR", ","),
        ("1,2,3", ","),
    ],
)
def test_what_is_no_number_of_its_form_is_not_guessed(text, decimal):
    with pytest.raises(ValueError, match="no number"):
        parse_number(text, decimal)


@pytest.mark.parametrize(
    ("texts", "decimal"),
    [
        (["12,50", "1.234", ""], ","),
        (["5000.01", "12", "words"], "."),
        (["5000.01", "1,234.50"], "."),
        (["5000.01", "12,50"], ","),  # mixed: the form's own
        (["5000.01", "1.234"], ","),
        ([], ","),
    ],
)
def test_the_sign_is_the_forms_own_unless_all_numbers_say_otherwise(texts, decimal):
    assert choose_decimal(texts, ",") == decimal


DKB_HEAD = (
    '"Girokonto";"DE89370400440532013000"\n"Kontostand vom 03.11.2026:";"{}"\n""\n'
    '"Buchungsdatum";"Wertstellung";"Status";'
    '"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)";"Gläubiger-ID";'
    '"Mandatsreferenz";"Kundenreferenz"\n'
)


def read_dkb(balance, *amounts):
    rows = [
        f'"02.11.26";"02.11.26";"Gebucht";"Ich";"Laden";"Kauf";"Ausgang";"";"{amount}";"";"";""' for amount in amounts
    ]
    (statement,) = read_csv((DKB_HEAD.format(balance) + "\n".join(rows)).encode())
    return statement


def test_a_balance_written_with_a_point_above_rows_with_commas_is_read():
    statement = read_dkb("5000.01 EUR", "-12,50", "-1.380")
    assert statement.closing.amount == Decimal("5000.01")
    assert [entry.amount for entry in statement.entries] == [Decimal("-12.50"), Decimal(-1380)]


def test_a_file_that_writes_points_throughout_is_read_with_points():
    assert [entry.amount for entry in read_dkb("1.00 EUR", "-5000.01", "-12.5").entries] == [
        Decimal("-5000.01"),
        Decimal("-12.5"),
    ]


def test_a_number_that_is_written_otherwise_than_the_rest_is_rejected():
    statement = read_dkb("1,00 EUR", "-12,50", "-5000.01")
    assert [entry.amount for entry in statement.entries] == [Decimal("-12.50")]
    assert [(row.line, row.field) for row in statement.rejected] == [(6, "amount")]


def test_fractions_of_a_cent_in_a_csv_are_reported():
    (issue,) = read_dkb("1,00 EUR", "-0,125", "-1,00").issues
    assert (issue.kind, issue.found - issue.expected) == (IssueKind.AMOUNT_ROUNDED, Decimal("0.005"))


def test_a_balance_that_is_no_number_is_reported_and_the_rows_stay():
    statement = read_dkb("--32,04 EUR", "-12,50")
    assert (statement.closing, len(statement.entries)) == (None, 1)
    assert [(row.line, row.field) for row in statement.rejected] == [(2, "balance")]

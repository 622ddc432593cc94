"""OFX by its specification (2.3), in both spellings, and QIF as programs write it."""

from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.connectors.files.accounts import join_statements
from kontor.connectors.statements import FileKind, StatementError, detect_kind, read_ofx, read_qif, read_statements
from kontor.connectors.statements.ofx import parse_ofx_amount, parse_ofx_day
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import find_day

ROWS = [
    ("DEBIT", "20261103", "-12.34", "a-1", "Laden &amp; Co", "Einkauf &lt;3"),
    ("CREDIT", "20261104120000.000[0:GMT]", "1500.00", "a-2", "Arbeit AG", "Lohn"),
]


def write_ofx(rows=ROWS, *, is_xml: bool, account: str = "BANK", number: str = "0137075030") -> bytes:
    """With or without end tags of values; everything else is the same."""

    def leaf(name: str, value: str) -> str:
        return f"<{name}>{value}</{name}>\n" if is_xml else f"<{name}>{value}\n"

    statement = "STMTRS" if account == "BANK" else "CCSTMTRS"
    source = f"{account}ACCTFROM"
    bank = leaf("BANKID", "50010517") if account == "BANK" else ""
    entries = "".join(
        "<STMTTRN>\n" + leaf("TRNTYPE", kind) + leaf("DTPOSTED", day) + leaf("TRNAMT", amount) + leaf("FITID", number)
        + leaf("NAME", name) + leaf("MEMO", memo) + "</STMTTRN>\n"
        for kind, day, amount, number, name, memo in rows
    )  # fmt: skip
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<?OFX OFXHEADER="200" VERSION="220"?>\n'
        if is_xml
        else "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n"
    )
    body = (
        f"<OFX>\n<{statement}>\n{leaf('CURDEF', 'EUR')}<{source}>\n{bank}{leaf('ACCTID', number)}</{source}>\n"
        f"<BANKTRANLIST>\n{leaf('DTSTART', '20261101')}{leaf('DTEND', '20261130')}{entries}</BANKTRANLIST>\n"
        f"<LEDGERBAL>\n{leaf('BALAMT', '1600.00')}{leaf('DTASOF', '20261105')}</LEDGERBAL>\n"
        f"<AVAILBAL>\n{leaf('BALAMT', '2600.00')}{leaf('DTASOF', '20261106')}</AVAILBAL>\n</{statement}>\n</OFX>\n"
    )
    return (head + body).encode()


@pytest.mark.parametrize("is_xml", [False, True], ids=["1.x SGML", "2.x XML"])
def test_ofx_in_both_spellings_says_the_same(is_xml):
    data = write_ofx(is_xml=is_xml)
    assert detect_kind(data) is FileKind.OFX
    (statement,) = read_statements(data).statements
    first, second = statement.entries
    assert (first.amount, first.counterparty_name, first.purpose) == (Decimal("-12.34"), "Laden & Co", "Einkauf <3")
    assert (find_day(first), find_day(second), second.bank_id) == (date(2026, 11, 3), date(2026, 11, 4), "a-2")
    assert (statement.closing.amount, statement.closing.day) == (Decimal(1600), date(2026, 11, 5))
    assert (statement.account.bank_code, statement.account.account_number) == ("50010517", "0137075030")
    (account,) = join_statements([statement], [])
    assert account.product.key == "DE02500105170137075030"


def test_a_card_in_ofx_is_a_credit_card():
    (statement,) = read_ofx(write_ofx(is_xml=False, account="CC", number="4998 XXXX XXXX 1234"))
    (account,) = join_statements([statement], [])
    assert (account.product.category, account.product.key) == (ProductCategory.CREDIT_CARD, "ofx/4998********1234")


def test_the_partners_account_and_currency_stand_in_parts_of_the_entry():
    entry = (
        "<BANKACCTTO><BANKID>12030000<ACCTID>DE02120300000000202051<ACCTTYPE>CHECKING</BANKACCTTO>"
        "<CURRENCY><CURRATE>1.1<CURSYM>USD</CURRENCY>"
    )
    data = write_ofx(ROWS[:1], is_xml=False).replace(b"</STMTTRN>", entry.encode() + b"</STMTTRN>")
    (statement,) = read_ofx(data)
    assert (statement.entries[0].counterparty_iban, statement.entries[0].currency) == ("DE02120300000000202051", "USD")
    assert statement.account.account_number == "0137075030"


def test_an_entry_without_an_amount_is_told_by_its_line_and_the_rest_is_read():
    rows = [ROWS[0], ("DEBIT", "20261103", "zwölf", "a-3", "X", "Y")]
    (statement,) = read_ofx(write_ofx(rows, is_xml=False))
    (rejected,) = statement.rejected
    assert (len(statement.entries), rejected.line) == (1, 25)


def test_a_file_that_ends_within_a_statement_is_refused():
    with pytest.raises(StatementError, match="ends within a statement"):
        read_ofx(write_ofx(is_xml=False).split(b"<LEDGERBAL>")[0])


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20261103", date(2026, 11, 3)),
        ("20261103235959", date(2026, 11, 3)),
        ("202611031120", date(2026, 11, 3)),  # so in the examples of the standard
        ("20261103235959.999[-5:EST]", date(2026, 11, 4)),
        ("20261103000000[+1:CET]", date(2026, 11, 3)),
        ("20261103233000[0:GMT]", date(2026, 11, 4)),
    ],
)
def test_days_with_a_time_zone_are_those_in_germany(text, day):
    assert parse_ofx_day(text) == day


@pytest.mark.parametrize(
    ("text", "decimal", "amount"),
    [
        ("-30.000", ".", "-30.00"),
        ("-3.77000", ".", "-3.77"),
        ("+12,5", ",", "12.5"),
        (".50", ".", "0.50"),
        ("1,234.56", ".", "1234.56"),
        ("1.234", ",", "1234"),
    ],
)
def test_amounts_have_no_separators_of_thousands_unless_a_program_writes_them(text, decimal, amount):
    assert parse_ofx_amount(text, decimal) == Decimal(amount)


@pytest.mark.parametrize(
    "text", ["", "2026", "20261301", "20261103250000[0:GMT]", "20261103000000[999999999999:X]", "x"]
)
def test_what_is_no_day_is_refused(text):
    with pytest.raises(ValueError, match="no"):
        parse_ofx_day(text)


QIF = (
    "!Account\nNGirokonto\nTBank\n^\n!Type:Bank\n"
    "D03.11.2026\nT-12,34\nPLaden\nMEinkauf\nLEssen\n^\nD04.11.2026\nT1.500,00\n^\n"
)


def test_qif_with_german_days_and_numbers():
    assert detect_kind(QIF.encode()) is FileKind.QIF
    (statement,) = read_statements(QIF.encode("cp1252")).statements
    first, second = statement.entries
    assert (first.amount, first.counterparty_name, first.purpose) == (Decimal("-12.34"), "Laden", "Einkauf")
    assert (second.amount, find_day(second)) == (Decimal(1500), date(2026, 11, 4))
    (account,) = join_statements([statement], [])
    assert account.product.key == "qif-giro-Girokonto"


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["11/13/2026", "11/3/2026"], [date(2026, 11, 13), date(2026, 11, 3)]),
        (["13/11/26", "3/11/26"], [date(2026, 11, 13), date(2026, 11, 3)]),
        (["11/13'26", "11/ 3'26"], [date(2026, 11, 13), date(2026, 11, 3)]),
        (["2026-11-13"], [date(2026, 11, 13)]),
        (["3/11/98"], [date(1998, 11, 3)]),
        (["3/11/2026"], [date(2026, 11, 3)]),
    ],
    ids=["American", "German", "apostrophe", "ISO", "last century", "either way: German"],
)
def test_the_order_of_day_and_month_is_the_files(days, expected):
    data = "!Type:CCard\n" + "".join(f"D{day}\nT-1.50\n^\n" for day in days)
    (statement,) = read_qif(data.encode())
    assert [find_day(entry) for entry in statement.entries] == expected
    assert statement.account.origin.category is ProductCategory.CREDIT_CARD


def test_splits_and_lists_of_categories_are_no_bookings():
    data = "!Type:Cat\nNEssen\n^\n!Type:Bank\nD03.11.2026\nT-30.00\nPLaden\nSEssen\n$-10.00\nSHaus\n$-20.00\n^\n"
    (statement,) = read_qif(data.encode())
    assert [entry.amount for entry in statement.entries] == [Decimal(-30)]


def test_accounts_of_one_qif_are_apart():
    data = QIF + "!Account\nNSparbuch\nTBank\n^\n!Type:Bank\nD05.11.2026\nT7,00\n^\n"
    statements = read_qif(data.encode())
    assert [account.product.key for account in join_statements(list(statements), [])] == [
        "qif-giro-Girokonto",
        "qif-giro-Sparbuch",
    ]


@given(st.binary(max_size=400))
def test_any_bytes_behind_a_head_are_read_or_refused(tail):
    for head, read in ((b"OFXHEADER:100\n<OFX><STMTRS><STMTTRN>", read_ofx), (b"!Type:Bank\n", read_qif)):
        with suppress(StatementError):
            read(head + tail)

"""Bookings and depots: pages add up to what the in-process bank shows, in either format."""

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from fints_talk import Talk, find_account, make_tan, open_talk, synchronise

from fints_banks import FintsBankUnderTest
from kontor.connectors.demo.people import person_for
from kontor.demobank.fints.segments import make_segment
from kontor.demobank.fints.statements import SHORT_DAYS
from kontor.domain.transactions import find_day

CAMT = tuple(f"urn:iso:std:iso:20022:tech:xsd:camt.052.001.{version}" for version in ("02", "08"))
LINE = re.compile(rb":61:\d{6}(\d{4})?([CD])R([0-9]+,[0-9]*)N")
BALANCE = re.compile(rb":6([02])F:([CD])\d{6}EUR([0-9]+,[0-9]*)")


def read_number(mark: bytes, number: bytes) -> Decimal:
    value = Decimal(number.decode().replace(",", ".").rstrip("."))
    return -value if mark == b"D" else value


def list_amounts(statement: bytes) -> list[Decimal]:
    return [read_number(mark, number) for _, mark, number in LINE.findall(statement)]


def fetch_pages(talk: Talk, account: tuple, since: date | None = None, until: date | None = None, version: int = 7):
    """All HIKAZ, page by page."""
    pages, touchdown = [], ""
    while True:
        order = make_segment("HKKAZ", version, account, "N", since, until, None, touchdown)
        heard = talk.send(order, make_tan(order="HKKAZ"))
        pages += heard.find_all("HIKAZ")
        if "3040" not in heard.codes:
            return pages
        touchdown = heard.parameter("3040")


def find_expected(login: str, today: date, since: date | None = None, until: date | None = None) -> list[Decimal]:
    person = person_for(login, today)
    assert person is not None
    rows = [entry.transaction for entry in person.accounts[0].entries if not entry.transaction.is_pending]
    return [row.amount for row in rows if (since or date.min) <= (find_day(row) or today) <= (until or date.max)]


def test_pages_of_bookings_add_up(fints_bank: FintsBankUnderTest):
    login = "student+pages"
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    account = find_account(talk.begin(make_tan()))
    pages = fetch_pages(talk, account)
    assert len(pages) > 10
    text = b"".join(page.read_binary(1) for page in pages)
    assert list_amounts(text) == find_expected(login, fints_bank.today)
    marks = [(kind, read_number(mark, number)) for kind, mark, number in BALANCE.findall(text)]
    closings = [value for kind, value in marks if kind == b"2"]
    openings = [value for kind, value in marks if kind == b"0"]
    assert openings[1:] == closings[:-1], "each statement begins where the one before ended"
    balance = talk.send(make_segment("HKSAL", 7, account, "N")).find("HISAL").read_group(4)
    assert closings[-1] == read_number(balance[0].encode(), balance[1].encode())
    assert pages[-1].read_binary(2).startswith(b"\r\n:20:"), "pending bookings come with the last page"


def test_a_range_of_days_shows_these_days_only(fints_bank: FintsBankUnderTest):
    login, since, until = "student+range", date(2026, 3, 10), date(2026, 4, 9)
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    account = find_account(talk.begin(make_tan()))
    for version in (5, 6, 7):
        own = account if version == 7 else account[2:]
        text = b"".join(page.read_binary(1) for page in fetch_pages(talk, own, since, until, version))
        assert list_amounts(text) == find_expected(login, fints_bank.today, since, until)


def test_camt_documents_hold_the_same_bookings(fints_bank: FintsBankUnderTest):
    login, since = "student+camt", date(2026, 9, 1)
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    account = find_account(talk.begin(make_tan()))
    for wanted in CAMT:
        amounts, touchdown = [], ""
        while True:
            order = make_segment("HKCAZ", 1, account, wanted, "N", since, None, None, touchdown)
            heard = talk.send(order, make_tan(order="HKCAZ"))
            page = heard.find("HICAZ")
            assert page.read(2) == wanted
            for number, mark in re.findall(
                rb"<Ntry><Amt[^>]*>([0-9.]+)</Amt><CdtDbtInd>(\w+)</CdtDbtInd>", page.read_binary(3)
            ):
                amounts.append(Decimal(number.decode()) * (-1 if mark == b"DBIT" else 1))
            if "3040" not in heard.codes:
                break
            touchdown = heard.parameter("3040")
        assert amounts == find_expected(login, fints_bank.today, since)


def test_old_bookings_ask_for_a_tan_where_the_login_does(fints_bank: FintsBankUnderTest):
    login = "test_sca_method+old"
    system = synchronise(fints_bank.bank, login)
    first = Talk(fints_bank.bank, login, function="901", system=system)
    account = find_account(first.confirm(first.begin(make_tan()), "2"))
    assert fetch_pages(first, account), "who has just authenticated is not asked again"
    talk = Talk(fints_bank.bank, login, function="901", system=system)
    assert "3076" in talk.begin(make_tan()).codes
    recent = fints_bank.today - timedelta(days=SHORT_DAYS)
    assert fetch_pages(talk, account, recent)
    order = make_segment("HKKAZ", 7, account, "N", recent - timedelta(days=1))
    challenge = talk.send(order, make_tan(order="HKKAZ"))
    assert "0030" in challenge.codes
    assert not challenge.find_all("HIKAZ")
    assert "9941" in talk.confirm(challenge, "1").codes
    answered = talk.confirm(challenge, "2")
    assert list_amounts(answered.find("HIKAZ").read_binary(1))
    other = Talk(fints_bank.bank, login, function="901", system=system)
    other.begin(make_tan())
    assert "9075" in other.send(order).codes, "without HKTAN it is refused"


def test_depots_show_their_positions(fints_bank: FintsBankUnderTest):
    login = "demo1+depot"
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    heard = talk.begin(make_tan())
    depot = next(segment for segment in heard.find_all("HIUPD") if segment.read(4) == "30").read_group(1)
    person = person_for(login, fints_bank.today)
    assert person is not None
    isins = {position.isin for account in person.accounts for position in account.positions}
    for version in (5, 6):
        text = talk.send(make_segment("HKWPD", version, depot)).find("HIWPD").read(1)
        assert set(re.findall(r"ISIN ([A-Z0-9]{12})", text)) == isins
    assert "9210" in talk.send(make_segment("HKWPD", 6, find_account(heard)[2:])).codes


def test_currencies_have_statements_of_their_own(fints_bank: FintsBankUnderTest):
    login = "demo1+currencies"
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    heard = talk.begin(make_tan())
    place = next(i for i, segment in enumerate(heard.find_all("HIUPD")) if "hrungskonto" in segment.read(8))
    text = b"".join(page.read_binary(1) for page in fetch_pages(talk, find_account(heard, place)))
    assert len(set(re.findall(rb":60F:[CD]\d{6}([A-Z]{3})", text))) > 1


@pytest.mark.parametrize(
    ("login", "place", "code"),
    [("test_transactions_error", 0, "0020"), ("test_transactions_error", 1, "9210"), ("leer", 0, "3010")],
)
def test_what_cannot_be_shown_is_said(fints_bank: FintsBankUnderTest, login: str, place: int, code: str):
    talk = Talk(fints_bank.bank, login, function="901", system="abc")
    account = find_account(talk.begin(make_tan()), place)
    since = fints_bank.today - timedelta(days=20)
    heard = talk.send(make_segment("HKKAZ", 7, account, "N", since), make_tan(order="HKKAZ"))
    assert code in heard.codes


@pytest.mark.parametrize(
    "values",
    [
        ("N", "20261301"),
        ("N", "20261101", "20261001"),
        ("N", None, None, None, "no such touchdown"),
    ],
)
def test_nonsense_in_an_order_is_refused(fints_bank: FintsBankUnderTest, values: tuple):
    talk = Talk(fints_bank.bank, "student+nonsense", function="901", system="abc")
    account = find_account(talk.begin(make_tan()))
    heard = talk.send(make_segment("HKKAZ", 7, account, *values), make_tan(order="HKKAZ"))
    assert heard.codes[0] == "9050"
    assert not heard.find_all("HIKAZ")


def test_a_missing_product_and_a_message_of_the_bank_are_told(fints_bank: FintsBankUnderTest):
    missing = Talk(fints_bank.bank, "test_product_error", function="901", system="abc").begin(make_tan())
    assert len(missing.find_all("HIUPD")) == 1
    told = Talk(fints_bank.bank, "test_bank_message", function="901", system="abc").begin(make_tan())
    assert "Postfach" in told.find("HIKIM").read(2)


def test_a_touchdown_belongs_to_its_account(fints_bank: FintsBankUnderTest):
    talk = open_talk(fints_bank.bank, "student+touch")
    accounts = talk.send(make_segment("HKSPA", 1)).find("HISPA")
    first, second = (accounts.read_group(place)[1:] for place in (1, 2))
    heard = talk.send(make_segment("HKKAZ", 7, first, "N"), make_tan(order="HKKAZ"))
    token = heard.parameter("3040")
    wrong = talk.send(make_segment("HKKAZ", 7, second, "N", None, None, None, token), make_tan(order="HKKAZ"))
    assert "9210" in wrong.codes

"""PDF statements in the shapes of ING, DKB and Trade Republic: every booking, or nothing."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_statements import (
    DKB_IBAN,
    ING_IBAN,
    TRADE_REPUBLIC_IBAN,
    make_dkb,
    make_dkb_card,
    make_ing,
    make_old_dkb,
    make_trade_republic,
)
from pdf_writing import Text, measure, write_pdf

from kontor.connectors.statements import (
    FileKind,
    StatementError,
    StatementKind,
    detect_kind,
    pdf_letters,
    read_pdf,
    read_statements,
)
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import find_day

ING_ROWS = [
    (
        "01.10.2026",
        "Gehalt/Rente Beispiel Werke GmbH",
        "1.200,04",
        "30.09.2026",
        ["LOHN 09/2026", "Referenz: L-2026-09"],
    ),
    (
        "05.10.2026",
        "Lastschrift Stadtwerke Musterstadt",
        "-61,99",
        "05.10.2026",
        ["Abschlag Strom", "Mandat: M77", "Referenz: S1"],
    ),
    ("30.10.2026", "Ueberweisung Anna Beispiel", "-1.000,00", "30.10.2026", ["Miete 11/2026"]),
]
DKB_ROWS = [
    ("15.10.2026", "Echtzeit-Dauerauftr. / Wert: 16.10.2026", "-54,20", ["PETRA BEISPIEL Sparen"]),
    ("28.10.2026", "Zahlungseingang", "2.000,00", ["BEISPIEL WERKE GMBH Lohn Oktober", "Personalnummer 4711"]),
]
DKB_CARD_ROWS = [
    ("20.08.21", "21.08.21", "Ausgleich Kreditkarte gem. Abrechnung", "40,72+"),
    ("28.08.21", "30.08.21", "LADEN ORT", "62,32 -"),
    ("17.09.21", "20.09.21", "CODEHOST, HTTPSCODE USD 5,00 1,1722", "4,27 -"),
]
OLD_DKB_ROWS = [
    ("30.12.", "30.12.", "Überweisung", "50,00", False, ["ANNA BEISPIEL", "DANKE"]),
    ("02.01.", "02.01.", "Basislastschrift", "153,41", True, ["STADTWERKE MUSTERSTADT", "EREF+123 ABSCHLAG", "JANUAR"]),
]
TRADE_REPUBLIC_ROWS = [
    ("02 Okt.", "2026", "Zinszahlung", ["Your interest payment"], "12,30", True, "1.012,30"),
    ("05 Okt.", "2026", "Kartentransaktion", ["Beispielmarkt Musterstadt"], "60,00", False, "952,30"),
    (
        "12 Okt.",
        "2026",
        "Handel",
        ["Savings plan execution", "IE0000000001 Example", "World ETF, quantity: 0.5", "Ref 77"],
        "15,49",
        False,
        "936,81",
    ),
    (
        "15 Okt.",
        "2026",
        "Überweisung",
        ["Incoming transfer from Anna Beispiel", "(DE89370400440532013000)"],
        "500,00",
        True,
        "1.436,81",
    ),
]


def read(pages, **how):
    (statement,) = read_pdf(write_pdf(*pages, **how))
    return statement


def list_amounts(statement):
    return [entry.amount for entry in statement.entries]


def test_a_pdf_is_known_by_its_content_alone():
    assert detect_kind(write_pdf(*make_ing(ING_ROWS))) is FileKind.PDF
    (statement,) = read_statements(write_pdf(*make_ing(ING_ROWS))).statements
    assert statement.kind is StatementKind.PDF


@pytest.mark.parametrize("letter_by_letter", [False, True])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_ing_with_value_dates_names_and_references(letter_by_letter, is_compressed):
    statement = read(make_ing(ING_ROWS), letter_by_letter=letter_by_letter, is_compressed=is_compressed)
    assert (statement.account.iban, statement.form) == (ING_IBAN, "ing")
    assert (statement.opening.amount, statement.closing.amount) == (Decimal("1000.00"), Decimal("1138.05"))
    assert statement.closing.day == date(2026, 10, 31)
    salary, power, rent = statement.entries
    assert (salary.amount, salary.counterparty_name) == (Decimal("1200.04"), "Beispiel Werke GmbH")
    assert (find_day(salary), salary.value_at.isoformat()) == (date(2026, 10, 1), "2026-09-29T22:00:00+00:00")
    assert salary.purpose == "EREF+L-2026-09 SVWZ+LOHN 09/2026"
    assert (power.booking_text, power.purpose) == ("Lastschrift", "EREF+S1 MREF+M77 SVWZ+Abschlag Strom")
    assert (rent.amount, rent.purpose) == (Decimal("-1000.00"), "Miete 11/2026")


def test_ing_over_several_pages():
    rows = [
        (f"{day:02d}.10.2026", "Lastschrift Laden", "-1,00", f"{day:02d}.10.2026", ["Kauf"]) for day in range(1, 21)
    ]
    statement = read(make_ing(rows, opening="20,00", closing="0,00"))
    assert list_amounts(statement) == [Decimal("-1.00")] * 20
    assert {entry.purpose for entry in statement.entries} == {"Kauf"}


@pytest.mark.parametrize("raised", [0, 3, 7])
def test_dkb_whose_amounts_may_stand_above_their_lines(raised):
    statement = read(make_dkb(DKB_ROWS, raised=raised))
    assert (statement.account.iban, statement.sequence, statement.form) == (DKB_IBAN, "10/2026", "dkb")
    assert list_amounts(statement) == [Decimal("-54.20"), Decimal("2000.00")]
    assert (statement.opening.day, statement.closing.day) == (date(2026, 10, 5), date(2026, 11, 1))
    assert statement.entries[1].purpose == "BEISPIEL WERKE GMBH Lohn Oktober Personalnummer 4711"
    assert statement.entries[0].booking_text == "Echtzeit-Dauerauftr."
    assert statement.entries[0].value_at.isoformat() == "2026-10-15T22:00:00+00:00"


def test_dkb_whose_day_and_text_touch():
    pages = make_dkb([("15.10.2026", "", "8,90", [])], closing="258,90")
    pages[0].append(Text("Wertpapierabrechnung", 640, 50 + measure("15.10.2026", 9)))
    (entry,) = read(pages).entries
    assert (entry.amount, entry.booking_text) == (Decimal("8.90"), "Wertpapierabrechnung")


def test_dkb_card_has_the_sign_behind_the_amount():
    statement = read(make_dkb_card(DKB_CARD_ROWS))
    assert statement.account.account_number == "4930********1234"
    assert statement.account.origin.category is ProductCategory.CREDIT_CARD
    assert list_amounts(statement) == [Decimal("40.72"), Decimal("-62.32"), Decimal("-4.27")]
    assert (statement.opening.amount, statement.closing.amount) == (Decimal("-40.72"), Decimal("-66.59"))
    assert find_day(statement.entries[1]) == date(2021, 8, 30)
    assert statement.entries[2].purpose == "CODEHOST, HTTPSCODE USD 5,00 1,1722"


@pytest.mark.parametrize("letter_by_letter", [False, True])
def test_old_dkb_tells_debits_by_their_column_and_years_by_the_statement(letter_by_letter):
    statement = read(make_old_dkb(OLD_DKB_ROWS), letter_by_letter=letter_by_letter)
    assert (statement.account.iban, statement.form) == (DKB_IBAN, "dkb-old")
    assert list_amounts(statement) == [Decimal("50.00"), Decimal("-153.41")]
    assert statement.closing.amount == Decimal("-12.40")
    assert [find_day(entry) for entry in statement.entries] == [date(2022, 12, 30), date(2023, 1, 2)]
    assert statement.entries[1].counterparty_name == "STADTWERKE MUSTERSTADT"
    assert statement.entries[1].purpose == "EREF+123 ABSCHLAG JANUAR"


@pytest.mark.parametrize("letter_by_letter", [False, True])
def test_trade_republic_with_centred_cells_and_days_of_two_lines(letter_by_letter):
    statement = read(make_trade_republic(TRADE_REPUBLIC_ROWS), letter_by_letter=letter_by_letter)
    assert (statement.account.iban, statement.form) == (TRADE_REPUBLIC_IBAN, "trade-republic")
    assert list_amounts(statement) == [Decimal("12.30"), Decimal("-60.00"), Decimal("-15.49"), Decimal("500.00")]
    assert [find_day(entry).day for entry in statement.entries] == [2, 5, 12, 15]
    interest, card, plan, transfer = statement.entries
    assert (interest.booking_text, interest.purpose) == ("Zinszahlung", "Your interest payment")
    assert card.purpose == "Beispielmarkt Musterstadt"
    assert plan.purpose == "Savings plan execution IE0000000001 Example World ETF, quantity: 0.5 Ref 77"
    assert (transfer.counterparty_name, transfer.counterparty_iban) == ("Anna Beispiel", "DE89370400440532013000")


def test_trade_republic_before_the_account_was_renamed():
    statement = read(make_trade_republic(TRADE_REPUBLIC_ROWS, product="Depotkonto", totals=("512,30", "75.49")))
    assert statement.closing.amount == Decimal("1436.81")


def test_a_statement_without_bookings_is_read():
    statement = read(make_ing([], opening="20,00", closing="20,00"))
    assert statement.entries == ()
    assert statement.closing.amount == Decimal("20.00")


# What does not add up is refused


@given(st.integers(0, 2), st.sampled_from(["drop", "change", "sign"]))
def test_a_booking_that_is_missing_or_different_refuses_the_statement(place, change):
    rows = list(ING_ROWS)
    day, title, amount, value, further = rows[place]
    if change == "drop":
        del rows[place]
    else:
        other = amount.removeprefix("-") if amount.startswith("-") else f"-{amount}"
        rows[place] = (
            day,
            title,
            other if change == "sign" else f"{amount[:-1]}{(int(amount[-1]) + 1) % 10}",
            value,
            further,
        )
    with pytest.raises(StatementError, match="add up to"):
        read(make_ing(rows))


def test_a_balance_that_does_not_follow_refuses_trade_republic():
    rows = [*TRADE_REPUBLIC_ROWS[:3], (*TRADE_REPUBLIC_ROWS[3][:6], "1.436,82")]
    with pytest.raises(StatementError, match="does not follow"):
        read(make_trade_republic(rows))


def test_a_page_that_is_missing_refuses_the_statement():
    rows = [
        (f"{day:02d}.10.2026", "Lastschrift Laden", "-1,00", f"{day:02d}.10.2026", ["Kauf"]) for day in range(1, 21)
    ]
    with pytest.raises(StatementError, match="add up to"):
        read(make_ing(rows, opening="20,00", closing="0,00")[1:])


# Files that are bad


def test_an_unknown_pdf_says_which_ones_are_known():
    with pytest.raises(StatementError, match=r"It knows: .*ING Kontoauszug"):
        read([[Text("Rechnung 4711", 700)]])


def test_of_a_book_only_the_first_pages_are_read(monkeypatch):
    read_pages = []
    original = pdf_letters.PDFPageInterpreter.process_page
    monkeypatch.setattr(
        pdf_letters.PDFPageInterpreter,
        "process_page",
        lambda interpreter, page: read_pages.append(page) or original(interpreter, page),
    )
    with pytest.raises(StatementError, match="no statement"):
        read([[Text(f"Kapitel {number}", 700)] for number in range(50)])
    assert len(read_pages) == 2


def test_a_scan_says_that_it_has_no_text():
    with pytest.raises(StatementError, match="no text"):
        read([[]])


@given(st.integers(10, 1500), st.binary(min_size=1, max_size=40))
def test_a_damaged_pdf_is_read_or_refused(place, noise):
    file = bytearray(write_pdf(*make_dkb(DKB_ROWS)))
    place %= len(file) - 50
    file[place : place + len(noise)] = noise
    try:
        (statement,) = read_pdf(bytes(file))
    except StatementError:
        return
    assert statement.opening.amount + sum(list_amounts(statement)) == statement.closing.amount


def test_a_pdf_that_ends_early_is_refused():
    file = write_pdf(*make_dkb(DKB_ROWS))
    for size in range(9, len(file) - 200, 97):
        with pytest.raises(StatementError):
            read_pdf(file[:size])

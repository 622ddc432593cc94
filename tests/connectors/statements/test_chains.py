"""Statements that continue each other have no booking in common; only those that overlap are merged."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from kontor.connectors.files.accounts import join_statements
from kontor.connectors.statements import read_mt940
from kontor.connectors.statements.chains import link_statements
from kontor.domain.balances import find_gap
from kontor.domain.merge_plans import plan_merge
from kontor.domain.merging import StoredTransaction

TICKET = ":61:2611021102D3,20NMSC\n:86:106?00KARTENZAHLUNG?20Fahrkarte?32Automat Nord\n"
COFFEE = ":61:2611021102D3,20NMSC\n:86:106?00KARTENZAHLUNG?20Kaffee?32Bude Sued\n"
WAGE = ":61:2611031103C100,00NTRF\n:86:153?00GEHALT?20Lohn?32Firma?31DE02120300000000202051\n"


def statement(sequence, opening, entries, closing, *, page="F", next_page="F", day="261102"):
    """One message, as banks cut a statement: `M` marks a balance between two pages."""
    return (
        f":20:STARTUMS\n:25:12030000/0000202051\n:28C:{sequence}\n:60{page}:C{day}EUR{opening}\n"
        f"{entries}:62{next_page}:C{day}EUR{closing}\n-\n"
    )


def read(*messages):
    return read_mt940("".join(messages).encode())


def join(statements):
    (account,) = join_statements(statements, ())
    return account


def test_pages_of_one_statement_are_put_together_though_both_end_and_begin_with_equal_rows():
    """The shape of 62M and 60M: equal tickets on both sides of the cut."""
    pages = read(
        statement("12/1", "100,00", TICKET * 2, "93,60", next_page="M"),
        statement("12/2", "93,60", TICKET * 2 + COFFEE, "84,00", page="M"),
    )
    account = join(pages)
    assert len(account.transactions) == 5
    assert sum(row.amount for row in account.transactions) == Decimal("-16.00")
    (span,) = account.spans
    assert (span.opening, span.closing) == (Decimal("100.00"), Decimal("84.00"))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_pages_are_put_together_in_any_order(order):
    pages = read(
        statement("7/1", "100,00", TICKET, "96,80", next_page="M"),
        statement("7/2", "96,80", TICKET, "93,60", page="M", next_page="M"),
        statement("7/3", "93,60", TICKET, "90,40", page="M"),
    )
    assert len(join([pages[number] for number in order]).transactions) == 3


def test_statements_whose_balances_join_do_not_overlap():
    """Without page numbers: the next statement begins with the balance, on the day, with which this one ended."""
    account = join(read(statement("1", "100,00", TICKET, "96,80"), statement("2", "96,80", TICKET, "93,60")))
    assert len(account.transactions) == 2


def test_the_same_statement_twice_is_one():
    document = statement("1", "100,00", TICKET * 2, "93,60")
    account = join(read(document, document))
    assert len(account.transactions) == 2


def test_a_statement_that_adds_up_to_nothing_does_not_continue_itself():
    back = TICKET.replace("D3,20", "C3,20")
    document = statement("1", "100,00", TICKET + back, "100,00")
    assert len(join(read(document, document)).transactions) == 2


def test_overlapping_statements_are_merged():
    later = read(statement("9", "96,80", COFFEE + WAGE, "193,60", day="261103"))
    whole = read(statement("8", "100,00", TICKET + COFFEE + WAGE, "193,60", day="261103"))
    account = join([*whole, *later])
    assert len(account.transactions) == 3


def test_contradicting_bookings_of_overlapping_statements_stay_apart():
    """Two credits on one day in two files of the same days, without balances."""

    def credit(name, iban):
        return (
            f":20:X\n:25:12030000/0000202051\n:28C:1\n:61:2611021102C29,00NTRF\n"
            f":86:166?00GUTSCHRIFT?20EREF+{name}?21SVWZ+Kurs Yoga im Mai?32{name}?31{iban}\n-\n"
        )

    account = join(read(credit("Anna", "DE02120300000000202051"), credit("Ben", "DE02500105170137075030")))
    assert {row.counterparty_name for row in account.transactions} == {"Anna", "Ben"}


def test_an_interim_report_of_the_rest_of_a_day_has_no_gap_once_the_whole_day_is_stored():
    """From the morning's balance to that of now, but only what is new since the report before."""
    (whole,) = read(statement("1", "100,00", TICKET + COFFEE, "93,60"))
    (chain,) = link_statements([replace(whole, is_interim=True, entries=whole.entries[1:])])
    (span,) = chain.spans
    assert find_gap(span, whole.entries) is None
    assert find_gap(span, whole.entries[1:]) is not None


def test_a_chain_spans_all_its_days():
    statements = read(statement("1", "100,00", TICKET, "96,80"), statement("2", "96,80", WAGE, "196,80", day="261103"))
    (chain,) = link_statements(statements)
    (span,) = chain.spans
    assert (span.first.day, span.last.day) == (date(2026, 11, 2), date(2026, 11, 2) + timedelta(1))


@pytest.mark.parametrize("days", [("261101", "261102"), ("261103", "261104"), ("261104", "261105")])
def test_rows_dated_outside_the_balances_prove_nothing(days):
    """Dated by value, a row may lie among those of another statement, which these balances do not count."""
    message = (
        f":20:X\n:25:12030000/0000202051\n:28C:2/1\n:60F:C{days[0]}EUR100,00\n"
        f"{TICKET}{WAGE}:62F:C{days[1]}EUR196,80\n-\n"
    )
    (chain,) = link_statements(read(message))
    assert chain.spans == ()


def test_a_row_with_an_earlier_value_is_no_gap_after_the_statement_before():
    """Statement 2 has a row whose only day lies within statement 1: its balances do not count the rows around it."""
    entry = ":61:{}C{}NTRFNONREF\n:86:166?00GUTSCHRIFT?20{}?32Firma {}\n"

    def write(number, opening, closing, days, *entries):
        rows = "".join(entry.format(day, amount, name, name) for day, amount, name in entries)
        return (
            f":20:X\n:25:12030000/0000202051\n:28C:{number}/1\n:60F:C{days[0]}EUR{opening}\n{rows}"
            f":62F:C{days[1]}EUR{closing}\n-\n"
        )

    first = [("261015", "10,00", "Alpha"), ("261016", "20,00", "Beta")]
    second = [("261014", "5,00", "Gamma"), ("261019", "7,00", "Delta")]
    before = join(read(write(1, "100,00", "130,00", ("261012", "261016"), *first)))
    after = join(read(write(2, "130,00", "142,00", ("261016", "261019"), *second)))
    plan = plan_merge([], None, before.transactions, before.spans)
    assert (len(before.spans), plan.gap) == (1, None)
    stored = [StoredTransaction(uuid4(), row) for row in plan.merge.new]
    later = plan_merge(stored, None, after.transactions, after.spans)
    assert (len(later.merge.new), later.gap) == (2, None)

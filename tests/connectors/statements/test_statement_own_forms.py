"""CSV forms that users describe: read by the reader of all CSV files, and found by their columns."""

from datetime import date
from decimal import Decimal

import pytest

from kontor.connectors.statements import StatementError, UnknownFormError, detect_kind, read_csv, read_statements
from kontor.connectors.statements.csv_descriptions import MAX_COLUMNS, describe_table
from kontor.connectors.statements.csv_profiles import choose_profiles, load_profiles, make_form_profile
from kontor.connectors.statements.csv_values import compile_day_format, parse_day
from kontor.domain.import_forms import FormColumn, ImportForm
from kontor.domain.transactions import find_day
from statement_files import write_bank_csv

TABLE = "Tag;Wer;Was;Umsatz;Stand\n11/02/2026;Bäcker;Brötchen;-3.50;96.50\n11/03/2026;Amt;Erstattung;20.00;116.50\n"


def make_form(name="Hausbank", *, day_format="mm/dd/yyyy", decimal_sign=".", marks=(), **columns):
    fields = columns or {
        "Tag": "booked", "Wer": "counterparty_name", "Was": "purpose", "Umsatz": "amount", "Stand": "balance",
    }  # fmt: skip
    named = tuple(FormColumn(column, field) for column, field in fields.items())
    return ImportForm(name, tuple(marks), named, day_format, decimal_sign)


def read_as(form, text):
    (statement,) = read_csv(text.encode(), profiles=choose_profiles([form], None))
    return statement


def test_a_described_form_is_read_with_its_day_format_decimal_sign_and_balances():
    statement = read_as(make_form(), TABLE)
    assert [(find_day(entry), entry.amount, entry.counterparty_name, entry.purpose) for entry in statement.entries] == [
        (date(2026, 11, 2), Decimal("-3.50"), "Bäcker", "Brötchen"),
        (date(2026, 11, 3), Decimal("20.00"), "Amt", "Erstattung"),
    ]
    assert statement.opening is not None
    assert statement.closing is not None
    assert (statement.opening.amount, statement.closing.amount, statement.issues) == (100, Decimal("116.50"), ())
    assert statement.form == "Hausbank"


def test_amounts_in_two_columns_get_their_sign():
    form = make_form(Tag="booked", Soll="debit", Haben="credit", day_format="dd.mm.yyyy", decimal_sign=",")
    statement = read_as(form, "Tag;Soll;Haben\n02.11.2026;1.003,50;\n03.11.2026;;20,00\n")
    assert [entry.amount for entry in statement.entries] == [Decimal("-1003.50"), Decimal("20.00")]


def test_columns_of_one_field_are_joined_in_the_order_of_the_form():
    form = make_form(Was="purpose", Wer="purpose", Tag="booked", Umsatz="amount")
    assert [entry.purpose for entry in read_as(form, TABLE).entries] == ["Brötchen Bäcker", "Erstattung Amt"]


def test_a_file_of_two_columns_can_be_described():
    form = make_form(Tag="booked", Umsatz="amount", day_format="yyyymmdd")
    assert [entry.amount for entry in read_as(form, "Tag;Umsatz\n20261102;-1.00\n").entries] == [Decimal("-1.00")]


def test_a_name_with_the_separator_in_it_is_found():
    form = make_form(**{"Betrag, EUR": "amount", "Tag": "booked"}, day_format="yyyy-mm-dd")
    statement = read_as(form, '"Tag","Betrag, EUR","Text"\n2026-11-02,-1.00,x\n')
    assert [entry.amount for entry in statement.entries] == [Decimal("-1.00")]


def test_a_bad_row_is_told_with_its_line_and_the_rest_is_read():
    statement = read_as(make_form(), TABLE + "31/12/2026;X;Y;1.00;117.50\n12/31/2026;X;Y;eins;118.50\n")
    assert len(statement.entries) == 2
    assert [(row.line, row.field) for row in statement.rejected] == [(4, "booked"), (5, "amount")]


def test_a_file_that_lacks_a_described_column_is_not_of_the_form():
    """What the column would have said is not left out silently."""
    lacking = "\n".join(";".join(line.split(";")[:3:2] + line.split(";")[3:]) for line in TABLE.split("\n"))
    with pytest.raises(UnknownFormError):
        read_statements(lacking.encode(), profiles=choose_profiles([make_form()], None))


def test_marks_tell_forms_of_the_same_columns_apart():
    plain, marked = make_form("a", Tag="booked", Umsatz="amount"), make_form("b", marks=["Stand"])
    (statement,) = read_csv(TABLE.encode(), profiles=choose_profiles([plain, marked], None))
    assert statement.form == "b"
    without = "\n".join(line.rpartition(";")[0] for line in TABLE.split("\n"))
    (statement,) = read_csv(without.encode(), profiles=choose_profiles([plain, marked], None))
    assert statement.form == "a"


def test_a_banks_form_is_not_taken_over_by_a_described_one_that_knows_less():
    greedy = make_form("gierig", **{"Buchungsdatum": "booked", "Betrag (€)": "amount"})
    (statement,) = read_csv(write_bank_csv("dkb", "Laden", "-12,00"), profiles=choose_profiles([greedy], None))
    assert statement.form == "dkb"


def test_a_wanted_form_is_the_only_one_that_is_tried():
    greedy = make_form("gierig", **{"Buchungsdatum": "booked", "Betrag (€)": "amount"}, day_format="dd.mm.yyyy")
    data = write_bank_csv("dkb", "Laden", "-12,00")
    (statement,) = read_csv(data, profiles=choose_profiles([greedy], "gierig"))
    assert statement.form == "gierig"
    assert choose_profiles([greedy], "dkb")[0] in load_profiles()
    assert choose_profiles([greedy], "keine") == ()
    assert detect_kind(data, choose_profiles([greedy], "n26")) is None


def test_accounts_of_two_forms_without_a_number_are_two():
    first, second = (make_form_profile(make_form(name)).bank for name in ("dkb", "andere"))
    assert (
        len({first, second, *(profile.bank for profile in load_profiles())})
        == len({profile.bank for profile in load_profiles()}) + 2
    )


@pytest.mark.parametrize(
    ("written", "text", "day"),
    [
        ("dd.mm.yyyy", "02.11.2026", date(2026, 11, 2)),
        ("dd.mm.yyyy", "2.11.2026 10:15", date(2026, 11, 2)),
        ("mm/dd/yy", "11/02/26", date(2026, 11, 2)),
        ("yyyymmdd", "20261102", date(2026, 11, 2)),
        ("ddmmyy", "021126", date(2026, 11, 2)),
        ("yyyy-mm-dd", "2026-11-02T00:00:00Z", date(2026, 11, 2)),
        ("dd.mm.yyyy", "offen", None),
    ],
)
def test_days_are_read_as_they_are_said_to_be_written(written, text, day):
    assert parse_day(text, compile_day_format(written)) == day


@pytest.mark.parametrize(("written", "text"), [("mm/dd/yyyy", "13/01/2026"), ("dd.mm.yyyy", "2026-11-02")])
def test_a_day_written_in_another_way_is_none(written, text):
    with pytest.raises(ValueError, match="day"):
        parse_day(text, compile_day_format(written))


@pytest.mark.parametrize("text", ["", "dd.mm", "dd.dd.yyyy", "dd.mm.yyyyy", "(.*)", "dd.mm-yyyy", "%d.%m.%Y"])
def test_what_is_no_day_format_is_refused(text):
    with pytest.raises(ValueError, match="expected dd, mm"):
        compile_day_format(text)


# Tables that nobody has described


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("cp1252", "windows-1252"), ("utf-16", "UTF-16LE"),
     ("cp850", "IBM850")],
)  # fmt: skip
def test_an_unknown_table_is_described_in_every_encoding(encoding, shown):
    table = describe_table(("Mein Konto;2026\n\n" + TABLE).encode(encoding))
    assert table is not None
    assert (table.delimiter, table.encoding) == (";", shown)
    assert table.columns == (
        ("Tag", "11/02/2026"), ("Wer", "Bäcker"), ("Was", "Brötchen"), ("Umsatz", "-3.50"), ("Stand", "96.50"),
    )  # fmt: skip


def test_the_example_is_the_first_text_of_a_column():
    table = describe_table(b"Tag\tNotiz\tUmsatz\t\n02.11.2026\t\t1,00\t\n03.11.2026\tspaet\t2,00\t\n")
    assert table is not None
    assert table.columns == (("Tag", "02.11.2026"), ("Notiz", "spaet"), ("Umsatz", "1,00"))


def test_a_name_that_comes_twice_means_the_last_column_as_in_the_reader():
    table = describe_table(b"Tag;Betrag;Betrag\n02.11.2026;1,00;2,00\n")
    assert table is not None
    assert table.columns == (("Tag", "02.11.2026"), ("Betrag", "2,00"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR;1;2\n3;4;5\n",
        b"%PDF-1.7\na;b\n1;2\n",
        b"<html>a;b\n1;2</html>",
        b'{"a": 1, "b": 2}\n1,2\n',
        b"Just a text.\nWithout any table.",
        b"Tag;Betrag\n",
        b"02.11.2026;1,00;x\n03.11.2026;2,00;y\n",
    ],
    ids=["nothing", "picture", "pdf", "html", "json", "text", "header alone", "no header"],
)
def test_what_is_no_table_with_a_header_is_not_described(data):
    assert describe_table(data) is None
    with pytest.raises(StatementError):
        read_statements(data)


def test_a_table_that_is_too_wide_for_a_bank_is_described_in_part():
    wide = ";".join(f"c{number}" for number in range(1000)) + "\n" + ";".join(["1"] * 1000) + "\n"
    table = describe_table(wide.replace("c", "Spalte ").encode())
    assert table is not None
    assert len(table.columns) == MAX_COLUMNS

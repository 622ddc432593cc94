"""What the demo bank writes is what the parsers read, whatever the bookings are."""

import csv
import tomllib
from dataclasses import replace
from datetime import date
from decimal import Decimal
from importlib.resources import files
from io import StringIO

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statement_strategies import (
    LATIN,
    TODAY,
    WIDE,
    expect,
    is_told_from_utf8,
    positions,
    products,
    texts,
    transactions,
)

from kontor.connectors.demo.people import person_for
from kontor.connectors.statements import read_camt, read_csv, read_mt535, read_mt940
from kontor.connectors.statements.csv_profiles import Profile, load_profiles
from kontor.demobank.statements import write_camt052, write_camt053, write_mt535, write_mt940, write_mt942
from kontor.demobank.statements.swift_texts import make_swift_text
from kontor.domain.clocks import BERLIN
from kontor.domain.positions import Position
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day
from many_examples import many_examples

OPENING = st.integers(-(10**10), 10**10).map(lambda cents: Decimal(cents) / 100)


@many_examples(60)
@given(products(), st.lists(transactions(LATIN), max_size=6), OPENING)
def test_an_mt940_that_was_written_is_read_the_same(product, rows, opening):
    written = write_mt940(product, rows, opening, day=TODAY)
    assume(is_told_from_utf8(written))
    statements = read_mt940(written)
    read = [entry for statement in statements for entry in statement.entries]
    assert read == [expect(row) for row in sorted(rows, key=find_day)]
    assert statements[0].opening.amount == opening
    assert statements[-1].closing.amount == opening + sum(row.amount for row in rows)
    assert [statement.issues for statement in statements if statement.issues] == []
    account = statements[0].account
    assert (account.bank_code, account.account_number) == (product.bank_code, product.account_number)


@many_examples(60)
@given(products(), st.lists(transactions(LATIN, is_pending=True), min_size=1, max_size=4))
def test_pending_bookings_come_back_from_an_mt942(product, rows):
    written = write_mt942(product, rows, day=TODAY)
    assume(is_told_from_utf8(written))
    (statement,) = read_mt940(written)
    assert list(statement.entries) == [expect(row) for row in rows]
    assert statement.is_interim


@pytest.mark.parametrize("version", ["02", "08"])
@many_examples(60)
@given(st.data())
def test_a_camt_that_was_written_is_read_the_same(version, data):
    product = data.draw(products())
    booked = data.draw(st.lists(transactions(WIDE, name_width=140), max_size=5))
    pending = data.draw(st.lists(transactions(WIDE, is_pending=True), max_size=2))
    rows = [replace(row, bank_id=f"2026{number:016d}") for number, row in enumerate([*booked, *pending])]
    rows = [replace(row, ultimate_counterparty=data.draw(st.none() | texts(WIDE, 70))) for row in rows]
    opening = data.draw(OPENING)
    expected = [expect(row) for row in rows]
    (report,) = read_camt(write_camt052(product, rows, opening, day=TODAY, version=version))
    assert list(report.entries) == expected
    assert report.closing.amount == opening + sum(row.amount for row in booked)
    (statement,) = read_camt(write_camt053(product, rows, opening, day=TODAY, version=version))
    assert list(statement.entries) == expected[: len(booked)]
    assert (statement.account.iban, statement.account.holder) == (product.iban, product.holder)
    assert report.issues == statement.issues == ()


@many_examples(60)
@given(products(), st.lists(positions(), max_size=5))
def test_an_mt535_that_was_written_is_read_the_same(product, held):
    written = write_mt535(product, held, day=TODAY)
    assume(is_told_from_utf8(written))
    (holdings,) = read_mt535(written)
    assert list(holdings.positions) == held
    assert (holdings.day, holdings.issues) == (TODAY, ())


@pytest.mark.parametrize(
    ("name", "read"),
    [("Ä§", "ħ"), ("Ä§ ä", "Ä§ ä"), ("Ä", "Ä"), ("Łódź", ".ód.")],
    ids=["bytes of another letter", "no UTF-8 as a whole", "no UTF-8", "no Latin-1"],
)
def test_a_depot_is_read_as_utf8_if_its_bytes_can_be_that(name, read):
    product = Product("1", ProductCategory.DEPOT, "Depot", "Anna Blume", currency="EUR")
    (holdings,) = read_mt535(write_mt535(product, [Position(name, isin="DE0007164600")], day=TODAY))
    assert [position.name for position in holdings.positions] == [read]


@pytest.mark.parametrize(
    "name",
    [
        "000000000000 000000000000 :00:000000",
        "000000000000 000000000000 -",
        "000000000 000000000000 000000000000 00000000000 00000000000",
        "0" * 70,
    ],
    ids=["like a field", "like an end", "no room behind the blank", "one word"],
)
def test_a_long_name_of_a_security_comes_back_whole(name):
    product = Product("1", ProductCategory.DEPOT, "Depot", "Anna Blume", currency="EUR")
    (holdings,) = read_mt535(write_mt535(product, [Position(name, isin="DE0007164600")], day=TODAY))
    assert [position.name for position in holdings.positions] == [name]


# The demo people


def _strip(transaction: Transaction) -> Transaction:
    """Blanks at the end of a text are not told from padding."""
    name, purpose = (transaction.counterparty_name or "").strip() or None, (transaction.purpose or "").strip() or None
    return replace(transaction, counterparty_name=name, purpose=purpose)


def _as_mt940_carries_it(transaction: Transaction) -> Transaction:
    """Without what has no room in the format, or no letters."""
    return _strip(
        replace(
            transaction,
            purpose=make_swift_text(transaction.purpose or ""),
            booking_text=make_swift_text(transaction.booking_text or "")[:27].strip() or None,
            counterparty_name=make_swift_text(transaction.counterparty_name or "")[:54],
            bank_id=None,
            value_at=transaction.value_at or transaction.booked_at,
        )
    )


@pytest.mark.parametrize("login", ["vermoegend", "schulden"])
def test_the_demo_peoples_bookings_come_back_from_every_format(login):
    person = person_for(login, TODAY)
    for account in person.accounts:
        product, rows = account.product, [entry.transaction for entry in account.entries]
        if account.positions:
            (holdings,) = read_mt535(write_mt535(product, account.positions, day=TODAY))
            assert holdings.positions == account.positions
        if not rows:
            continue
        booked = [row for row in rows if not row.is_pending]
        statements = read_mt940(write_mt940(product, rows, Decimal("0.00"), day=TODAY))
        read = [entry for statement in statements for entry in statement.entries]
        assert read == [_as_mt940_carries_it(row) for row in booked]
        for version in ("02", "08"):
            (report,) = read_camt(write_camt052(product, rows, Decimal("0.00"), day=TODAY, version=version))
            assert list(report.entries) == [_strip(row) for row in rows]
            assert report.issues == ()


# CSV: a writer for any profile, from the same table of columns


def _load(key: str) -> dict:
    path = files("kontor.connectors.statements") / "data" / "csv" / f"{key}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _write_german(amount: Decimal, decimal: str) -> str:
    text = f"{amount:,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if decimal == "," else text.replace(",", "")


def _write_csv(raw: dict, rows: list[Transaction], account: str, encoding: str) -> bytes:
    columns = {field: names if isinstance(names, str) else names[0] for field, names in raw["columns"].items()}
    signs, pending, decimal = raw.get("signs", {}), raw.get("pending", {}), raw.get("decimal", ",")
    pending_column = pending.get("column")
    pending_column = pending_column[0] if isinstance(pending_column, list) else pending_column
    marks = [column for column in (signs.get("column"), pending_column) if column is not None]
    header = list(dict.fromkeys([*columns.values(), *raw["required"], *marks]))
    out = StringIO()
    writer = csv.writer(out, delimiter=";" if decimal == "," else ",", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(["Kontoumsätze", "eine Zeile davor"])
    writer.writerow(header)
    for transaction in rows:
        day, value = (at.astimezone(BERLIN).date() for at in (transaction.booked_at, transaction.value_at))
        form = "%d.%m.%Y" if decimal == "," else "%Y-%m-%d"
        values = {
            "account": account,
            "booked": day.strftime(form),
            "value": value.strftime(form),
            "currency": transaction.currency,
            "purpose": transaction.purpose,
            "booking_text": transaction.booking_text,
            "counterparty_name": transaction.counterparty_name,
            "creditor_name" if transaction.amount < 0 else "debtor_name": transaction.counterparty_name,
            "counterparty_iban": transaction.counterparty_iban,
            "counterparty_bic": transaction.counterparty_bic,
        }
        has_sides = "debit" in columns and "amount" not in columns
        if has_sides:
            values["debit" if transaction.amount < 0 else "credit"] = _write_german(transaction.amount, decimal)
        else:
            signed = -transaction.amount if raw.get("inverted") else transaction.amount
            values["amount"] = _write_german(abs(signed) if signs else signed, decimal)
        row = {columns[field]: text for field, text in values.items() if field in columns}
        if signs:
            row[signs["column"]] = "S" if transaction.amount < 0 else "H"
        if pending and transaction.is_pending and pending_column not in row:
            row[pending_column] = pending["words"][0]
        writer.writerow([row.get(name) or "" for name in header])
    return out.getvalue().encode(encoding)


def _has_columns_of_their_own(profile: Profile) -> bool:
    """Cards have one column for shop and purpose; what such a file says has tests of its own."""
    texts = [profile.columns[field][0] for field in ("purpose", "counterparty_name") if field in profile.columns]
    return profile.row is None and len(set(texts)) == len(texts)


@pytest.mark.parametrize("key", [profile.key for profile in load_profiles() if _has_columns_of_their_own(profile)])
@many_examples(15)
@given(st.data())
def test_a_csv_of_any_bank_is_read_the_same(key, data):
    raw = _load(key)
    rows = data.draw(st.lists(transactions(LATIN.replace(":", "").replace('"', "")), min_size=1, max_size=4))
    rows = [replace(row, amount=row.amount or Decimal("0.01")) for row in rows]
    encoding = data.draw(st.sampled_from(("utf-8", "utf-8-sig", "cp1252", "utf-16")))
    (statement,) = read_csv(_write_csv(raw, rows, "DE02120300000000202051", encoding))
    kept = raw["columns"]
    has_value = "value" in kept
    has_name = kept.keys() & {"counterparty_name", "creditor_name"}
    for read, written in zip(statement.entries, rows, strict=True):
        assert (read.amount, read.currency, read.booked_at) == (written.amount, "EUR", written.booked_at)
        assert read.value_at == (written.value_at if has_value else None)
        assert read.purpose == written.purpose
        assert read.booking_text == (written.booking_text if "booking_text" in kept else None)
        assert read.counterparty_name == (written.counterparty_name if has_name else None)
        assert read.counterparty_iban == (written.counterparty_iban if "counterparty_iban" in kept else None)
        assert read.counterparty_bic == (written.counterparty_bic if "counterparty_bic" in kept else None)
    if "account" in kept:
        assert statement.account.iban == "DE02120300000000202051"


def test_a_booking_of_2_january_may_have_last_years_value():
    at = date(2027, 1, 2)
    written = (
        b":20:X\r\n:25:1/2\r\n:60F:C261231EUR0,\r\n:61:2612310102C1,NTRFNONREF\r\n:86:166?00X\r\n:62F:C270102EUR1,\r\n-"
    )
    (statement,) = read_mt940(written)
    assert find_day(statement.entries[0]) == at

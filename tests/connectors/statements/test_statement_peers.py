"""Others read the same out of the same files: AqBanking MT940 and camt.052, pycamt camt.053."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from statement_strategies import LATIN, TODAY, products, transactions

from kontor.connectors.demo.people import person_for
from kontor.connectors.statements import read_camt, read_mt535, read_mt940
from kontor.demobank.statements import write_camt052, write_camt053, write_mt535, write_mt940
from kontor.domain.clocks import BERLIN
from kontor.domain.transactions import Transaction

pytestmark = pytest.mark.peers
# AqBanking takes these for marks of its own, or trims around them; that is its affair, not the format's.
CALM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöüß .,-/&()"
_FIELD = re.compile(r'^\s*(?:char|int)\s+(\w+)="(.*)"$')
_BLANKS = re.compile(r"\s+")


@pytest.fixture(scope="module")
def aqbanking(tmp_path_factory):
    """Imports a file with AqBanking's own profile; returns its transactions as dictionaries of text."""
    command = shutil.which("aqbanking-cli")
    assert command, "the package aqbanking-tools is missing: ./dev test peers installs it"
    home = tmp_path_factory.mktemp("aqbanking")

    def run(importer: str, profile: str, content: bytes, block: str = "transaction") -> list[dict[str, str]]:
        source, context = home / "statement", home / "context"
        context.unlink(missing_ok=True)
        source.write_bytes(content)
        done = subprocess.run(
            [command, "-D", str(home / "settings"), "-n", "--charset=UTF-8", "import", f"--importer={importer}",
             f"--profile={profile}", "-f", str(source), "-c", str(context)],
            env=os.environ | {"HOME": str(home)}, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert context.exists(), done.stderr.decode(errors="replace")
        return _parse_context(context, block)

    return run


def _parse_context(path: Path, block: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    is_inside = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.strip() == f"{block} {{":
            found.append({})
            is_inside = True
        elif line.strip() == f"}} #{block}":
            is_inside = False
        elif is_inside and (field := _FIELD.match(line)):
            found[-1][field[1]] = unquote(field[2])
    return found


def _squeeze(text: str | None) -> str:
    """Without blanks: AqBanking keeps the lines of a purpose apart, and where they were joined is not told."""
    return _BLANKS.sub("", text or "")


def _find_day(at: datetime | None) -> date | None:
    return None if at is None else at.astimezone(BERLIN).date()


def _summarise(transaction: Transaction) -> tuple:
    return (
        transaction.amount,
        transaction.currency,
        _find_day(transaction.booked_at),
        _find_day(transaction.value_at),
        _squeeze(transaction.counterparty_name),
        transaction.counterparty_iban or "",
        _squeeze(transaction.booking_text),
    )


def _summarise_theirs(record: dict[str, str]) -> tuple:
    number, _, currency = record["value"].partition(":")
    amount = Fraction(number)
    return (
        Decimal(amount.numerator) / Decimal(amount.denominator),
        currency or "EUR",
        datetime.strptime(record["date"], "%Y%m%d").date(),  # noqa: DTZ007 (a day has no zone)
        datetime.strptime(record["valutaDate"], "%Y%m%d").date(),  # noqa: DTZ007
        _squeeze(record.get("remoteName")),
        record.get("remoteIban", ""),
        _squeeze(record.get("transactionText")),
    )


REAL_IBAN = "DE02120300000000202051"


def _make_calm(transaction: Transaction) -> Transaction:
    return replace(
        transaction,
        amount=transaction.amount or Decimal("0.01"),
        booking_text=transaction.booking_text or "Buchung",
        purpose=transaction.purpose or "Zweck",
        # AqBanking looks at an IBAN's country and leaves out what it takes for none.
        counterparty_iban=REAL_IBAN if transaction.counterparty_iban else None,
        counterparty_bic=transaction.counterparty_bic if transaction.counterparty_iban else None,
    )


ROWS = st.lists(transactions(CALM).map(_make_calm), min_size=1, max_size=8)


@settings(max_examples=12, phases=[Phase.generate])
@given(product=products(), rows=ROWS)
def test_aqbanking_reads_the_same_mt940(aqbanking, product, rows):
    written = write_mt940(product, rows, Decimal("1.00"), day=TODAY)
    ours = [entry for statement in read_mt940(written) for entry in statement.entries]
    theirs = aqbanking("swift", "fints940", written)
    assert [_summarise_theirs(record) for record in theirs] == [_summarise(entry) for entry in ours]
    assert [int(record["transactionCode"]) for record in theirs] == [int(entry.gv_code or 0) for entry in ours]
    untagged = [(a, b) for a, b in zip(theirs, ours, strict=True) if "+" not in (b.purpose or "")]
    assert [_squeeze(a.get("purpose")) for a, _ in untagged] == [_squeeze(b.purpose) for _, b in untagged]


@settings(max_examples=12, phases=[Phase.generate])
@given(product=products(), rows=ROWS)
def test_aqbanking_reads_the_same_camt_052(aqbanking, product, rows):
    written = write_camt052(product, rows, Decimal("1.00"), day=TODAY)
    (report,) = read_camt(written)
    theirs = aqbanking("camt", "052_001_02", written)
    assert [_summarise_theirs(record) for record in theirs] == [_summarise(entry) for entry in report.entries]
    purposes = [(entry.purpose or "").rpartition("SVWZ+")[2] for entry in report.entries]
    assert [_squeeze(record.get("purpose")) for record in theirs] == [_squeeze(purpose) for purpose in purposes]


def test_aqbanking_reads_the_demo_peoples_statements(aqbanking):
    person = person_for("vermoegend", TODAY)
    account = person.accounts[0]
    rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending][-300:]
    mt940 = write_mt940(account.product, rows, Decimal("1.00"), day=TODAY)
    ours = [entry for statement in read_mt940(mt940) for entry in statement.entries]
    assert [_summarise_theirs(record) for record in aqbanking("swift", "fints940", mt940)] == [
        _summarise(entry) for entry in ours
    ]
    camt = write_camt052(account.product, rows, Decimal("1.00"), day=TODAY)
    (report,) = read_camt(camt)
    assert [_summarise_theirs(record) for record in aqbanking("camt", "052_001_02", camt)] == [
        _summarise(entry) for entry in report.entries
    ]


def test_aqbanking_reads_the_same_holdings(aqbanking):
    depot = next(account for account in person_for("vermoegend", TODAY).accounts if account.positions)
    written = write_mt535(depot.product, depot.positions, day=TODAY)
    (ours,) = read_mt535(written)
    theirs = aqbanking("swift", "SWIFT-MT535", written, "security")
    assert [security["uniqueId"] for security in theirs] == [position.isin for position in ours.positions]
    # Of bonds, which have a nominal value and no pieces, AqBanking reads no quantity.
    counted = {security["uniqueId"]: Fraction(security["units"]) for security in theirs if "units" in security}
    assert len(counted) > len(theirs) / 2
    assert counted == {
        position.isin: Fraction(position.quantity) for position in ours.positions if position.isin in counted
    }


@pytest.mark.parametrize("version", ["02", "08"])
@settings(max_examples=30, phases=[Phase.generate])
@given(product=products(), rows=st.lists(transactions(LATIN).map(_make_calm), min_size=1, max_size=8))
def test_pycamt_reads_the_same_camt_053(version, product, rows):
    from pycamt.parser import Camt053Parser

    rows = [replace(row, bank_id=f"2026{number:016d}") for number, row in enumerate(rows)]
    written = write_camt053(product, rows, Decimal("1.00"), day=TODAY, version=version)
    (statement,) = read_camt(written)
    theirs = Camt053Parser(written).get_transactions()
    signs = {"CRDT": 1, "DBIT": -1}
    assert [
        (
            signs[record["CreditDebitIndicator"]] * Decimal(record["Amount"]),
            record["Currency"],
            record["BookingDate"],
            record["ValueDate"],
            record["TransactionID"],
            record["AccountIBAN"],
            record.get("AdditionalEntryInformation"),
            record.get("CreditorName" if record["CreditDebitIndicator"] == "DBIT" else "DebtorName"),
            record.get("CreditorIBAN" if record["CreditDebitIndicator"] == "DBIT" else "DebtorIBAN"),
        )
        for record in theirs
    ] == [
        (
            entry.amount,
            entry.currency,
            str(_find_day(entry.booked_at)),
            str(_find_day(entry.value_at)),
            entry.bank_id,
            statement.account.iban,
            entry.booking_text,
            entry.counterparty_name,
            entry.counterparty_iban,
        )
        for entry in statement.entries
    ]
    references = [re.search(r"EREF\+(\S+)", entry.purpose or "") for entry in statement.entries]
    assert [record.get("EndToEndId") for record in theirs] == [found and found[1] for found in references]

"""The analyses as a library: what a program gets that has rows and no server."""

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kontor.analysis
from kontor.analysis import RowError, analyse, find_contracts, tag
from kontor.analysis.contracts import find_contracts as find_contracts_of_records
from kontor.analysis.day_order import order_records
from kontor.analysis.records import Account, make_record
from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.domain.transactions import Transaction
from many_examples import many_examples

GUIDE = Path(__file__).parents[2] / "docs/guides/library.md"
TODAY = date(2026, 11, 1)
RENT = {"counterparty_name": "Wohnbau Musterstadt eG", "purpose": "Miete Wohnung 12", "amount": -840}


def rents(**changes: object) -> list[dict[str, object]]:
    return [{"date": date(2026, month, 2), **RENT, **changes} for month in range(1, 11)]


def test_tags_are_those_that_the_service_gives():
    transaction = Transaction(
        Decimal("-840.00"),
        "EUR",
        datetime(2026, 1, 1, 23, tzinfo=UTC),  # the second of January in Berlin
        purpose="Miete Wohnung 12",
        counterparty_name="Wohnbau Musterstadt eG",
    )
    tagging = load_tagger().tag([transaction], NOBODY)[0]
    row = tag(rents()[:1])[0]
    assert {name: row[name] for name in tagging._fields} == tagging._asdict()
    record = make_record("0", "", transaction, tagging)
    contracts = find_contracts_of_records(order_records([record]), [Account("", data_until=record.day)], TODAY)
    assert find_contracts(rents()[:1], today=TODAY) == contracts


def test_rows_keep_their_columns_and_the_callers_list_is_left_alone():
    given_rows = rents(note="mine")
    before = [dict(row) for row in given_rows]
    tagged = tag(given_rows)
    assert given_rows == before
    assert [row["note"] for row in tagged] == ["mine"] * 10
    assert tag([]) == []


def test_columns_may_have_names_of_the_callers_own():
    renamed = [{"Tag": row["date"], "Betrag": row["amount"], "Wer": row["counterparty_name"]} for row in rents()]
    columns = {"date": "Tag", "amount": "Betrag", "counterparty_name": "Wer"}
    contract = find_contracts(renamed, columns=columns, today=TODAY)[0]
    assert (contract.period, contract.amount_latest) == ("MONTH_ONE", Decimal("-840.00"))


def test_ids_of_the_caller_name_the_rows_of_a_finding():
    contract = find_contracts([{**row, "id": f"row-{number}"} for number, row in enumerate(rents())], today=TODAY)[0]
    assert contract.transaction_ids == tuple(f"row-{number}" for number in range(10))


def test_transfers_between_the_persons_accounts_are_neither_income_nor_spending():
    row = {
        "date": "2026-10-05", "amount": "-200", "account": "giro", "purpose": "Danke",
        "counterparty_iban": "DE89370400440532013000", "counterparty_name": "E. Muster",
    }  # fmt: skip
    accounts = [{"id": "giro", "category": "checking"}, {"id": "reserve", "iban": "DE89 3704 0044 0532 0130 00"}]
    assert tag([row], accounts=accounts)[0]["category"] == "TRANSFER_OWN"
    assert analyse([row], accounts=accounts, today=TODAY).cashflow == []
    assert tag([row])[0]["category"] != "TRANSFER_OWN"


def test_accounts_with_one_iban_are_one_account_and_its_bookings_count_once():
    twice = [
        {**row, "account": account, "id": f"{account} {number}"}
        for account in ("bank", "file")
        for number, row in enumerate(rents())
    ]
    accounts = [{"id": account, "iban": "DE89370400440532013000"} for account in ("bank", "file")]
    assert len(analyse(twice, accounts=accounts, today=TODAY).records) == 10
    assert len(analyse(twice, today=TODAY).records) == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"date": "gestern"}, "row 1: date: 'gestern' is no date"),
        ({"date": None}, "row 1: date: None is no date"),
        ({"date": 20260101}, "row 1: date: 20260101 is no date"),
        ({"amount": "12,99"}, "row 1: amount: '12,99' is no amount"),
        ({"amount": float("nan")}, "row 1: amount: nan is no amount"),
        ({"amount": None}, "row 1: amount: None is no amount"),
        ({"id": "same"}, "row 1: id: 'same' occurs twice"),
        ({"currency": "Euro"}, "row 1: date or currency: is out of range"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_its_field(change, message):
    first, second = ({"id": "same", **row} if "id" in change else row for row in rents()[:2])
    with pytest.raises(RowError) as refused:
        tag([first, {**second, **change}])
    assert str(refused.value) == message
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    ("account", "message"),
    [
        ({"id": "a", "limit": 5}, "account 0: limit: is no field of an account"),
        ({"id": "a", "balance": "viel"}, "account 0: balance: 'viel' is no amount"),
        ({"id": "a", "category": "girokonto"}, "account 0: category: 'girokonto' is none of CALL_MONEY, CHECKING"),
    ],
)
def test_an_account_that_cannot_be_read_is_named_with_its_field(account, message):
    with pytest.raises(RowError) as refused:
        analyse(rents(), accounts=[account], today=TODAY)
    assert str(refused.value).startswith(message)


@given(st.decimals("-99999", "99999", places=2), st.dates(date(1950, 1, 1), date(2100, 1, 1)))
@many_examples(25)
def test_amounts_and_days_mean_the_same_in_every_type(amount, day):
    spellings = [
        {"date": day, "amount": amount},
        {"date": day.isoformat(), "amount": str(amount)},
        {"date": datetime(day.year, day.month, day.day), "amount": float(amount)},  # noqa: DTZ001 (a caller's)
        {"date": f"{day}T12:00:00+00:00", "amount": amount},
    ]
    read = [analyse([spelling], today=TODAY).records for spelling in spellings]
    assert {(records[0].day, records[0].amount) for records in read} == {(day, amount)}


def test_the_guide_does_what_it_says(capsys):
    names: dict[str, object] = {}
    for block in GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]:
        exec(block.partition("```")[0], names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("RECREATION_ONLINE NETFLIX 0.9")
    assert printed[1] == "NETFLIX MONTH_ONE -12.99 2026-11-03"
    assert printed[2] == "NET LABOURMARKET_UNKNOWN"


def test_the_library_imports_nothing_that_only_the_server_needs():
    script = "import sys, kontor.analysis as a; a.tag, a.analyse; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint(("litestar", "psycopg", "cyclopts", "rich", "jinja2", "lxml", "httpx", "cryptography"))


def test_names_that_do_not_exist_are_refused_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'categorise'"):
        kontor.analysis.categorise  # noqa: B018

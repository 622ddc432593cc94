"""hledger and GnuCash accept our files, and calculate the banks' balances from them."""

import json
import os
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from known_accounts import day, open_account

from banking import new_customer

pytestmark = pytest.mark.peers
EXPORT = "/customer/v2/export"
PEOPLE = ("demo1", "freiberuf")
ODD = '(He) said "C:\\temp" ; * ! | , # ^ \u00e4\u20ac {x} <&> 2026-01-01 date:no'
# Runs with Debian's Python: what GnuCash's own engine has loaded.
READ_GNUCASH = """
import json, sys
from gnucash import Session, SessionOpenMode
session = Session("xml://" + sys.argv[1], SessionOpenMode.SESSION_READ_ONLY)
accounts = session.book.get_root_account().get_descendants_sorted()
splits = [split for account in accounts for split in account.GetSplitList()]
transactions = {split.parent.GetGUID().to_string(): split.parent for split in splits}
print(json.dumps({
    "balances": {account.GetGUID().to_string(): account.GetBalance().to_string() for account in accounts},
    "unbalanced": [id for id, each in transactions.items() if each.GetImbalanceValue().num()],
    "descriptions": [each.GetDescription() for each in transactions.values()],
    "memos": sorted({split.GetMemo() for split in splits}),
}))
session.end()
"""


@pytest.fixture(scope="module", params=PEOPLE)
def person(request, bank_server, shared):
    customer = new_customer(shared)
    return customer, customer.add_complete(f"{request.param}+books")


@pytest.fixture(scope="module")
def odd(bank_server, shared):
    account = open_account(shared)
    account.push(
        [
            {"betrag": -1.5, "buchungsdatum": day(0), "gegenkontoInhaber": ODD, "verwendungszweck": f"{ODD} \\"},
            {"betrag": -2.5, "buchungsdatum": day(0), "verwendungszweck": ODD},
            {"betrag": 0, "buchungsdatum": day(1)},
            {"betrag": -3, "buchungsdatum": day(1), "vorgemerkt": True},
            {"betrag": 7, "buchungsdatum": day(2), "waehrung": "USD"},
        ]
    )
    return account.customer, account.access_id


def run(*command, **environment):
    program = shutil.which(command[0])
    assert program, f"{command[0]} is missing: ./dev test peers installs it"
    done = subprocess.run(
        [program, *command[1:]],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"LC_ALL": "C.UTF-8"} | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(customer, path, **query):
    answer = customer.get(EXPORT, params=query)
    assert answer.status_code == 200, answer.text
    path.write_bytes(answer.content)
    return str(path)


def count_booked(customer, access_id):
    return sum(
        not row.get("vorgemerkt")
        for product in customer.products(access_id)
        if product["kategorie"] != "DEPOT"
        for row in customer.transactions(product)
    )


def test_hledger_checks_the_journal_and_the_balances_of_the_bank(person, tmp_path):
    customer, access_id = person
    file = write(customer, tmp_path / "book.journal", format="hledger")
    run("hledger", "-f", file, "check", "--strict")
    rows, _ = json.loads(run("hledger", "-f", file, "balance", "-O", "json", "--flat"))
    amounts = {(row[0], each["acommodity"]): each["aquantity"]["floatingPoint"] for row in rows for each in row[3]}
    accounts = dict(re.findall(r"^account (.*)\n  ; kontor-id: (.*)$", Path(file).read_text(), re.MULTILINE))
    found = {id: amounts.get((name, "EUR"), 0) for name, id in accounts.items()}
    assert found == {product["id"]: pytest.approx(product["saldo"]) for product in customer.products(access_id)}


def test_hledger_sees_every_booking_once(person, tmp_path):
    customer, access_id = person
    file = write(customer, tmp_path / "book.journal", format="hledger")
    entries = json.loads(run("hledger", "-f", file, "print", "-O", "json"))
    tags = [name for entry in entries for name, _ in entry["ttags"]]
    assert tags.count("kontor-id") + tags.count("kontor-id-received") == count_booked(customer, access_id)


def test_hledger_notices_a_booking_that_is_missing(person, tmp_path):
    """The check of the balances is one: without a booking it fails."""
    customer, _ = person
    file = tmp_path / "book.journal"
    write(customer, file, format="hledger")
    entries = file.read_text().split("\n\n")
    booking = next(number for number, entry in enumerate(entries) if "  ; kontor-id:" in entry and " | " in entry)
    file.write_text("\n\n".join(entries[:booking] + entries[booking + 1 :]))
    with pytest.raises(AssertionError, match="assertion"):
        run("hledger", "-f", str(file), "check")


def test_any_text_of_a_bank_leaves_hledgers_journal_whole(odd, tmp_path):
    file = write(odd[0], tmp_path / "book.journal", format="hledger")
    run("hledger", "-f", file, "check", "--strict")
    entries = json.loads(run("hledger", "-f", file, "print", "-O", "json"))
    assert [entry["tcode"] for entry in entries] == [""] * len(entries)
    assert len(entries) == count_booked(*odd) + 2  # the opening balance, and the assertion at the end


def read_gnucash(file):
    return json.loads(run("/usr/bin/python3", "-c", READ_GNUCASH, file))


def test_gnucash_loads_the_file_and_calculates_the_banks_balances(person, tmp_path):
    customer, access_id = person
    read = read_gnucash(write(customer, tmp_path / "book.gnucash", format="gnucash"))
    assert read["unbalanced"] == []
    for product in customer.products(access_id):
        assert Fraction(read["balances"][product["id"].replace("-", "")]) == Fraction(str(product["saldo"]))


def test_gnucash_prints_a_report_of_the_file(person, tmp_path):
    """The program itself, from the file that a user would open to the page it shows."""
    customer, _ = person
    file = write(customer, tmp_path / "book.gnucash", format="gnucash")
    page = tmp_path / "report.html"
    run(
        "gnucash-cli",
        "--report",
        "run",
        "--name",
        "Balance Sheet",
        "--output-file",
        str(page),
        file,
        HOME=str(tmp_path),
    )
    text = page.read_text()
    assert {"Assets", "Opening-Balances"} <= set(re.findall(r">([^<>]+)</", text))


def test_any_text_of_a_bank_reaches_gnucash(odd, tmp_path):
    read = read_gnucash(write(odd[0], tmp_path / "book.gnucash", format="gnucash"))
    assert ODD in read["descriptions"]
    assert f"{ODD} \\" in read["memos"]
    dollars = [balance for balance in read["balances"].values() if Fraction(balance) == 7]
    assert len(dollars) == 1


def test_a_second_export_has_the_same_ids(person, tmp_path):
    customer, _ = person
    first, second = (
        read_gnucash(write(customer, tmp_path / f"{number}.gnucash", format="gnucash")) for number in range(2)
    )
    assert first["balances"] == second["balances"]

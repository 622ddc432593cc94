"""hbci4java, the strictest reader of them all: accounts, balances, transactions, depots, and payments with a TAN."""

import hashlib
import os
import subprocess
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from peers_books import SHOP, SINCE, Books

from fints_banks import FintsBankUnderTest
from kontor.demobank.fints import parameters

pytestmark = pytest.mark.peers
JARS = (
    "hbci4j-core",
    "jaxb-api",
    "jaxb-core",
    "jaxb-runtime",
    "javax.activation",
    "istack-commons-runtime",
    "txw2",
    "FastInfoset",
    "stax-ex",
)
# Java takes the encoding of file names from the locale, and the checkout may lie in a path that is not ASCII.
ENVIRONMENT = os.environ | {"LC_ALL": "C.UTF-8"}
CLASSPATH = ":".join(f"/usr/share/java/{name}.jar" for name in JARS)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    sources = [Path(__file__).with_name(f"{name}.java") for name in ("HbciPeer", "HbciOrders", "HbciStatements")]
    command = ["javac", "-cp", CLASSPATH, "-d", folder, *sources]
    subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, timeout=180)
    return folder


def run_peer(
    bank: FintsBankUnderTest, classes: Path, folder: Path, login: str, *arguments: str, program: str = "HbciPeer"
) -> list[list[str]]:
    """Rows of words, as the peer prints them."""
    host, _, rest = bank.address.partition(":")
    port, _, path = rest.partition("/")
    command = ["java", "-cp", f"{CLASSPATH}:{classes}", program, f"{host}/{path}", port, folder, login, *arguments]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


def find_rows(rows: list[list[str]], word: str) -> list[list[str]]:
    return [row[1:] for row in rows if row[0] == word]


def test_accounts_balances_and_transactions_are_those_of_the_books(
    fints_bank: FintsBankUnderTest, classes: Path, tmp_path: Path
):
    books = Books(fints_bank, "test_student+java")
    rows = run_peer(fints_bank, classes, tmp_path, books.login, "901:2", str(SINCE))
    assert [row[1] for row in find_rows(rows, "account")] == [account.product.iban for account in books.accounts]
    balances = [Decimal(row[0]) for row in find_rows(rows, "balance")]
    assert balances == [account.product.balance for account in books.accounts]
    seen = sorted((row[0], Decimal(row[1])) for row in find_rows(rows, "booking"))
    assert seen == sorted(books.list_days(0) + books.list_days(1))


def test_chip_tan_opens_the_dialogue_and_pays(fints_bank: FintsBankUnderTest, classes: Path, tmp_path: Path):
    books = Books(fints_bank, "test_chiptan+java")
    order = (SHOP, "Erika Muster", "1.11")
    rows = run_peer(fints_bank, classes, tmp_path, books.login, "913:936086", str(SINCE), *order)
    challenges = find_rows(rows, "challenge")
    assert challenges[0][1] == "1204881344730512345678901531352C30303B", "the flicker code, as the generator reads it"
    assert "1,11 EUR an Erika Muster" in challenges[-1][0]
    assert find_rows(rows, "paid")[0][0] == "true"
    assert books.list_paid() == [(Decimal("-1.11"), SHOP)]


def test_photo_tan_and_depot(fints_bank: FintsBankUnderTest, classes: Path, tmp_path: Path):
    (tmp_path / "photo").mkdir()
    rows = run_peer(fints_bank, classes, tmp_path / "photo", "test_phototan+java", "902:8534842", str(SINCE))
    assert len(find_rows(rows, "account")) == 2
    assert find_rows(rows, "photo")
    books = Books(fints_bank, "vermoegend+java")
    depot = next(account for account in books.accounts if account.positions)
    rows = run_peer(fints_bank, classes, tmp_path, books.login, "901:2", str(SINCE))
    assert {row[0] for row in find_rows(rows, "holding")} == {position.isin for position in depot.positions}


def test_dated_transfers_standing_orders_and_direct_debits_are_ordered(
    fints_bank: FintsBankUnderTest, classes: Path, tmp_path: Path
):
    books = Books(fints_bank, "test_bank_message+java-orders")
    day = fints_bank.today + timedelta(days=20)
    rows = run_peer(fints_bank, classes, tmp_path, books.login, "901:12", str(day), SHOP, program="HbciOrders")
    for word in ("dated", "created", "changed", "deleted", "collected"):
        assert find_rows(rows, word) == [["true", ""]], word
    assert find_rows(rows, "listed") == [["3.33", "1", "M", "Erika Muster"], ["4.44", "3", "M", "Erika Muster"]]
    assert find_rows(rows, "left") == []
    assert books.list_scheduled() == [(Decimal("2.22"), SHOP)]
    assert books.list_collected() == [(Decimal("5.55"), SHOP)]
    assert books.list_standing_actions() == ["CREATE", "CHANGE", "DELETE"]


@pytest.mark.parametrize(
    ("job", "code", "version"),
    [("Kontoauszug", "HKEKA", version) for version in (3, 4, 5)] + [("KontoauszugPdf", "HKEKP", v) for v in (1, 2)],
)
def test_statements_are_fetched_by_number_or_until_they_are_acknowledged(
    fints_bank: FintsBankUnderTest, classes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job, code, version
):
    """Versions before HKEKA 5 and HKEKP 2 tell no number, HKEKP 1 has Base64."""
    monkeypatch.setattr("kontor.connectors.demo.account_statements.MAX_MONTHS", 4)
    offered = {name: value for name, value in parameters.BUSINESSES.items() if name not in ("HKEKA", "HKEKP")}
    monkeypatch.setattr(parameters, "BUSINESSES", offered | {code: ((version,), False)})
    books = Books(fints_bank, f"test_student+java-{code}{version}")
    expected = books.list_statements()
    wanted = expected[1]
    rows = run_peer(
        fints_bank, classes, tmp_path, books.login, "901:2", job, str(wanted.year), str(wanted.number),
        program="HbciStatements",
    )  # fmt: skip
    assert find_rows(rows, "failed") == []
    ((year, number, form, starts, ends, created, iban, name, digest),) = find_rows(rows, "named")
    assert digest == hashlib.sha256(wanted.content).hexdigest()
    assert form == "PDF"
    if (code, version) != ("HKEKP", 1):
        assert (starts, ends, iban) == (str(wanted.starts_on), str(wanted.ends_on), books.accounts[0].product.iban)
    if (code, version) in (("HKEKA", 5), ("HKEKP", 2)):
        assert (year, number, created) == (str(wanted.year), str(wanted.number), str(wanted.created_on))
    if (code, version) == ("HKEKP", 2):
        assert name == f"Kontoauszug_{wanted.year}_{wanted.number}.pdf"
    digests = [hashlib.sha256(statement.content).hexdigest() for statement in reversed(expected)]
    assert [row[-1] for row in find_rows(rows, "open")] == digests, "page by page, the oldest first"
    assert find_rows(rows, "acknowledged") == [["true", ""]]
    assert [row[-1] for row in find_rows(rows, "left")] == digests[1:]

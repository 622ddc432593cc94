"""AqBanking: the bank's parameters without a login, then accounts, balances, transactions, and a payment with a TAN."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from aqbanking import AqBanking
from peers_books import SHOP, SINCE, Books

from fints_banks import FintsBankUnderTest
from kontor.demobank.fints import parameters
from kontor.domain.account_statements import decode_content

pytestmark = pytest.mark.peers
MODES = {"901": "6901", "900": "6900"}


def sign_up(bank: FintsBankUnderTest, folder: Path, login: str) -> AqBanking:
    """A user whose parameters, system id and method are known."""
    peer = AqBanking(folder, bank.url, login)
    peer.add_user()
    for command in (("getbankinfo",), ("getsysid",), ("setitanmode", "-m", MODES["901"])):
        name, *rest = command
        code, shown = peer.hbci(name, "-u", "1", *rest)
        assert code == 0, shown
    peer.hbci("settanmediumid", "-u", "1", "-m", "Mein Handy")
    return peer


def find_accounts(peer: AqBanking) -> dict[str, str]:
    """IBAN to AqBanking's own number of the account."""
    _, shown = peer.cli("listaccs")
    return {row[1]: row[2] for row in re.findall(r"Account\t(\d+)\t\d+\t[^\t]*\t(DE\d{20})\t(\d+)\t", shown)}


def test_accounts_balances_and_transactions_are_those_of_the_books(fints_bank: FintsBankUnderTest, tmp_path: Path):
    books = Books(fints_bank, "test_student+aq")
    peer = sign_up(fints_bank, tmp_path / "aq", books.login)
    accounts = find_accounts(peer)
    assert set(accounts) == {account.product.iban for account in books.accounts}
    product = books.accounts[0].product
    context = str(tmp_path / "context")
    code, shown = peer.cli(
        "request",
        f"--aid={accounts[product.iban or '']}",
        "--balance",
        "--transactions",
        f"--fromdate={SINCE:%Y%m%d}",
        f"--ctxfile={context}",
    )
    assert code == 0, shown
    assert "3040" in shown, "it asked on for the next page"
    _, balance = peer.cli("listbal", f"--ctxfile={context}")
    assert f"{product.balance:.2f}" in balance
    _, listed = peer.cli("listtrans", f"--ctxfile={context}")
    rows = re.findall(r"^(\d\d)\.(\d\d)\.(\d{4})\t(-?[0-9.]+)\t", listed, re.MULTILINE)
    seen = sorted(Decimal(row[3]).quantize(Decimal("0.01")) for row in rows)
    assert seen == sorted([amount for _, amount in books.list_days(0)] + books.list_pending(0))


def test_a_transfer_with_its_tan_is_booked(fints_bank: FintsBankUnderTest, tmp_path: Path):
    books = Books(fints_bank, "test_products+aqpay")
    peer = sign_up(fints_bank, tmp_path / "aq", books.login)
    number = find_accounts(peer)[books.accounts[0].product.iban or ""]
    # It learns which SEPA formats an account can do.
    code, shown = peer.hbci("getaccsepa", "-a", number)
    assert code == 0, shown
    code, shown = peer.cli(
        "sepatransfer",
        f"--aid={number}",
        f"--ctxfile={tmp_path / 'context'}",
        "--rname=Erika Muster",
        f"--riban={SHOP}",
        "--value=1.17:EUR",
        "--purpose=Gruss",
        "--name=Daniel Hoffmann",
    )
    assert "1,17 EUR an Erika Muster" in shown
    assert code == 0, shown
    assert books.list_paid() == [(Decimal("-1.17"), SHOP)]


def test_old_transactions_ask_for_a_tan(fints_bank: FintsBankUnderTest, tmp_path: Path):
    books = Books(fints_bank, "test_sca_method+aq")
    peer = sign_up(fints_bank, tmp_path / "aq", books.login)
    code, shown = peer.hbci("getaccounts", "-u", "1")
    assert code == 0, shown
    assert "Bitte geben Sie eine gerade Zahl ein" in shown
    accounts = find_accounts(peer)
    assert set(accounts) == {account.product.iban for account in books.accounts}
    context = str(tmp_path / "context")
    number = accounts[books.accounts[0].product.iban or ""]
    code, shown = peer.cli("request", f"--aid={number}", "--transactions", f"--ctxfile={context}")
    assert code == 0, shown
    assert "Bitte geben Sie eine gerade Zahl ein" in shown
    _, listed = peer.cli("listtrans", f"--ctxfile={context}")
    assert len(re.findall(r"^\d\d\.\d\d\.\d{4}\t", listed, re.MULTILINE)) >= len(books.list_days(0))


@pytest.mark.parametrize("code", ["HKEKA", "HKEKP"])
def test_statements_are_fetched_and_acknowledged(
    fints_bank: FintsBankUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
):
    """It knows HKEKP 1 and HKEKA 5, asks on for every page, and keeps Base64 as it came."""
    monkeypatch.setattr("kontor.connectors.demo.account_statements.MAX_MONTHS", 4)
    offered = {name: value for name, value in parameters.BUSINESSES.items() if name not in ("HKEKA", "HKEKP")}
    version = 5 if code == "HKEKA" else 1
    monkeypatch.setattr(parameters, "BUSINESSES", offered | {code: ((version,), False)})
    books = Books(fints_bank, f"test_student+aq-{code}")
    peer = sign_up(fints_bank, tmp_path / "aq", books.login)
    number = find_accounts(peer)[books.accounts[0].product.iban or ""]
    request = ("request", f"--aid={number}", "--estatements", f"--ctxfile={tmp_path / 'context'}")
    for acknowledges in (False, True):
        status, shown = peer.cli(*request, *(["--acknowledge"] if acknowledges else []))
        assert status == 0, shown
        files = {path.name: path.read_bytes() for path in (tmp_path / "aq").rglob("docs/*.pdf")}
        seen = sorted(decode_content(content) for content in files.values())
        assert seen == sorted(statement.content for statement in books.list_statements()), shown
        for name in files:
            next((tmp_path / "aq").rglob(f"docs/{name}")).unlink()
    status, shown = peer.cli(*request)
    assert "3010" in shown, "all are acknowledged"
    assert not list((tmp_path / "aq").rglob("docs/*.pdf"))

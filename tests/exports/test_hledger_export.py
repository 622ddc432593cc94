"""The journal for hledger. Its own checks are in test_book_peers.py."""

import re
from datetime import date
from decimal import Decimal
from uuid import UUID

from known_accounts import day, open_account

from kontor.wire.bookkeeping import Entry, Posting
from kontor.wire.hledger import Hledger

EXPORT = "/customer/v2/export"
ID = UUID(int=7)


def entry(payee, narration, **facts):
    postings = [
        Posting("Assets:A", Decimal("-1.50"), "EUR"),
        Posting("Assets:B", Decimal("1.50"), "EUR", date(2026, 1, 3)),
    ]
    return Hledger().write_entry(Entry(ID, date(2026, 1, 1), payee, narration, postings, facts))


def test_signs_of_the_format_do_not_end_a_description_or_a_tag():
    text = entry("(A) B; C|D", "x\ny", partner="A, b: c")
    assert text.splitlines()[1:3] == ["2026-01-01 * () (A) B, C/D | x y", "  ; partner: A; b: c"]


def test_the_other_side_of_a_transfer_has_its_own_day():
    lines = entry("A", None).splitlines()
    assert lines[1:] == ["2026-01-01 * A", "  Assets:A  -1.50 EUR", "  Assets:B  1.50 EUR  ; date: 2026-01-03"]


def test_the_balance_of_the_bank_is_asserted_and_every_booking_is_there(shared, bank_server):
    account = open_account(shared)
    account.push(
        [
            {"betrag": -23.45, "buchungsdatum": day(0), "gegenkontoInhaber": "REWE", "verwendungszweck": "Danke"},
            {"betrag": -3, "buchungsdatum": day(1), "vorgemerkt": True},
            {"betrag": 7, "buchungsdatum": day(2), "waehrung": "USD"},
        ]
    )
    answer = account.customer.get(EXPORT, params={"format": "hledger"})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].endswith('.journal"')
    text = answer.text
    assert [row["id"] for row in account.read(order="asc") if not row.get("vorgemerkt")] == re.findall(
        r"^  ; kontor-id: (.*)\n  ; category", text, re.MULTILINE
    )
    assert "2026-01-01 * REWE | Danke" in text
    saldo = Decimal(str(account.customer.products(account.access_id)[0]["saldo"]))
    assert re.search(rf"  0 EUR = {saldo:.2f} EUR", text)
    assert {"commodity 1000.00 EUR", "commodity 1000.00 USD"} <= set(text.splitlines())

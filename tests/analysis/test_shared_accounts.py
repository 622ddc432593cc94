"""Products that are one account, joined for analyses."""

from datetime import date
from decimal import Decimal

from kontor.analysis.duplicates import SharedAccount, join_accounts
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory

DAY = date(2026, 11, 13)
FILE = Account("file", iban="", balance=None, data_until=DAY)
BANK = Account(
    "bank", ProductCategory.CALL_MONEY, "Tagesgeld", "Anna Muster", "DE89370400440532013000",
    balance=Decimal(100), data_until=date(2026, 11, 12),
)  # fmt: skip
OTHER = Account("other", balance=Decimal(5))
SHARED = SharedAccount(("file", "bank"), "bank", {"b1": "f1"})


def record(key, account, **facts):
    return Record(key, account, DAY, Decimal(-10), **({"category": "LIVING_GROCERIES"} | facts))


def test_the_account_is_the_freshest_product_and_the_others_say_what_it_leaves_open():
    _, accounts = join_accounts([], [BANK, OTHER, FILE], [SHARED])
    assert accounts == [
        OTHER,
        Account(
            "file", ProductCategory.CALL_MONEY, "Tagesgeld", "Anna Muster", "DE89370400440532013000",
            balance=Decimal(100), data_until=DAY,
        ),
    ]  # fmt: skip


def test_a_pair_counts_once_and_all_bookings_are_on_the_one_account():
    rows = [record("f1", "file"), record("b1", "bank"), record("b2", "bank"), record("o1", "other")]
    records, _ = join_accounts(rows, [BANK, OTHER, FILE], [SHARED])
    assert [(booking.id, booking.account) for booking in records] == [("f1", "file"), ("b2", "file"), ("o1", "other")]


def test_a_row_whose_partner_is_gone_counts_itself():
    records, _ = join_accounts([record("b1", "bank")], [BANK, FILE], [SHARED])
    assert [booking.id for booking in records] == ["b1"]


def test_a_correction_of_either_row_holds_and_that_of_the_counted_row_wins():
    rows = [record("f1", "file"), record("b1", "bank", category="RECREATION_HOBBY")]
    for corrected, expected in (
        (["b1"], "RECREATION_HOBBY"),
        (["b1", "f1"], "LIVING_GROCERIES"),
        ([], "LIVING_GROCERIES"),
    ):
        shared = SharedAccount(("file", "bank"), "bank", {"b1": "f1"}, frozenset(corrected))
        [found], _ = join_accounts(rows, [BANK, FILE], [shared])
        assert (found.id, found.category) == ("f1", expected)

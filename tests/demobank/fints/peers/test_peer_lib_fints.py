"""lib-fints (TypeScript): everything it can read, with every kind of challenge it knows."""

import json
import os
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from peers_books import SINCE, Books

from fints_banks import FintsBankUnderTest

pytestmark = pytest.mark.peers
HERE = Path(__file__).parent
PACKAGES = HERE.parents[3] / ".venv" / "peers"


def read_with_lib_fints(bank: FintsBankUnderTest, login: str, tan: str = "") -> dict[str, Any]:
    done = subprocess.run(
        ["node", HERE / "lib_fints.mjs", PACKAGES, bank.url, login, str(SINCE), tan],
        env=os.environ | {"NODE_EXTRA_CA_CERTS": str(bank.authority)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def read_days(rows: list[Any]) -> list[tuple[str, Decimal]]:
    return sorted((row[0], Decimal(str(row[1])).quantize(Decimal("0.01"))) for row in rows)


def test_everything_of_a_customer_is_read(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_student+node")
    seen = read_with_lib_fints(fints_bank, books.login)
    assert seen["url"] == fints_bank.url, "it goes on with the address of HIKOM"
    assert [account["iban"] for account in seen["accounts"]] == [account.product.iban for account in books.accounts]
    for place, account in enumerate(seen["accounts"]):
        assert Decimal(str(account["balance"])) == books.accounts[place].product.balance
        assert read_days(account["mt940"]) == books.list_days(place)
        assert len(account["camt"]) >= len(books.list_days(place))


@pytest.mark.parametrize(
    ("login", "tan", "challenges"),
    [("test_phototan+node", "8534842", 1), ("test_decoupled+node", "", 2), ("test_sca_method+node", "2", 1)],
)
def test_challenges_are_answered(fints_bank: FintsBankUnderTest, login: str, tan: str, challenges: int):
    seen = read_with_lib_fints(fints_bank, login, tan)
    assert len(seen["challenges"]) == challenges
    assert (seen["challenges"][0]["photo"] == "image/png") == login.startswith("test_phototan")
    assert len(seen["accounts"]) == 2


def test_a_card_is_read(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "test_products+node")
    place = next(place for place, account in enumerate(books.accounts) if account.product.category.is_card)
    seen = read_with_lib_fints(fints_bank, books.login)["accounts"][place]
    pending = books.list_pending(place)
    assert pending, "lib-fints lists pending bookings with the booked ones"
    assert sorted(amount for _, amount in read_days(seen["card"])) == sorted(
        [amount for _, amount in books.list_days(place)] + pending
    )
    assert Decimal(str(seen["cardBalance"])) == books.accounts[place].product.balance


def test_a_depot_is_read(fints_bank: FintsBankUnderTest):
    books = Books(fints_bank, "vermoegend+node")
    seen = read_with_lib_fints(fints_bank, books.login)
    (depot,) = [account for account in seen["accounts"] if "holdings" in account]
    expected = next(account for account in books.accounts if account.positions)
    assert {row[0] for row in depot["holdings"]} == {position.isin for position in expected.positions}
    assert Decimal(str(depot["total"])) == expected.product.balance


def test_a_wrong_login_is_refused_in_words(fints_bank: FintsBankUnderTest):
    seen = read_with_lib_fints(fints_bank, "test_locked")
    assert 9930 in [answer["code"] for answer in seen["error"]]

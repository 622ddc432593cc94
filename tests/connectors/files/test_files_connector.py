"""Statements that lie in a folder: read as one, whatever else lies there."""

from dataclasses import replace
from datetime import date, timedelta
from uuid import uuid4

import pytest

from kontor.connectors.base import (
    Context,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Pay,
    Poll,
    ProblemKind,
    Progress,
)
from kontor.connectors.catalogue.providers import FILES_PROVIDER
from kontor.connectors.files import FilesConnector
from kontor.connectors.files import connector as files_connector
from kontor.demobank.statements import write_mt535
from kontor.domain.products import ProductCategory
from kontor.domain.secrets import Secret
from kontor.domain.transactions import find_day
from statement_files import DAY, find_account, of_another_account, pack, take, write

PIN = "4711"
CONTEXT = Context(DAY)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / ".pin").write_text(f"{PIN}\n")
    return tmp_path


def begin(root, job=None, name="anna", pin=PIN):
    credentials = {"userid": Secret(name), "pin": Secret(pin)}
    return FilesConnector(root).begin(FILES_PROVIDER, credentials, job or Fetch(), None, CONTEXT)


def fetch(root, job=None):
    progress = begin(root, job)
    assert isinstance(progress, Progress), progress
    credentials = {"userid": Secret("anna"), "pin": Secret(PIN)}
    done = FilesConnector(root).resume(FILES_PROVIDER, credentials, progress.state, Continue(), CONTEXT)
    assert isinstance(done, Done), done
    return progress.partial.products, done.result


def test_overlapping_files_of_all_formats_are_one_account(root):
    product, rows = find_account()
    early, late = take(rows, date(2026, 6, 1), date(2026, 9, 30)), take(rows, date(2026, 9, 1), DAY)
    folder = root / "anna"
    (folder / "1.sta").write_bytes(write("mt940", product, early))
    (folder / "2.zip").write_bytes(pack(**{"a.xml": write("camt.053", product, late)}))
    (folder / "3.xml").write_bytes(write("camt.052", product, take(rows, date(2026, 8, 1), date(2026, 10, 31))))
    products, fetched = fetch(root)
    assert [listed.key for listed in products] == [product.iban]
    expected = take(rows, date(2026, 6, 1), DAY)
    found = fetched.transactions[product.iban]
    assert len(found) == len(expected)
    assert sum(row.amount for row in found) == sum(row.amount for row in expected)
    assert [find_day(row) for row in found] == sorted(find_day(row) for row in found)


def test_only_what_is_wanted_is_handed_out(root):
    product, rows = find_account()
    other = of_another_account(product)
    (root / "anna" / "1.sta").write_bytes(write("mt940", product, rows[-30:]))
    (root / "anna" / "2.sta").write_bytes(write("mt940", other, rows[-5:]))
    since = DAY - timedelta(days=5)
    products, fetched = fetch(root, Fetch(selected=(product.iban,), since={product.iban: since}))
    assert [listed.key for listed in products] == list(fetched.transactions) == [product.iban]
    assert all(find_day(transaction) >= since for transaction in fetched.transactions[product.iban])


def test_a_depot_has_the_newest_positions(root):
    from kontor.connectors.demo.people import person_for

    depot = next(account for account in person_for("demo1", DAY).accounts if account.positions)
    for number, day in enumerate((DAY, DAY - timedelta(days=30))):
        held = depot.positions if day == DAY else depot.positions[:1]
        (root / "anna" / f"{number}.535").write_bytes(write_mt535(depot.product, held, day=day))
    products, fetched = fetch(root)
    assert [product.category for product in products] == [ProductCategory.DEPOT]
    (positions,) = fetched.positions.values()
    assert [position.isin for position in positions] == [position.isin for position in depot.positions]


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_there(root, monkeypatch):
    product, rows = find_account()
    folder = root / "anna"
    (folder / "good.sta").write_bytes(write("mt940", product, rows[:5]))
    (folder / "bad.xml").write_bytes(b"<html>404</html>")
    (folder / "bomb.xml").write_bytes(b'<!DOCTYPE a [<!ENTITY b "c">]><Document>&b;</Document>')
    (folder / "large.sta").write_bytes(b"x" * 2000)
    (folder / ".hidden").write_bytes(b"?")
    (folder / "folder").mkdir()
    monkeypatch.setattr(files_connector, "LIMITS", replace(files_connector.LIMITS, size=1500))
    (folder / "good.sta").write_bytes(write("mt940", product, rows[:2]))
    _, fetched = fetch(root)
    assert len(fetched.transactions[product.iban]) == 2
    assert {problem.kind for problem in fetched.problems} == {ProblemKind.ACCESS_INCOMPLETE}
    assert [problem.detail.partition(":")[0] for problem in fetched.problems] == ["bad.xml", "bomb.xml", "large.sta"]


@pytest.mark.parametrize("name", ["", ".", "..", "../anna", "anna/", "/etc", "anna\x00", "ben", "a" * 300, "ännä"])
def test_a_login_leads_nowhere_else(root, name):
    (root / ".pin").write_text(PIN)
    assert begin(root, name=name) == Failed(FailureKind.WRONG_CREDENTIALS)


@pytest.mark.parametrize("pin", ["", " ", "4712", "4711 ", "ü"])
def test_a_wrong_pin_opens_nothing(root, pin):
    assert begin(root, pin=pin) == Failed(FailureKind.WRONG_CREDENTIALS)


def test_an_empty_pin_file_admits_nobody(root):
    (root / "anna" / ".pin").write_text("\n")
    assert begin(root, pin="") == Failed(FailureKind.WRONG_CREDENTIALS)


def test_a_folder_that_leads_out_through_a_link_is_not_followed(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / ".pin").write_text(PIN)
    (root / "eve").symlink_to(outside)
    assert begin(root, name="eve") == Failed(FailureKind.WRONG_CREDENTIALS)
    product, rows = find_account()
    (outside / "secret.sta").write_bytes(write("mt940", product, rows[:2]))
    (root / "anna" / "link.sta").symlink_to(outside / "secret.sta")
    products, _ = fetch(root)
    assert products == ()


def test_files_neither_pay_nor_ask(root):
    job = Pay(uuid4(), "x", ())
    assert begin(root, job).kind is FailureKind.NOT_SUPPORTED
    progress = begin(root)
    credentials = {"userid": Secret("anna"), "pin": Secret(PIN)}
    odd = FilesConnector(root).resume(FILES_PROVIDER, credentials, progress.state, Poll(), CONTEXT)
    assert odd.kind is FailureKind.REJECTED


def test_a_state_of_another_folder_is_of_no_use(root):
    """The folder that is read is the one whose PIN was given."""
    (root / "ben").mkdir()
    (root / "ben" / ".pin").write_text("other")
    progress = begin(root)
    credentials = {"userid": Secret("ben"), "pin": Secret("other")}
    step = FilesConnector(root).resume(FILES_PROVIDER, credentials, progress.state, Continue(), CONTEXT)
    assert isinstance(step, Failed)

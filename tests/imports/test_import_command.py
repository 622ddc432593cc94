"""`kontor import` as an operator runs it."""

import json
from datetime import date

import pytest

from kontor.domain.errors import InvalidError
from kontor.services.imports import Owner
from processes import run_kontor
from statement_files import find_account, of_another_account, pack, take, write


@pytest.fixture
def kontor_import(settings, shared):
    """Runs the program; returns its result."""

    def run(*arguments, access, code=0):
        command = ["import", shared.name, shared.username, *map(str, arguments), "--access", access, "--json"]
        done = run_kontor(settings, *command, code=code)
        return json.loads(done.stdout) if code == 0 else done.stderr

    return run


@pytest.fixture
def rows_of(owner, shared):
    def count(access):
        found = owner.execute(
            "select count(*) from transactions t join products p on p.user_id = t.user_id and p.id = t.product_id"
            " where p.user_id = %s and p.access_id = %s",
            [shared.user_reference, access],
        ).fetchone()
        assert found is not None
        return found[0]

    return count


def test_files_are_looked_at_then_stored_and_never_twice(kontor_import, rows_of, tmp_path):
    """Three formats, in one zip or alone, that overlap in time."""
    product, rows = find_account()
    early, late = take(rows, date(2026, 1, 1), date(2026, 9, 30)), take(rows, date(2026, 8, 1), date(2026, 11, 13))
    every = take(rows, date(2026, 1, 1), date(2026, 11, 13))
    (tmp_path / "early.sta").write_bytes(write("mt940", product, early))
    zipped = pack(**{"late.xml": write("camt.053", product, late), "again.sta": write("mt940", product, early)})
    (tmp_path / "late.zip").write_bytes(zipped)
    (tmp_path / "all.xml").write_bytes(write("camt.052", product, every))

    seen = kontor_import(tmp_path / "early.sta", access="cli-files")
    assert [(one["file"], one["account"], one["new"], one["known"]) for one in seen] == [
        ("early.sta", product.iban, len(early), 0)
    ]
    previewed = kontor_import(tmp_path / "late.zip", "--preview", access="cli-files")
    assert rows_of("cli-files") == len(early)
    added = kontor_import(tmp_path / "late.zip", tmp_path / "all.xml", access="cli-files")
    assert previewed[0]["new"] == added[0]["new"] == len(every) - len(early)
    assert added[1]["new"] == 0
    assert rows_of("cli-files") == len(every)


def test_a_preview_of_a_new_access_leaves_nothing_behind(kontor_import, owner, shared, tmp_path):
    product, rows = find_account()
    (tmp_path / "one.sta").write_bytes(write("mt940", product, rows[:5]))
    assert kontor_import(tmp_path / "one.sta", "--preview", access="never-made")[0]["new"] == 5
    found = owner.execute("select count(*) from accesses where id = 'never-made'").fetchone()
    assert found == (0,)


def test_what_cannot_be_read_is_named_and_nothing_of_it_is_stored(kontor_import, rows_of, tmp_path):
    product, rows = find_account()
    (tmp_path / "bad.xml").write_bytes(b"<html>404</html>")
    said = kontor_import(tmp_path / "bad.xml", access="cli-bad", code=1)
    assert "bad.xml" in said
    assert kontor_import(tmp_path / "missing.sta", access="cli-bad", code=1).count("missing.sta") >= 1
    both = pack(**{"a.sta": write("mt940", product, rows[:3]), "b.xml": b"<html/>"})
    (tmp_path / "half.zip").write_bytes(both)
    assert "half.zip" in kontor_import(tmp_path / "half.zip", access="cli-bad", code=1)
    assert rows_of("cli-bad") == 0


async def test_a_file_of_another_account_is_no_file_of_a_banks_access(services, customer):
    """An access to a bank gets no accounts that the bank does not have there."""
    access = customer.add_complete("student+import")
    product, rows = find_account()
    user = next(
        one
        for one in await services.users.list_users_by_operator(customer.tenant.name)
        if one.username == customer.username
    )
    owner = Owner(user.id, user.pseudonym, user.tenant_id, "operator")
    with pytest.raises(InvalidError, match="another account"):
        await services.imports.import_file(owner, access, write("mt940", of_another_account(product), rows[:3]))

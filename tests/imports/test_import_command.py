"""`kontor import` as an operator runs it."""

import json
from dataclasses import replace
from datetime import date
from uuid import UUID

import pytest

from banking import new_customer
from guide_code import Guide, run_bash
from kontor.config import export_settings
from kontor.domain.errors import InvalidError
from kontor.services.statements.imports import Owner
from processes import run_kontor
from statement_files import find_account, of_another_account, pack, take, write, write_bank_csv


@pytest.fixture
def kontor_import(settings, shared):
    """Runs the program; returns its result."""

    def run(*arguments, access, code=0):
        into = [] if access is None else ["--access", access]
        command = ["import", shared.name, shared.username, *map(str, arguments), *into, "--json"]
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
    complete = take(rows, date(2026, 1, 1), date(2026, 11, 13))
    (tmp_path / "early.sta").write_bytes(write("mt940", product, early))
    zipped = pack(**{"late.xml": write("camt.053", product, late), "again.sta": write("mt940", product, early)})
    (tmp_path / "late.zip").write_bytes(zipped)
    (tmp_path / "all.xml").write_bytes(write("camt.052", product, complete))

    seen = kontor_import(tmp_path / "early.sta", access="cli-files")
    assert [(result["file"], result["account"], result["new"], result["known"]) for result in seen] == [
        ("early.sta", product.iban, len(early), 0)
    ]
    previewed = kontor_import(tmp_path / "late.zip", "--preview", access="cli-files")
    assert rows_of("cli-files") == len(early)
    added = kontor_import(tmp_path / "late.zip", tmp_path / "all.xml", access="cli-files")
    assert previewed[0]["new"] == added[0]["new"] == len(complete) - len(early)
    assert added[1]["new"] == 0
    assert rows_of("cli-files") == len(complete)


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
    owner = await find_owner(services, customer)
    with pytest.raises(InvalidError, match="another account"):
        await services.imports.import_file(owner, access, write("mt940", of_another_account(product), rows[:3]))


def test_files_of_three_banks_without_account_number_are_three_accounts(kontor_import, rows_of, tmp_path):
    """Same day, same amount, same shop: at three banks these are three bookings."""
    banks = ("dkb", "n26", "comdirect")
    for bank in banks:
        (tmp_path / f"{bank}.csv").write_bytes(write_bank_csv(bank, "Laden", "-12,00"))
    files = [tmp_path / f"{bank}.csv" for bank in banks]
    first = kontor_import(*files, access="unnumbered")
    assert [(result["account"], result["new"], result["known"]) for result in first] == [
        ("dkb-giro", 1, 0),
        ("n26-giro", 1, 0),
        ("comdirect-giro", 1, 0),
    ]
    assert [result["form"] for result in first] == ["CSV dkb", "CSV n26", "CSV comdirect"]
    (tmp_path / "later.csv").write_bytes(write_bank_csv("n26", "Kiosk", "-3,00", "05.11.2026"))
    again = kontor_import(*files[::-1], tmp_path / "later.csv", access="unnumbered")
    assert [(result["account"], result["new"], result["known"]) for result in again] == [
        ("comdirect-giro", 0, 1),
        ("n26-giro", 0, 1),
        ("dkb-giro", 0, 1),
        ("n26-giro", 1, 0),
    ]
    assert rows_of("unnumbered") == 4


def test_files_go_to_the_access_for_files_unless_another_is_named(kontor_import, rows_of, tmp_path):
    (tmp_path / "one.csv").write_bytes(write_bank_csv("dkb", "Laden", "-12,00"))
    before = rows_of("dateien")
    kontor_import(tmp_path / "one.csv", access=None)
    assert rows_of("dateien") == before + 1


def test_a_form_can_be_chosen_and_must_fit(kontor_import, tmp_path):
    (tmp_path / "one.csv").write_bytes(write_bank_csv("dkb", "Laden", "-12,00"))
    said = kontor_import(tmp_path / "one.csv", "--form", "n26", access="chosen-form", code=1)
    assert "lacks these columns of N26: booking date" in said
    (shown,) = kontor_import(tmp_path / "one.csv", "--form", "dkb", access="chosen-form")
    assert (shown["form"], shown["new"]) == ("CSV dkb", 1)


def test_a_bad_row_is_named_and_the_rest_is_stored(kontor_import, rows_of, tmp_path):
    good = write_bank_csv("comdirect", "Laden", "-12,00").decode()
    bad = '"offen";"--";"Lastschrift";"Auftraggeber: Verein Buchungstext: Beitrag";"-20,00";\n'
    (tmp_path / "half.csv").write_bytes((good + bad).encode())
    (shown,) = kontor_import(tmp_path / "half.csv", access="bad-row")
    assert (shown["read"], shown["new"], rows_of("bad-row")) == (1, 1, 1)
    (row,) = shown["rejected"]
    assert (row["line"], "no day" in row["reason"]) == (3, True)


async def find_owner(services, customer):
    users = await services.users.list_users_by_operator(customer.tenant.name)
    user = next(user for user in users if user.username == customer.username)
    return Owner(user.id, user.pseudonym, user.tenant_id, "operator")


async def test_a_file_joins_a_banks_account_only_where_that_is_named(services, customer):
    access = customer.add_complete("student+named")
    owner = await find_owner(services, customer)
    product = customer.products(access)[0]
    account, rows = find_account()
    same = replace(account, iban=product["iban"], account_number=None, bank_code=None)
    for data in (write("camt.053", same, rows[:3]), write_bank_csv("dkb", "Laden", "-12,00")):
        with pytest.raises(InvalidError, match=r"name the product|another account"):
            await services.imports.import_file(owner, access, data)
        imported = await services.imports.import_file(owner, access, data, product_id=UUID(product["id"]))
        (found,) = imported.accounts
        assert (str(found.product_id), found.is_new) == (product["id"], False)


async def test_files_of_two_accounts_do_not_both_go_into_the_named_one(services, customer):
    access = customer.add_complete("student+two")
    owner = await find_owner(services, customer)
    product_id = UUID(customer.products(access)[0]["id"])
    both = pack(**{bank: write_bank_csv(bank, "Laden", "-12,00") for bank in ("dkb", "n26")})
    with pytest.raises(InvalidError, match="several accounts"):
        await services.imports.import_file(owner, access, both, product_id=product_id)
    account, rows = find_account()
    other = write("mt940", of_another_account(account), rows[:3])
    with pytest.raises(InvalidError, match="another account"):
        await services.imports.import_file(owner, access, other, product_id=product_id)


def test_the_guides_ways_in_for_files_work_as_pasted(settings, bank_server, shared, tmp_path):
    """On the command line and over the API, for a user who has the file's account with the bank itself, too."""
    customer = new_customer(shared)
    access_id = customer.add_complete("student")
    product, rows = find_account()
    statement = write("camt.053", product, take(rows, date(2026, 9, 1), date(2026, 11, 13)))
    (tmp_path / "statement.xml").write_bytes(statement)
    (tmp_path / "statements.zip").write_bytes(pack(**{"statement.xml": statement}))
    *shown, described = [
        block
        for block in Guide("guides/real-banks.md").list_blocks("sh")
        if "kontor import" in block or "curl" in block
    ]
    script = "\necho ---\n".join([*shown, described]).replace("demo anna", f"{shared.name} {customer.username}")
    names = {"BASE": bank_server, "TOKEN": customer.token, "ACCESS": access_id}
    names["PRODUCT"] = next(held["id"] for held in customer.products(access_id) if held["iban"] == product.iban)
    imported, preview, _ = run_bash(script, tmp_path, **export_settings(settings), **names).stdout.split("---\n")
    assert imported.count("statements.zip") == 3
    assert json.loads(preview)["konten"][0]["form"]
    assert [form["name"] for form in customer.read("/customer/v2/imports/forms")] == ["Hausbank"]
    assert set(customer.read("/customer/v2/bankzugaenge")) == {access_id, "dateien"}

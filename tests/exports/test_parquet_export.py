"""The Parquet file of a tenant, as DuckDB reads it, and the guide's examples."""

import re
import stat
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from known_accounts import day, open_account

from kontor.cli.parquet_exports import COLUMNS, Pseudonyms
from processes import run_kontor
from tenants import create_tenant

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "parquet.md"
IBAN = "DE02500105170137075030"
NAME = "Frieda Geheim"
WORDS = "Streng vertraulich 4711"


@pytest.fixture(scope="module")
async def export(bank_server, standing_services, http, settings, tmp_path_factory):
    tenant = await create_tenant(standing_services, http)
    accounts = [open_account(tenant) for _ in range(2)]
    for account in accounts:
        account.push(
            [
                {"betrag": -23.45, "buchungsdatum": day(0), "gegenkontoInhaber": "REWE Markt GmbH",
                 "verwendungszweck": WORDS},
                {"betrag": -900, "buchungsdatum": day(1), "gegenkontoInhaber": NAME, "gegenkontoIban": IBAN,
                 "verwendungszweck": "Miete"},
                {"betrag": -901, "buchungsdatum": day(32), "gegenkontoInhaber": NAME, "gegenkontoIban": IBAN},
            ]
        )  # fmt: skip
    folder = tmp_path_factory.mktemp("parquet")
    names = {"bank": tenant.name, "bank.parquet": str(folder / "bank.parquet")}
    command = re.search(r"^```sh\nkontor (.*)\n```", GUIDE.read_text(), re.MULTILINE)
    run_kontor(settings, *(names.get(word, word) for word in command[1].split()))
    return folder, accounts, tenant


def read(folder, query):
    with duckdb.connect() as database:
        return database.execute(query.replace("bank.parquet", str(folder / "bank.parquet"))).fetchall()


def test_every_transaction_is_there_with_its_tags(export):
    folder, accounts, _ = export
    rows = read(folder, "select booked_on, amount, category, partner from 'bank.parquet' order by all")
    assert len(rows) == sum(len(account.read()) for account in accounts)
    assert rows[0][:3] == (date(2026, 1, 1), Decimal("-23.45"), "LIVING_GROCERIES")
    assert read(folder, "select column_name from (describe from 'bank.parquet')") == [(name,) for name in COLUMNS]


def test_pseudonyms_tell_who_is_the_same(export):
    folder, _, _ = export
    [(users, accounts, payees)] = read(
        folder,
        "select count(distinct user), count(distinct account), count(distinct counterparty) from 'bank.parquet'",
    )
    assert (users, accounts, payees) == (2, 2, 2)
    assert read(folder, "select count(distinct counterparty) from 'bank.parquet' where amount <= -900") == [(1,)]


def test_nothing_that_names_somebody_is_in_the_file(export):
    folder, accounts, _ = export
    text = repr(read(folder, "select * from 'bank.parquet'")).lower()
    for account in accounts:
        row = account.read()[0]
        for secret in (account.customer.username, account.customer.reference, account.product_id, row["id"]):
            assert secret.lower() not in text
    for secret in (IBAN, NAME, "Frieda", WORDS, "4711", "Miete"):
        assert secret.lower() not in text


def test_the_file_is_the_owners_and_nothing_else_stays(export):
    folder, _, _ = export
    [file] = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_each_user_can_see_that_it_was_exported(export, owner):
    _, _, tenant = export
    found = owner.execute(
        "select count(e.action), count(distinct u.id) from users u join tenants t on t.id = u.tenant_id"
        " left join audit_entries e on e.object = 'user ' || u.pseudonym and e.action = 'user.export'"
        " where t.name = %s",
        [tenant.name],
    ).fetchone()
    assert found[0] == found[1] > 0


def test_the_examples_of_the_guide_run(export):
    folder, _, _ = export
    examples = re.findall(r"^```sql\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 3
    spending, common, corrected = (read(folder, example) for example in examples)
    assert sum(row[2] for row in spending) == Decimal("3648.90")
    assert common == []
    assert sum(row[1] for row in corrected) == 6


def test_a_pseudonym_is_of_one_export_and_one_kind():
    first, second = Pseudonyms(), Pseudonyms()
    assert first.replace("user", "x") == first.replace("user", "x")
    assert len({first.replace("user", "x"), first.replace("account", "x"), second.replace("user", "x")}) == 3
    assert first.replace("counterparty", "") == ""

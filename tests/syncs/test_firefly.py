"""`kontor sync firefly` over HTTP with a small Firefly III of our own, and with real data of a running Kontor."""

import sqlite3
from decimal import Decimal

import pytest
from firefly_server import TOKEN, FireflyServer, serve_firefly
from synced_users import booking, day


@pytest.fixture
def firefly():
    with serve_firefly(FireflyServer()) as server:
        yield server


@pytest.fixture
def sync(firefly, run_command, synced, bank_server, tmp_path):
    folder = tmp_path / "sync"

    usual = {"KONTOR_SYNC_KEY": synced.key, "FIREFLY_TOKEN": TOKEN, "FIREFLY_SERVER": firefly.address}

    def run(*arguments, **environment):
        places = ("--kontor", bank_server, "--folder", folder)
        return run_command("sync", "firefly", *places, *arguments, **(usual | environment))

    run.folder = folder
    return run


def test_the_first_run_fills_it_and_the_second_changes_nothing(sync, firefly, synced):
    code, out, err = sync("--dry-run")
    assert (code, err) == (0, "")
    assert out.endswith("Would be: 1 new account, 4 new.\n")
    assert "new: 2026-01-02 -23.45 REWE" in out
    assert (firefly.accounts, firefly.groups) == ({}, {})
    assert list(sync.folder.iterdir()) == []

    assert sync()[:2] == (0, "Done: 1 new account, 4 new.\n")
    [(id, account)] = firefly.accounts.items()
    product = synced.customer.products(synced.access_id)[0]
    assert (account["type"], account["currency_code"]) == ("asset", "EUR")
    assert account["opening_balance_date"] == day(0)
    assert firefly.balance(id) == Decimal(str(product["saldo"]))
    entries = firefly.entries()
    assert set(entries) == {"Lohn 01/2026", "Einkauf #1", "Einkauf #2"}
    salary, shopping = entries["Lohn 01/2026"], entries["Einkauf #1"]
    assert (salary["type"], salary["source_name"], salary["destination_id"]) == ("deposit", "Muster GmbH", id)
    assert (shopping["type"], shopping["source_id"], shopping["destination_name"]) == ("withdrawal", id, "REWE")
    assert (shopping["amount"], shopping["date"]) == ("23.45", day(1))
    assert shopping["category_name"].endswith(": Lebensmittel")
    assert shopping["external_id"] == f"kontor-{synced.row('Einkauf #1')['id']}"

    before = firefly.number
    assert sync() == (0, "Done: nothing to do.\n", "")
    assert firefly.number == before


def test_what_changes_in_kontor_changes_there_and_what_was_edited_there_stays(sync, firefly, synced):
    sync()
    entries = firefly.entries()
    entries["Lohn 01/2026"]["category_name"] = "mine"
    synced.book("offen")
    synced.correct("Einkauf #1", "LIVING_DRUGSTORE")
    synced.push(booking(-5, 8, "Kiosk", "neu"), batch="later")
    code, out, err = sync()
    # The first balance follows, since the balance of this bank stays the same.
    assert (code, out, err) == (0, "Done: 2 new, 2 changed.\n", "")
    entries = firefly.entries()
    assert set(entries) == {"Lohn 01/2026", "Einkauf #1", "Einkauf #2", "offen", "neu"}
    assert entries["Lohn 01/2026"]["category_name"] == "mine"
    assert entries["Einkauf #1"]["category_name"].endswith(": Drogerie")
    assert sync()[1] == "Done: nothing to do.\n"


def test_an_entry_that_was_deleted_there_stays_deleted_and_the_balance_tells(sync, firefly, synced):
    sync()
    id = next(id for id, group in firefly.groups.items() if group["description"] == "Einkauf #2")
    del firefly.groups[id]
    synced.correct("Einkauf #2", "LIVING_DRUGSTORE")
    code, _, err = sync()
    assert code == 0
    assert "Removed in Firefly III, and left so: 2026-01-02 REWE." in err
    assert "entries were changed, added or removed there" in err
    assert "Einkauf #2" not in firefly.entries()


def test_rows_that_kontor_removes_are_removed(sync, firefly, synced):
    sync()
    synced.customer.delete(f"/customer/v2/bankzugaenge/{synced.access_id}")
    assert sync()[:2] == (0, "Done: 4 removed.\n")
    assert firefly.groups == {}


@pytest.mark.parametrize("stored", [0, 1, 2])
def test_a_run_that_breaks_off_is_finished_by_the_next_one(sync, firefly, synced, stored):
    """The entry was stored, and the answer never came."""
    firefly.breaks_after = stored
    code, _, err = sync()
    assert code == 1
    assert "Firefly III cannot be reached" in err
    assert len(firefly.groups) == stored + 1
    assert sync()[0] == 0
    assert len(firefly.groups) == 3
    assert sync()[1] == "Done: nothing to do.\n"


@pytest.mark.parametrize("page_rows", [1, 500])
def test_a_lost_state_doubles_nothing(sync, firefly, synced, page_rows):
    firefly.page_rows = page_rows
    synced.push(*[booking(-number, 9, f"Laden {number}", f"Kauf {number}") for number in range(1, 25)], batch="many")
    sync()
    before = firefly.number
    for file in sync.folder.iterdir():
        file.unlink()
    assert sync() == (0, "Done: nothing to do.\n", "")
    assert firefly.number == before


def test_an_entry_that_somebody_added_meanwhile_is_taken_over(sync, firefly, synced, monkeypatch):
    """Two runs at once, on two machines: both look, find nothing, and add. Firefly III refuses the second."""
    sync()
    for file in sync.folder.iterdir():
        file.unlink()
    monkeypatch.setattr("kontor.cli.syncs.firefly.FEW", 0)
    shown = firefly._list
    firefly._list = lambda rows, query: shown([] if "type" not in query and "query" not in query else rows, query)
    assert sync()[0] == 0
    assert len(firefly.groups) == 3


def test_more_than_half_is_removed_only_when_told_so(sync, firefly, synced):
    synced.push(*[booking(-number, 9, f"Laden {number}", f"Kauf {number}") for number in range(1, 25)], batch="many")
    sync()
    synced.customer.delete(f"/customer/v2/bankzugaenge/{synced.access_id}")
    code, _, err = sync()
    assert code == 1
    assert "28 of 28 entries would be removed" in err
    assert len(firefly.groups) == 27
    assert sync("--allow-removals")[1] == "Done: 28 removed.\n"


def test_names_are_the_users(sync, firefly, synced):
    sync()
    accounts = sync.folder / "accounts.toml"
    key = accounts.read_text().splitlines()[-1].partition(" = ")[0]
    accounts.write_text(f'{key} = ""\n')
    assert sync()[1] == "Done: 4 removed.\n"
    accounts.write_text(f"{key} = 1\n")
    assert "must have a text" in sync()[2]
    accounts.write_text(f"{key} = \n")
    assert "cannot be read" in sync()[2]


def test_another_currency_is_left_out_and_said(sync, firefly, synced):
    synced.push(booking(7, 3, "Shop", "dollars", waehrung="USD"), batch="usd")
    code, _, err = sync()
    assert code == 0
    assert "in USD are left out" in err
    assert "dollars" not in firefly.entries()


def test_what_is_wrong_is_said(sync, firefly):
    assert "Firefly III refuses the token" in sync(FIREFLY_TOKEN="wrong")[2]
    assert "Firefly III cannot be reached" in sync(FIREFLY_SERVER="http://127.0.0.1:9")[2]
    assert "Set FIREFLY_TOKEN" in sync(FIREFLY_TOKEN="")[2]
    assert "Kontor says:" in sync(KONTOR_SYNC_KEY="wrong")[2]


def test_a_second_run_at_the_same_time_is_refused(sync, firefly):
    sync()
    other = sqlite3.connect(sync.folder / "state.sqlite")
    other.execute("begin exclusive")
    assert "Another run uses" in sync()[2]
    other.close()


def test_a_cursor_that_is_too_old_starts_again_and_doubles_nothing(sync, firefly):
    """As when removals are no longer kept: Kontor answers 409."""
    sync()
    state = sqlite3.connect(sync.folder / "state.sqlite")
    state.execute("update facts set value = 'not-a-cursor'")
    state.commit()
    state.close()
    before = firefly.number
    assert sync() == (0, "Done: nothing to do.\n", "")
    assert firefly.number == before

"""Tagging everything anew after the tagger has changed: what people said stays, and a stop loses nothing."""

import json
import signal
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest
from refresh_harness import make_user

from kontor import bootstrap
from kontor.cli import commands
from kontor.config import export_settings
from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.principals import Principal
from kontor.domain.products import Product, ProductCategory
from kontor.domain.tagging_rules import TaggingRule
from kontor.domain.transactions import Transaction
from kontor.services.analyses import tagging
from kontor.storage import accesses, products, queue, tags, transactions
from kontor.storage.data_versions import take_version

OLD = "0-old"
NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
GIRO = Product("giro", ProductCategory.CHECKING, "Girokonto", "Anna Muster", "EUR", balance=Decimal("1.00"))


def pay(name, amount, purpose=""):
    return Transaction(Decimal(amount), "EUR", NOON, counterparty_name=name, purpose=purpose)


# The tagger knows what these are; "Kiosk" and "Verein" are decided by the user and by a rule.
KNOWN = {"REWE SAGT DANKE": "LIVING_GROCERIES", "Hausverwaltung Sommer": "HOUSING_RENT", "ARAL AG": "MOBILITY_FUEL"}
ROWS = (
    pay("REWE SAGT DANKE", "-23.45"),
    pay("Hausverwaltung Sommer", "-900.00", "Miete November"),
    pay("ARAL AG", "-61.20", "Tankstelle"),
    pay("Kiosk", "-4.00"),
    pay("Verein", "-12.00"),
)


@dataclass
class User:
    principal: Principal
    access_id: str
    product_id: UUID
    owner: psycopg.Connection

    def tags(self):
        """By counterparty: category, who decided, and the version of the tagger."""
        rows = self.owner.execute(
            "select t.counterparty_name, g.category, g.source, g.tagger_version from transaction_tags g"
            " join transactions t on t.user_id = g.user_id and t.id = g.transaction_id where g.user_id = %s",
            [self.principal.user_id],
        ).fetchall()
        assert len(rows) == len(ROWS)
        return {row[0]: tuple(row[1:]) for row in rows}

    def find(self, name):
        query = "select id from transactions where user_id = %s and counterparty_name = %s"
        return self.owner.execute(query, [self.principal.user_id, name]).fetchone()[0]

    def count_new(self):
        return sum(version != OLD for _, _, version in self.tags().values())

    def state(self):
        query = "select tagger_version from tagging_states where user_id = %s"
        return self.owner.execute(query, [self.principal.user_id]).fetchone()[0]

    def queued(self):
        query = "select count(*) from pgqueuer where entrypoint = %s and payload = %s"
        return self.owner.execute(query, [queue.RETAG, self.principal.user_id.bytes]).fetchone()[0]

    def make_old(self):
        """As if another version had tagged everything, and had known nothing."""
        self.owner.execute(
            "update transaction_tags set tagger_version = %(old)s,"
            " category = case when source = 'TAGGER' then 'OTHER_SPENDING' else category end where user_id = %(user)s",
            {"old": OLD, "user": self.principal.user_id},
        )
        self.owner.execute(
            "update tagging_states set tagger_version = %s where user_id = %s", [OLD, self.principal.user_id]
        )


@pytest.fixture(scope="module")
async def services(own):
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        yield services


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute("delete from pgqueuer")
        connection.execute("delete from tagging_states")
        yield connection


@pytest.fixture
async def user(services, owner):
    """Tagged by this version, with a word of the user and one of a rule; then all of it is of another version."""
    principal = await make_user(services, owner)
    user_id = principal.user_id
    access_id = str(uuid4())
    product_id = make_product_id(user_id, access_id, GIRO.key)
    async with services.database.transaction(user_id) as connection:
        await accesses.insert_access(
            connection, user_id, access_id, UUID(int=0), is_synced=True, selected_products=None
        )
        await accesses.set_status(connection, user_id, access_id, AccessStatus.COMPLETE)
        await products.upsert_product(connection, user_id, product_id, access_id, 0, GIRO)
        await transactions.insert_transactions(connection, user_id, product_id, ROWS, date(2026, 11, 15))
    await services.tagging_rules.add_rule(principal, TaggingRule(uuid4(), "RECREATION_HOBBY", "", "Verein"))
    await services.transaction_tagging.ensure_tagged(principal)
    user = User(principal, access_id, product_id, owner)
    await services.transaction_tagging.correct(
        principal, access_id, product_id, user.find("Kiosk"), "HEALTH_CONSUMABLES",
        changes_existing=False, creates_rule=False,
    )  # fmt: skip
    user.make_old()
    return user


def assert_renewed(user, version):
    found = user.tags()
    for name, category in KNOWN.items():
        assert found[name] == (category, "TAGGER", version)
    assert found["Kiosk"] == ("HEALTH_CONSUMABLES", "USER", version)
    assert found["Verein"] == ("RECREATION_HOBBY", "RULE", version)
    assert user.state() == version


async def test_what_the_tagger_said_changes_and_what_people_said_stays(services, user):
    before = user.tags()
    assert before["REWE SAGT DANKE"] == ("OTHER_SPENDING", "TAGGER", OLD)
    assert await services.transaction_tagging.retag_step(user.principal.user_id) is False
    assert_renewed(user, services.transaction_tagging.version)


async def test_new_rows_are_tagged_without_being_read_beside_rows_that_waited(services, user):
    user_id, today = user.principal.user_id, date(2026, 11, 15)
    waiting, coming = pay("ARAL AG", "-50.00", "Tankstelle"), [pay("REWE SAGT DANKE", f"-{n}.00") for n in (1, 2, 3)]
    async with services.database.transaction(user_id) as connection:
        await transactions.insert_transactions(connection, user_id, user.product_id, [waiting], today)
    async with services.database.transaction(user_id) as connection:
        ids = await transactions.insert_transactions(connection, user_id, user.product_id, coming, today)
        found = await tags.list_untagged(connection, user_id, await take_version(connection, user_id))
        assert [row.transaction for row in found] == [waiting]
        assert len(await tags.list_untagged(connection, user_id)) == 4
        new = [tags.TaggedRow(user.product_id, id, row) for id, row in zip(ids, coming, strict=True)]
        await services.transaction_tagging.retag_changed(connection, user_id, new=new)
        assert await tags.list_untagged(connection, user_id) == []
    query = (
        "select t.amount, g.category from transactions t join transaction_tags g"
        " on g.user_id = t.user_id and g.product_id = t.product_id and g.transaction_id = t.id"
        " where t.user_id = %s and t.id = any(%s)"
    )
    stored = user.owner.execute(query, [user_id, [found[0].id, *ids]]).fetchall()
    expected = [(row.amount, "LIVING_GROCERIES") for row in coming]
    assert sorted(stored) == sorted([*expected, (waiting.amount, "MOBILITY_FUEL")])


async def test_after_a_stop_half_way_another_process_goes_on_where_it_was(services, user, own, monkeypatch):
    monkeypatch.setattr(tagging, "RETAG_ROWS", 2)
    assert await services.transaction_tagging.retag_step(user.principal.user_id) is True
    assert (user.count_new(), user.state()) == (2, OLD)
    assert await services.transaction_tagging.count_users() == (0, 1)
    async with bootstrap.open_services(replace(own, pool_size=2), "kontor tests, second") as second:
        assert await second.transaction_tagging.retag_step(user.principal.user_id) is True
        assert (user.count_new(), user.state()) == (4, OLD)
        assert await second.transaction_tagging.retag_step(user.principal.user_id) is False
    assert_renewed(user, services.transaction_tagging.version)
    assert await services.transaction_tagging.count_users() == (1, 1)


async def test_a_step_that_fails_changes_nothing_and_can_be_done_again(services, user, monkeypatch):
    before = user.tags()
    with monkeypatch.context() as patch:
        patch.setattr(tagging.tags, "store_state", fail)
        with pytest.raises(RuntimeError, match="power cut"):
            await services.transaction_tagging.retag_step(user.principal.user_id)
    assert user.tags() == before
    assert user.state() == OLD
    assert await services.transaction_tagging.retag_step(user.principal.user_id) is False
    assert_renewed(user, services.transaction_tagging.version)


async def fail(*_):
    raise RuntimeError("power cut")


async def test_a_step_for_somebody_who_is_up_to_date_changes_nothing(services, user):
    await services.transaction_tagging.retag_step(user.principal.user_id)
    before = user.tags()
    assert await services.transaction_tagging.retag_step(user.principal.user_id) is False
    assert user.tags() == before


async def test_only_users_of_another_version_are_queued_and_each_once(services, user):
    assert await services.transaction_tagging.start_retagging() == 1
    assert await services.transaction_tagging.start_retagging() == 1
    assert user.queued() == 1
    await services.transaction_tagging.retag_step(user.principal.user_id)
    assert await services.transaction_tagging.start_retagging() == 0


# The command line


@pytest.fixture
def kontor(own, monkeypatch, capsys):
    """Runs a command as the program would, on this file's database; returns (exit code, output, remarks)."""
    for name, value in export_settings(own).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("kontor.logs.configure_logs", lambda *_: None)  # it would bind this test's standard error
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        capsys.readouterr()
        code = commands.run(list(arguments))
        return code, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


def test_the_command_line_queues_users_and_shows_progress(kontor, user, services, owner):
    version = services.transaction_tagging.version
    before = {"version": version, "done": 0, "total": 1, "percent": 0}
    assert json.loads(kontor("retag", "status", "--json")[1]) == [before]
    assert kontor("retag", "start") == (0, "", "1 users are queued.\n")
    assert user.queued() == 1
    owner.execute("update tagging_states set tagger_version = %s", [version])
    assert json.loads(kontor("retag", "status", "--json")[1]) == [before | {"done": 1, "percent": 100}]
    assert version in kontor("retag", "status")[1]
    assert kontor("retag", "start") == (0, "", "Everything is tagged by this version.\n")

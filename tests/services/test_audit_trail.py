"""The audit trail: whole under many writers, every change is found, and nobody can be recognised in it."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import psycopg
import pytest

import given_clusters
from kontor.bootstrap import migrate_database, open_services
from kontor.config import Settings, export_settings
from kontor.domain.audit import FIRST_HASH, SYSTEM_CHAIN, AuditEntry, AuditResult, hash_entry
from kontor.domain.secrets import Secret
from kontor.services.bundle import Services
from kontor.services.security import auditing
from kontor.services.security.auditing import verify_chains
from process_tree import KONTOR, clean_environment

WRITERS, ENTRIES = 12, 15


@pytest.fixture
def own(settings: Settings) -> Iterator[Settings]:
    """A database of one's own, because here the past is going to be changed."""
    given_clusters.skip_where_given()
    name = f"audit_{os.urandom(4).hex()}"
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute(f"create database {name}")
        yield replace(
            settings,
            database_url=Secret(psycopg.conninfo.make_conninfo(settings.database_url.reveal(), dbname=name)),
            migration_database_url=Secret(
                psycopg.conninfo.make_conninfo(settings.migration_database_url.reveal(), dbname=name)
            ),
        )
        owner.execute(f"drop database {name} with (force)")


def record_many(settings: Settings, chain: UUID | None) -> None:
    async def write(services: Services, number: int) -> None:
        for entry in range(ENTRIES):
            async with services.database.transaction() as connection:
                await auditing.record(connection, chain, f"writer {number}", "test.write", f"entry {entry}")
                if entry % 5 == 4:
                    await connection.execute("rollback")  # the change failed, so the entry must go with it

    async def write_all() -> None:
        async with open_services(replace(settings, pool_size=6), "kontor tests") as services:
            await asyncio.gather(*[write(services, number) for number in range(WRITERS)], return_exceptions=True)

    asyncio.run(write_all())


def verify(settings: Settings) -> tuple[int, dict[str, str]]:
    result = subprocess.run(
        [*KONTOR, "audit", "verify", "--json"], env=clean_environment(**export_settings(settings)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, {row["chain"]: row["finding"] for row in json.loads(result.stdout)}


def tamper(settings: Settings, statement: str) -> None:
    """The owner can do everything, if only it takes the trouble."""
    with psycopg.connect(settings.migration_database_url.reveal()) as owner:
        for table in ("audit_entries", "audit_heads"):
            owner.execute(f"alter table {table} disable trigger user")
        owner.execute(statement)
        for table in ("audit_entries", "audit_heads"):
            owner.execute(f"alter table {table} enable trigger user")


TAMPERED = {
    "one row changed": ("update audit_entries set actor = 'nobody' where serial = 7", "entry 7 does not follow"),
    "the time of a row changed": (
        "update audit_entries set at = at - interval '1 microsecond' where serial = 3",
        "entry 3 does not follow",
    ),
    "the last rows deleted": ("delete from audit_entries where serial > 9", "the last entries are missing: 9 of"),
    "all rows deleted": ("delete from audit_entries", "the last entries are missing: 0 of"),
    "a row in the middle deleted": ("delete from audit_entries where serial = 4", "entry 5 does not follow"),
    "two rows swapped": (
        "update audit_entries set serial = case serial when 5 then 1006 when 6 then 1005 end where serial in (5, 6);"
        " update audit_entries set serial = serial - 1000 where serial > 1000",
        "entry 5 does not follow",
    ),
    "last row deleted and the head set back without its hash": (
        "delete from audit_entries where serial = (select max(serial) from audit_entries);"
        " update audit_heads set serial = serial - 1",
        "is not the one that was written last",
    ),
    "the head deleted": ("delete from audit_heads", "its head is missing"),
}


@pytest.mark.programs
def test_every_kind_of_tampering_is_found(own):
    """One database, tampered with and mended again, because each migration takes its time."""
    migrate_database(own)
    record_many(own, SYSTEM_CHAIN)
    assert verify(own) == (0, {str(SYSTEM_CHAIN): "whole"})
    with psycopg.connect(own.migration_database_url.reveal()) as owner:
        [(count,)] = owner.execute("select count(*) from audit_entries").fetchall()
        assert count == WRITERS * ENTRIES * 4 // 5
        owner.execute("create table kept_entries as select * from audit_entries")
        owner.execute("create table kept_heads as select * from audit_heads")
    restore = (
        "; delete from audit_entries; insert into audit_entries select * from kept_entries;"
        " delete from audit_heads; insert into audit_heads select * from kept_heads"
    )
    for name, (statement, finding) in TAMPERED.items():
        tamper(own, "select 1" + restore)
        tamper(own, statement)
        code, findings = verify_in_process(own)
        assert code == 1, name
        assert finding in findings[str(SYSTEM_CHAIN)], name
    tamper(own, "update audit_entries set actor = 'nobody' where serial = 7")
    assert verify(own)[0] == 1
    tamper(own, "select 1" + restore)
    assert verify(own)[0] == 0


def verify_in_process(settings: Settings) -> tuple[int, dict[str, str]]:
    async def run() -> dict[UUID, str | None]:
        async with open_services(replace(settings, pool_size=1), "kontor tests") as services:
            return await verify_chains(services.database)

    findings = {str(chain): finding or "whole" for chain, finding in asyncio.run(run()).items()}
    return int(any(finding != "whole" for finding in findings.values())), findings


@pytest.mark.programs
async def test_a_tenant_whose_chain_has_vanished_is_found(services, shared, owner):
    chain = (await services.tenant_administration.find_tenant(shared.name)).id
    assert (await verify_chains(services.database))[chain] is None
    [(serial, digest)] = owner.execute("select serial, hash from audit_heads where chain = %s", [chain]).fetchall()
    entries = owner.execute("select * from audit_entries where chain = %s", [chain]).fetchall()
    owner.execute("alter table audit_entries disable trigger user; alter table audit_heads disable trigger user")
    try:
        owner.execute("delete from audit_heads where chain = %s", [chain])
        owner.execute("delete from audit_entries where chain = %s", [chain])
        assert "its head is missing" in str((await verify_chains(services.database))[chain])
    finally:
        for entry in entries:
            owner.execute(f"insert into audit_entries values ({', '.join(['%s'] * len(entry))})", entry)
        owner.execute("insert into audit_heads values (%s, %s, %s)", [chain, serial, digest])
        owner.execute("alter table audit_entries enable trigger user; alter table audit_heads enable trigger user")
    assert (await verify_chains(services.database))[chain] is None


async def test_verifying_while_others_write_raises_no_false_alarm(services, shared):
    chain = (await services.tenant_administration.find_tenant(shared.name)).id

    async def write() -> None:
        for _ in range(40):
            async with services.database.transaction() as connection:
                await auditing.record(connection, chain, "writer", "test.write", "entry")

    writing = asyncio.create_task(write())
    while not writing.done():
        assert (await verify_chains(services.database))[chain] is None
    await writing


async def test_an_erased_user_leaves_nothing_but_a_pseudonym(services, shared, http, owner):
    """No name, no reference, no password, no token: neither of the living nor of the erased."""
    username, first, last = f"karla-{uuid4().hex[:6]}", "Karlotta", "Köhlerová"
    body = {"username": username, "password": "Karlas Geheimnis", "firstname": first, "lastname": last}
    created = http.post(f"{shared.url}/users", json=body, headers=shared.as_admin)
    assert created.status_code == 201, created.text
    reference = created.headers["location"].rpartition("/")[2]
    [(pseudonym,)] = owner.execute("select pseudonym from users where id = %s", [reference]).fetchall()
    form = {"grant_type": "password", "username": username, "password": "Karlas Geheimnis"}
    token = http.post("/auth/oauth2/token", data=form, auth=shared.app).json()["access_token"]
    http.post("/auth/oauth2/token", data=form | {"password": "wrong"}, auth=shared.app)
    url = f"{shared.url}/users/{reference}"
    assert http.put(f"{url}/deactivate", headers=shared.as_admin).status_code < 300
    assert http.delete(url, headers=shared.as_admin).status_code < 300
    chain = (await services.tenant_administration.find_tenant(shared.name)).id
    rows = owner.execute("select * from audit_entries where chain = %s or chain = %s", [chain, SYSTEM_CHAIN]).fetchall()
    text = "\n".join(str(row) for row in rows)
    assert f"user {pseudonym}" in text
    for hidden in (username, first, last, reference, "Karlas Geheimnis", token, shared.app[1], shared.admin[1]):
        assert hidden not in text
    assert owner.execute("select 1 from users where pseudonym = %s", [pseudonym]).fetchall() == []
    actions = {row[4] for row in rows if str(pseudonym) in str(row)}
    assert {"user.create", "token.issue", "token.user-login", "user.deactivate", "user.erase"} <= actions
    assert (await verify_chains(services.database))[chain] is None


async def test_the_daily_anchor_names_every_head(services, shared, owner):
    from structlog.testing import capture_logs

    with capture_logs() as logs:
        await services.housekeeping.anchor_audit_trail()
    anchors = {entry["chain"]: entry["hash"] for entry in logs if entry["event"] == "audit.anchor"}
    chain = (await services.tenant_administration.find_tenant(shared.name)).id
    [(head,)] = owner.execute("select hash from audit_heads where chain = %s", [chain]).fetchall()
    assert anchors[str(chain)] == head.hex()


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_heads set hash = sha256('x') where chain = %(chain)s",
        "update audit_heads set serial = serial - 1 where chain = %(chain)s",
        "update audit_heads set serial = 0, hash = decode(repeat('00', 32), 'hex') where chain = %(chain)s",
        "update audit_heads set serial = serial + 1 where chain = %(chain)s",
        "update audit_heads set chain = gen_random_uuid() where chain = %(chain)s",
        "update audit_heads set serial = serial where chain = %(chain)s",
        "insert into audit_heads values (gen_random_uuid(), 7, decode(repeat('00', 32), 'hex'))",
        "insert into audit_heads values (gen_random_uuid(), 0, sha256('x'))",
    ],
)
async def test_the_application_cannot_set_a_head_to_anything_but_the_next_entry(services, shared, settings, statement):
    shared.client_token()
    chain = (await services.tenant_administration.find_tenant(shared.name)).id
    with psycopg.connect(settings.database_url.reveal()) as connection:
        with pytest.raises(psycopg.errors.RaiseException, match="a head of the audit trail"):
            connection.execute(statement, {"chain": chain})
        connection.rollback()
    assert (await verify_chains(services.database))[chain] is None


async def test_the_statements_of_the_version_before_still_extend_the_trail(services, shared, settings):
    """As an older process writes them, on the migrated database and with the application's role."""
    chain = (await services.tenant_administration.find_tenant(shared.name)).id
    entry = AuditEntry("operator", "test.old", "nothing", AuditResult.DONE, "-")
    with psycopg.connect(settings.database_url.reveal()) as connection:
        connection.execute(
            "insert into audit_heads (chain, serial, hash) values (%s, 0, %s) on conflict do nothing",
            [chain, FIRST_HASH],
        )
        found = connection.execute("select serial, hash from audit_heads where chain = %s for update", [chain])
        serial, previous = found.fetchone()
        at = datetime.now(UTC)
        digest = hash_entry(previous, chain, serial + 1, at, entry)
        connection.execute(
            "insert into audit_entries (chain, serial, at, actor, action, object, result, correlation_id, hash)"
            " values (%s, %s, %s, 'operator', 'test.old', 'nothing', %s, '-', %s)",
            [chain, serial + 1, at, str(AuditResult.DONE), digest],
        )
        connection.execute(
            "update audit_heads set serial = %s, hash = %s where chain = %s", [serial + 1, digest, chain]
        )
    assert (await verify_chains(services.database))[chain] is None

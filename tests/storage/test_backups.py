"""`kontor backup` and `kontor restore`: everything comes back, but for who was erased; nothing doubtful is restored."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from banking import login, new_customer
from kontor import __version__
from kontor.bootstrap import load_master_key, open_services
from kontor.config import Settings
from kontor.domain.secrets import Secret
from kontor.services.identity import NewUser, new_tenant
from kontor.storage.backups import DUMP, MANIFEST, BackupError, Manifest, make_backup, read_backup
from kontor.storage.keys import generate_key
from kontor.storage.migrate import is_protected, read_migrations
from kontor.storage.postgres_programs import ProgramError, find_program
from plain_http import plain_client
from process_tree import own_database
from processes import WITH_CHEAP_PASSWORDS, beside, free_port, run_kontor, running_server, running_worker
from tenants import create_tenant

OPEN_PAYMENT = """
    insert into payments (user_id, id, tenant_id, pseudonym, kind, state, provider_id, product_key, lease_key, orders,
        given, is_instant, dialogue, request_digest, expires_at)
    select id, gen_random_uuid(), tenant_id, gen_random_uuid(), 'SINGLE', 'OPEN', gen_random_uuid(), 'k', '\\x00', '[]',
        '[]', false, '{}', '\\x00', now() + interval '1 hour' from users limit 1
"""


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    with beside(settings, erasure_log=tmp_path / "logs/erasures.log") as own:
        yield own


@contextmanager
def empty_database(own: Settings) -> Iterator[Settings]:
    """A new database, whose owner is not a superuser, as on a server that several use."""
    name, admin = f"restored_{uuid4().hex[:10]}", own.migration_database_url.reveal()
    with psycopg.connect(admin, autocommit=True) as server:
        server.execute(f"create role {name} login password '{name}'")
        server.execute(f"create database {name} owner {name}")
    try:
        yield replace(
            own,
            database_url=Secret(make_conninfo(own.database_url.reveal(), dbname=name)),
            migration_database_url=Secret(make_conninfo(admin, dbname=name, user=name, password=name)),
            base_url=f"http://127.0.0.1:{free_port()}",
        )
    finally:
        with psycopg.connect(admin, autocommit=True) as server:
            server.execute(f"drop database {name} with (force)")
            server.execute(f"drop role {name}")


@contextmanager
def running(settings: Settings, folder: Path):
    with ExitStack() as stack:
        stack.enter_context(running_server(settings, folder / "server.log", program=WITH_CHEAP_PASSWORDS))
        stack.enter_context(running_worker(settings, folder / "worker.log"))
        yield stack.enter_context(plain_client(base_url=settings.base_url, timeout=60))


async def make_users(settings: Settings, *names: str) -> None:
    async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
        await services.tenant_administration.create_tenant(new_tenant("acme", is_regulated=True))
        for name in names:
            await services.users.create_user_by_operator("acme", NewUser(name, Secret("a long password")))


def count(settings: Settings, table: str) -> int:
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        return connection.execute(f"select count(*) from {table}").fetchone()[0]


@pytest.mark.long
async def test_a_restored_access_is_fetched_with_its_credentials_and_an_erased_user_is_erased_again(own, tmp_path):
    with running(own, tmp_path) as http:
        async with open_services(replace(own, pool_size=2), "kontor tests") as services:
            tenant = await create_tenant(services, http)
        keeps, leaves = new_customer(tenant), new_customer(tenant)
        access_id = keeps.add_complete("demo1+backup")
        before = len(keeps.transactions(keeps.product(access_id, "GIROKONTO")))
        run_kontor(own, "backup", tmp_path / "backup")
        user = f"{tenant.url}/users/{leaves.reference}"
        http.put(f"{user}/deactivate", headers=tenant.as_admin).raise_for_status()
        http.delete(user, headers=tenant.as_admin).raise_for_status()
    with empty_database(own) as restored:
        said = run_kontor(restored, "restore", tmp_path / "backup").stderr
        assert "Erased again: 1." in said
        run_kontor(restored, "audit", "verify")
        assert is_protected(restored.database_url)
        with running(restored, tmp_path) as http:
            assert http.get("/customer/v2/bankzugaenge", headers=keeps.headers).status_code in (401, 403)
            tenant = replace(tenant, http=http, tokens={})
            users = [user["username"] for user in http.get(f"{tenant.url}/users", headers=tenant.as_admin).json()]
            assert keeps.username in users
            assert leaves.username not in users
            keeps = replace(keeps, tenant=tenant, token=login(tenant, keeps.username, f"password of {keeps.username}"))
            fetched = count(restored, "fetches")
            assert keeps.refresh(access_id).status_code in (200, 201, 202)
            keeps.wait_until(access_id, lambda access: count(restored, "fetches") > fetched)
            keeps.wait_until_complete(access_id)
            assert keeps.message_codes(access_id) == []
            assert len(keeps.transactions(keeps.product(access_id, "GIROKONTO"))) == before


async def test_a_manifest_says_what_a_backup_is_and_not_the_key(own, tmp_path):
    await make_users(own, "anna")
    facts = json.loads(run_kontor(own, "backup", tmp_path / "backup", "--json").stdout)
    manifest = json.loads((tmp_path / "backup" / MANIFEST).read_text())
    assert manifest["kontor_version"] == facts["kontor"] == __version__
    assert manifest["schema_version"] == read_migrations()[-1].version
    assert manifest["key_fingerprint"] == load_master_key(own).fingerprint
    assert (manifest["rows"]["users"], manifest["rows"]["tenants"]) == (1, 1)
    assert manifest["dump_bytes"] == (tmp_path / "backup" / DUMP).stat().st_size
    key = (own.data / "master.key").read_text().strip()
    assert key not in (tmp_path / "backup" / MANIFEST).read_text()
    assert [path.stat().st_mode & 0o077 for path in (tmp_path / "backup").rglob("*")] == [0, 0]


async def test_payments_that_were_open_count_as_sent_and_tokens_are_gone(own, tmp_path):
    await make_users(own, "anna")
    with psycopg.connect(own.migration_database_url.reveal()) as connection:
        connection.execute(OPEN_PAYMENT)
    run_kontor(own, "backup", tmp_path / "backup")
    with empty_database(own) as restored:
        run_kontor(restored, "restore", tmp_path / "backup", "--without-erasures")
        with psycopg.connect(restored.migration_database_url.reveal()) as connection:
            found = connection.execute("select state, expires_at <= now() from payments").fetchall()
        assert found == [("SENDING", True)]
        assert count(restored, "access_tokens") == 0


# Refusals


@pytest.fixture
def backup(own: Settings, tmp_path: Path) -> Path:
    make_backup(own.migration_database_url, load_master_key(own), tmp_path / "backup")
    return tmp_path / "backup"


def refuse(settings: Settings, *arguments: object) -> str:
    return run_kontor(settings, "restore", *arguments, code=1).stderr


def test_a_database_with_anything_in_it_is_not_restored_into(own, backup):
    assert "The database is not empty" in refuse(own, backup, "--without-erasures")


def test_without_the_log_of_erasures_nothing_is_restored_unless_that_is_said(own, backup):
    assert "name the log of erasures" in refuse(own, backup)


def test_a_backup_of_another_key_is_refused(own, backup):
    with pytest.raises(BackupError, match=load_master_key(own).fingerprint):
        read_backup(backup, generate_key())


def test_a_damaged_dump_is_refused(own, backup):
    dump, master = backup / DUMP, load_master_key(own)
    whole = dump.read_bytes()
    for position in (0, 1000, len(whole) - 1):
        dump.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(BackupError, match="is damaged or incomplete"):
            read_backup(backup, master)
    dump.write_bytes(whole[:-1])
    with pytest.raises(BackupError, match="is damaged or incomplete"):
        read_backup(backup, master)


def change_manifest(backup: Path, **changes: object) -> Manifest:
    changed = json.loads((backup / MANIFEST).read_text()) | changes
    (backup / MANIFEST).write_text(json.dumps(changed))
    return msgspec.convert(changed, Manifest)


def test_a_changed_manifest_is_refused(own, backup):
    change_manifest(backup, dump_sha256="0" * 64)
    with pytest.raises(BackupError, match="was changed"):
        read_backup(backup, load_master_key(own))
    (backup / MANIFEST).write_text("{")
    with pytest.raises(BackupError, match="is damaged"):
        read_backup(backup, load_master_key(own))


def test_a_schema_that_is_newer_than_the_program_is_refused(own, backup):
    facts = change_manifest(backup, schema_version=9999, kontor_version="99.0")
    change_manifest(backup, digest=facts.sign(load_master_key(own)).digest)
    with pytest.raises(BackupError, match=r"Install Kontor 99\.0 or newer"):
        read_backup(backup, load_master_key(own))


def test_a_backup_is_made_by_the_owner_and_never_over_another(own, backup, tmp_path):
    with pytest.raises(BackupError, match="Set KONTOR_MIGRATION_DATABASE_URL"):
        make_backup(own.database_url, load_master_key(own), tmp_path / "second")
    with pytest.raises(BackupError, match="never overwritten"):
        make_backup(own.migration_database_url, load_master_key(own), backup)
    assert {path.name for path in tmp_path.glob("*")} == {"backup"}


def test_a_program_of_another_version_is_not_used(tmp_path):
    with pytest.raises(ProgramError, match="postgresql-client-99"):
        find_program("pg_dump", 99)
    with pytest.raises(ProgramError, match="found: none"):
        find_program("pg_dump", 18, tmp_path)


@pytest.mark.long
def test_an_embedded_database_moves_to_another_folder(tmp_path):
    with own_database(tmp_path / "old") as (_, old):
        run_kontor(old, "tenant", "create", "acme", "--regulated")
        run_kontor(old, "backup", tmp_path / "backup")
        new = replace(old, data=tmp_path / "new", database_url=None, migration_database_url=None, is_embedded=False)
        assert "Put the master key of the backup into" in refuse(new, tmp_path / "backup", "--without-erasures")
        new.data.mkdir(exist_ok=True)
        (new.data / "master.key").write_bytes((old.data / "master.key").read_bytes())
        (new.data / "master.key").chmod(0o600)
        run_kontor(new, "restore", tmp_path / "backup", "--without-erasures")
        assert "acme" in run_kontor(new, "tenant", "list").stdout

"""What was erased stays erased, also when a backup from before is restored."""

from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import given_clusters
from kontor.bootstrap import open_services
from kontor.domain.errors import UnavailableError
from kontor.domain.secrets import Secret
from kontor.services.identity import NewUser, new_tenant
from processes import beside, run_kontor


@pytest.fixture
def own(settings, tmp_path):
    given_clusters.skip_where_given()
    with beside(settings, erasure_log=tmp_path / "logs" / "erasures.log") as own:
        yield own


async def make_users(settings, *names):
    async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
        await services.tenant_administration.create_tenant(new_tenant("acme", is_regulated=True))
        for name in names:
            await services.users.create_user_by_operator("acme", NewUser(name, Secret("a long password")))


async def list_users(settings):
    async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
        return sorted(user.username for user in await services.users.list_users_by_operator("acme"))


async def erase(settings, name):
    async with open_services(replace(settings, pool_size=2), "kontor tests") as services:
        await services.users.erase_user_by_operator("acme", name)


@pytest.mark.programs
async def test_a_user_whom_a_restored_database_brings_back_is_erased_again(own):
    await make_users(own, "anna", "bert")
    admin = own.migration_database_url.reveal()
    here = psycopg.conninfo.conninfo_to_dict(admin)["dbname"]
    backup = f"backup_{uuid4().hex[:8]}"
    with psycopg.connect(make_conninfo(admin, dbname="postgres"), autocommit=True) as server:
        server.execute(f"create database {backup} template {here}")
        await erase(own, "anna")
        assert await list_users(own) == ["bert"]
        server.execute(f"drop database {here} with (force)")
        server.execute(f"alter database {backup} rename to {here}")
    assert await list_users(own) == ["anna", "bert"]
    assert "Erased again: 1." in run_kontor(own, "erasures", "apply").stderr
    assert await list_users(own) == ["bert"]
    text = own.erasure_log.read_text()
    assert "anna" not in text
    assert "acme" not in text
    assert own.erasure_log.stat().st_mode & 0o777 == 0o600


async def test_what_cannot_be_logged_is_not_erased(own):
    await make_users(own, "anna")
    own.erasure_log.mkdir(parents=True)
    with pytest.raises(UnavailableError):
        await erase(own, "anna")
    assert await list_users(own) == ["anna"]


async def test_a_line_cut_by_a_crash_hides_no_other(own):
    await make_users(own, "anna", "bert")
    own.erasure_log.parent.mkdir()
    own.erasure_log.write_bytes(b'{"at": "2026')
    await erase(own, "anna")
    async with open_services(replace(own, pool_size=2), "kontor tests") as services:
        assert [len(services.users._erasures.read_erased()[0]), await services.users.erase_again([])] == [1, (0, 0)]

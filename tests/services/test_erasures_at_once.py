"""Two calls that erase the same user at the same time."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

import given_clusters
from known_merchants import make_tenant
from kontor import bootstrap
from kontor.domain.errors import NotFoundError
from kontor.domain.secrets import Secret
from kontor.services.identity.users import NewUser
from timeouts import WAIT_TIMEOUT_SECONDS

WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@pytest.mark.parametrize("has_data", [False, True])
async def test_one_erases_and_the_other_finds_nobody(own, has_data):
    given_clusters.skip_where_given("they wait on workers as well, and the coordinator does not tell")
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
            tenant = await make_tenant(services, owner, is_on=False)
            user = await services.users.create_user_by_operator(tenant.name, NewUser("anna", Secret("a long password")))
            await services.users.deactivate_user(tenant.principal, user)
            if has_data:
                owner.execute("insert into data_versions (user_id, version) values (%s, 1)", [user.id])
            with psycopg.connect(own.migration_database_url.reveal()) as holder:
                # Both have found the user when the first deletes it.
                holder.execute("select 1 from data_versions where user_id = %s for update", [user.id])
                holder.execute("select 1 from users where id = %s for update", [user.id])
                calls = [asyncio.create_task(services.users.erase_user(tenant.principal, user)) for _ in range(2)]
                async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
                    while owner.execute(WAITING).fetchone() != (2,):  # noqa: ASYNC110 (PostgreSQL tells it)
                        await asyncio.sleep(0.02)
            ended = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(error) for error in ended if error is not None] == [NotFoundError], ended
            audit = "select count(*) from audit_entries where action = 'user.erase' and object = %s"
            assert owner.execute(audit, [f"user {user.pseudonym}"]).fetchone() == (1,)
            assert owner.execute("select count(*) from users where id = %s", [user.id]).fetchone() == (0,)

"""The master key is lost: what is sealed goes, everything else stays, and customers can log in again."""

import base64
import secrets
from dataclasses import replace

from kontor.bootstrap import attach_embedded, load_master_key, migrate_database, open_services
from kontor.config import read_settings
from kontor.domain.secrets import Secret
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.storage import keys
from kontor.storage.embedded import EmbeddedPostgres
from kontor.storage.system_keys import load_digest_key, rewrap_system_keys


def make_master() -> Secret:
    return Secret(base64.b64encode(secrets.token_bytes(32)).decode())


async def test_lost_master_key_is_replaced_and_users_stay(tmp_path):
    server = EmbeddedPostgres(tmp_path)
    try:
        before = replace(
            attach_embedded(read_settings({}, data=tmp_path, demo_bank=True), server.start()), master_key=make_master()
        )
        migrate_database(before)
        async with open_services(before, "test") as services:
            await services.tenant_administration.create_tenant(new_tenant("acme", is_regulated=True))
            user = await services.users.create_user_by_operator("acme", NewUser("anna", Secret("pw")))
        after = replace(before, master_key=make_master())
        async with open_services(after, "test", skips_keys=True) as services:
            assert await services.tenant_administration.replace_lost_keys() == 0
        async with open_services(after, "test") as services, services.database.transaction() as connection:
            users = await services.users.list_users_by_operator("acme")
            assert [listed.id for listed in users] == [user.id]
            master = load_master_key(after)
            assert await keys.load_data_key(connection, master, user.id) is not None
            assert len(await services.tenant_administration.list_transport_keys("acme")) == 1
    finally:
        server.stop()


async def test_keyed_hashes_survive_a_new_master_key(services, settings):
    master = load_master_key(settings)
    new = keys.generate_key()
    async with services.database.transaction() as connection:
        first = await load_digest_key(connection, master)
        await rewrap_system_keys(connection, master, new)
        second = await load_digest_key(connection, new)
        assert first.digest("a", "b") == second.digest("a", "b")
        await rewrap_system_keys(connection, new, master)

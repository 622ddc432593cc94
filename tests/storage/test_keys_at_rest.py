"""Keys at rest: sealed values open only with their key and in their place, and a dump gives nothing away."""

import base64
import re
import secrets
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg.conninfo import conninfo_to_dict

from kontor.bootstrap import load_master_key, open_services
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.tokens import ClientLogin, TokenRequest
from kontor.services.identity.users import NewUser
from kontor.storage import keys
from kontor.storage.embedded_host import choose_service_user, find_binaries
from kontor.storage.keys import KeyUnusableError, SealingKey, generate_key
from kontor.storage.master_keys import KeyCommand, KeyFile, KeyText


def test_a_sealed_value_opens_with_its_key_in_its_place_only():
    key, other = generate_key(), generate_key()
    sealed = key.seal(b"secret", "user 1 pin")
    assert key.unseal(sealed, "user 1 pin") == b"secret"
    with pytest.raises(KeyUnusableError, match="moved to another place"):
        key.unseal(sealed, "user 2 pin")
    with pytest.raises(KeyUnusableError, match="another key"):
        other.unseal(sealed, "user 1 pin")


@pytest.mark.parametrize("position", [0, 1, 9, 20, 21, -1])
def test_a_changed_value_does_not_open(position):
    key = generate_key()
    sealed = bytearray(key.seal(b"secret", "place"))
    sealed[position] ^= 1
    with pytest.raises(KeyUnusableError):
        key.unseal(bytes(sealed), "place")
    for shorter in (b"", bytes(sealed[:5]), bytes(sealed[:21])):
        with pytest.raises(KeyUnusableError):
            key.unseal(shorter, "place")


def test_sealing_twice_gives_two_values_and_shows_nothing():
    key = generate_key()
    first, second = key.seal(b"secret", "place"), key.seal(b"secret", "place")
    assert first != second
    assert b"secret" not in first + second
    assert re.fullmatch(r"SealingKey\([0-9a-f]{16}\)", repr(key))


@pytest.mark.parametrize(
    "raw", [b"", b"short", b"\x00" * 32, b"0123456" * 4 + b"0123", bytes(range(31)), bytes(range(33))]
)
def test_weak_keys_are_refused(raw):
    with pytest.raises(KeyUnusableError):
        SealingKey(raw)
    with pytest.raises(KeyUnusableError, match="KONTOR_MASTER_KEY"):
        KeyText(Secret(base64.b64encode(raw).decode())).load()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "KONTOR_MASTER_KEY_COMMAND failed"),
        ("/no/such/program", "KONTOR_MASTER_KEY_COMMAND failed"),
        ("echo 'unfinished", "KONTOR_MASTER_KEY_COMMAND failed"),
        ("echo not-base64!", "is not Base64"),
    ],
)
def test_a_key_command_that_fails_is_told_without_its_output(command, message):
    with pytest.raises(KeyUnusableError, match=message) as error:
        KeyCommand(command).load()
    assert "not-base64!" not in str(error.value)


def test_the_key_file_is_made_once_and_must_stay_private(tmp_path):
    file = tmp_path / "new folder/master.key"
    first = KeyFile(file).load()
    assert KeyFile(file).load().id == first.id
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]
    file.chmod(0o640)
    with pytest.raises(KeyUnusableError, match="can be read by others"):
        KeyFile(file).load()


async def test_a_row_moved_to_another_user_or_tenant_does_not_open(services, settings, owner):
    master = load_master_key(settings)
    names = [f"k-{uuid4().hex[:8]}" for _ in "ab"]
    people = []
    for name in names:
        await services.tenant_administration.create_tenant(new_tenant(name, is_regulated=True))
        people += [
            await services.users.create_user_by_operator(name, NewUser(username, Secret("p"))) for username in "xy"
        ]
    async with services.database.connect() as connection:
        assert await keys.load_data_key(connection, master, people[0].id) is not None
    # Two users of one tenant, then two tenants.
    owner.execute(
        "update users set data_key = (select data_key from users where id = %s) where id = %s",
        [people[1].id, people[0].id],
    )
    owner.execute(
        "update tenant_keys set sealed = (select sealed from tenant_keys where tenant_id = %s and kind = 'wrapping')"
        " where tenant_id = %s and kind = 'wrapping'",
        [people[0].tenant_id, people[2].tenant_id],
    )
    async with services.database.connect() as connection:
        for person in (people[0], people[2]):
            with pytest.raises(KeyUnusableError, match="moved to another place"):
                await keys.load_data_key(connection, master, person.id)
    owner.execute("delete from tenants where name = any(%s)", [names])


async def test_the_wrong_master_key_is_refused_at_start_and_rewrap_changes_it(services, settings, shared):
    from dataclasses import replace

    old, text = load_master_key(settings), base64.b64encode(secrets.token_bytes(32)).decode()
    other = replace(settings, master_key=Secret(text), pool_size=2)
    with pytest.raises(KeyUnusableError, match="not the one"):
        async with open_services(other, "kontor tests"):
            pass
    new = load_master_key(other)
    count = await services.tenant_administration.rewrap_keys(new)
    assert count >= 2
    try:
        async with open_services(other, "kontor tests") as renewed, renewed.database.connect() as connection:
            tenant_id = (await renewed.tenant_administration.find_tenant(shared.name)).id
            assert len(await keys.load_private_keys(connection, new, tenant_id)) == 1
            with pytest.raises(KeyUnusableError, match="another key"):
                await keys.load_private_keys(connection, old, tenant_id)
    finally:
        async with open_services(other, "kontor tests") as renewed:
            assert await renewed.tenant_administration.rewrap_keys(old) == count


@pytest.mark.programs
async def test_a_dump_of_the_database_contains_no_secret(services, settings, data_dir):
    """Whoever steals a backup gets no password, client secret, token, API key, private key or master key."""
    name, password = f"d-{uuid4().hex[:8]}", f"password {uuid4().hex}"
    administration = services.tenant_administration
    await administration.create_tenant(new_tenant(name, is_regulated=True))
    _, secret = await administration.create_client(name, "app", ClientKind.USER, ["http://service/customer/read"])
    await services.users.create_user_by_operator(name, NewUser("bert", Secret(password)))
    key = await services.tokens.create_api_key(name, "app", "bert", None)
    login = ClientLogin(f"{name}/app", Secret(secret), "127.0.0.1")
    issued = await services.tokens.issue_token(login, TokenRequest("password", None, "bert", Secret(password)))
    master = load_master_key(settings)
    async with services.database.connect() as connection:
        tenant_id = (await administration.find_tenant(name)).id
        [private] = await keys.load_private_keys(connection, master, tenant_id)
    dump = dump_database(settings.migration_database_url.reveal())
    assert name.encode() in dump
    hidden = {
        "password": password.encode(),
        "client secret": secret.encode(),
        "token": issued.token.reveal().encode(),
        "API key": key.reveal().encode(),
        "private key": private.hex().encode()[200:264],
        "master key": (data_dir / "master.key").read_bytes().strip(),
        "any private key": b"PRIVATE KEY",
    }
    for what, value in hidden.items():
        assert value not in dump, what
        assert value.removeprefix(b"kontor_at_").removeprefix(b"kontor_key_") not in dump, what
        assert base64.b64encode(value) not in dump, what
        assert value.hex().encode() not in dump, what


def dump_database(address: str) -> bytes:
    parts = conninfo_to_dict(address)
    program = Path(find_binaries(choose_service_user())) / "pg_dump"
    command = [str(program), "-h", str(parts["host"]), "-U", str(parts["user"]), str(parts["dbname"])]
    return subprocess.run(command, env={"PGPASSWORD": str(parts["password"])}, capture_output=True, check=True).stdout

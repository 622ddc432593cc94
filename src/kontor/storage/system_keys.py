"""Keys of the installation itself, and the way back when the master key is lost."""

from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kontor.storage.database import Connection
from kontor.storage.keys import KEY_BYTES, SealingKey, generate_key
from kontor.storage.user_binding import bind_transaction

DIGEST = "digest"
PUSH = "push"
SIGNING = "signing"


def _associated_data(name: str) -> str:
    return f"system {name}"


async def load_digest_key(connection: Connection, master: SealingKey) -> SealingKey:
    """The key of all keyed hashes. Made at first use; of two processes that start at once, both get the same."""
    sealed = await _load(connection, DIGEST, master.wrap(generate_key(), _associated_data(DIGEST)))
    return master.unwrap(sealed, _associated_data(DIGEST))


async def load_push_key(connection: Connection, master: SealingKey) -> ec.EllipticCurvePrivateKey:
    """The key by which push services know this installation. Made at first use, and as `load_digest_key`."""
    place = _associated_data(PUSH)
    sealed = await _find(connection, PUSH)
    if sealed is None:
        number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        sealed = await _load(connection, PUSH, master.seal(number.to_bytes(KEY_BYTES, "big"), place))
    return ec.derive_private_key(int.from_bytes(master.unseal(sealed, place), "big"), ec.SECP256R1())


async def load_signing_key(connection: Connection, master: SealingKey) -> Ed25519PrivateKey:
    """The key that documents of this installation are signed with. Made at first use, and as `load_digest_key`.

    Its public half stays when the master key is lost, so that signatures can still be checked.
    """
    place = _associated_data(SIGNING)
    sealed = await _find(connection, SIGNING)
    if sealed is not None:
        return Ed25519PrivateKey.from_private_bytes(master.unseal(sealed, place))
    made = master.seal(Ed25519PrivateKey.generate().private_bytes_raw(), place)
    key = Ed25519PrivateKey.from_private_bytes(master.unseal(await _load(connection, SIGNING, made), place))
    await connection.execute(
        "insert into signing_keys (public_key) values (%s) on conflict do nothing",
        [key.public_key().public_bytes_raw()],
    )
    return key


async def replace_signing_key(connection: Connection, master: SealingKey) -> bytes:
    """The next document is signed with a new one. Returns its public half; those before stay."""
    await connection.execute("delete from system_keys where name = %s", [SIGNING])
    return (await load_signing_key(connection, master)).public_key().public_bytes_raw()


async def list_signing_keys(connection: Connection) -> list[Ed25519PublicKey]:
    """All that were ever used, the newest first."""
    cursor = await connection.execute("select public_key from signing_keys order by created_at desc, public_key")
    return [Ed25519PublicKey.from_public_bytes(bytes(row[0])) for row in await cursor.fetchall()]


async def _load(connection: Connection, name: str, sealed: bytes) -> bytes:
    """The key of this name; `sealed` if there was none."""
    await connection.execute(
        "insert into system_keys (name, sealed) values (%s, %s) on conflict do nothing", [name, sealed]
    )
    found = await _find(connection, name)
    assert found is not None
    return found


async def _find(connection: Connection, name: str) -> bytes | None:
    cursor = await connection.execute("select sealed from system_keys where name = %s", [name])
    row = await cursor.fetchone()
    return None if row is None else bytes(row[0])


async def rewrap_system_keys(connection: Connection, old: SealingKey, new: SealingKey) -> None:
    """As `rewrap_tenant_keys`."""
    cursor = await connection.execute(
        "select name, sealed from system_keys where substr(sealed, 2, 8) <> %s for update", [new.id]
    )
    for name, sealed in await cursor.fetchall():
        await connection.execute(
            "update system_keys set sealed = %s where name = %s",
            [new.seal(old.unseal(sealed, _associated_data(name)), _associated_data(name)), name],
        )


SECRETS_OF_ALL = (
    "delete from system_keys",
    "delete from redirect_sessions",
    "update webhooks set secrets = null, wrapping_key_id = null, previous_until = null, is_active = false",
)
SECRETS_OF_USER = (
    "delete from dialogues where user_id = %s",
    "delete from staged_fetches where user_id = %s",
    "delete from push_subscriptions where user_id = %s",
    "update payments set sealed = null, credentials = null where user_id = %s",
    "update fetches set state = 'INTERRUPTED', finished_at = now(), resume_state = null"
    " where user_id = %s and state in ('QUEUED', 'RUNNING', 'WAITING')",
)
FORGET_CREDENTIALS = """
    update accesses set credentials = null, credentials_digest = null, lease_key = null, memory = null,
        messages = '[{"kind": "INCOMPLETE_CREDENTIALS"}]' where user_id = %s
"""


async def forget_all_secrets(connection: Connection) -> int:
    """Delete whatever can no longer be opened: keys, credentials, open dialogues. Returns the number of accesses.

    Binds the transaction to one user after the other.
    """
    for statement in SECRETS_OF_ALL:
        await connection.execute(statement)
    # Payments outlive their users.
    cursor = await connection.execute("select id from users union select user_id from all_payments")
    count = 0
    for (user_id,) in await cursor.fetchall():
        await bind_transaction(connection, user_id)
        for statement in SECRETS_OF_USER:
            await connection.execute(statement, [user_id])
        count += (await connection.execute(FORGET_CREDENTIALS, [user_id])).rowcount
    return count


async def replace_tenant_keys(connection: Connection, tenant_id: UUID, kept: list[UUID]) -> None:
    """Only the keys just made stay."""
    await connection.execute("delete from tenant_keys where tenant_id = %s and not id = any(%s)", [tenant_id, kept])


async def list_users(connection: Connection, tenant_id: UUID) -> list[UUID]:
    cursor = await connection.execute("select id from users where tenant_id = %s", [tenant_id])
    return [row[0] for row in await cursor.fetchall()]


async def replace_data_key(connection: Connection, user_id: UUID, data_key: bytes, wrapping_key_id: UUID) -> None:
    await connection.execute(
        "update users set data_key = %s, wrapping_key_id = %s, data_key_at = now(), previous_data_key = null"
        " where id = %s",
        [data_key, wrapping_key_id, user_id],
    )

"""New keys for the data of users, and their data sealed anew, while everything runs (ADR 0082)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from kontor.services.security import auditing
from kontor.services.security.signatures import describe_key
from kontor.services.security.user_encryption import STATEMENT, digest_file, name_place, name_tenant_place
from kontor.storage import data_key_rotation, keys, system_keys
from kontor.storage.data_key_rotation import SEALED_COLUMNS, OldValue, SealedColumn, WrappingKey
from kontor.storage.database import Connection, Database
from kontor.storage.keys import DataKey, KeyUnusableError, SealingKey, generate_key

log = structlog.get_logger(__name__)
BATCH_USERS = 100


@dataclass(frozen=True, slots=True)
class Rotated:
    """`unreadable`: values that neither of the two keys opens. They stay as they are, and so does the key before."""

    users: int = 0
    values: int = 0
    unreadable: int = 0

    def __add__(self, other: "Rotated") -> "Rotated":
        return Rotated(self.users + other.users, self.values + other.values, self.unreadable + other.unreadable)


class KeyRotation:
    """Every step is committed by itself. Whatever is interrupted goes on with the next call."""

    def __init__(self, database: Database, master: SealingKey) -> None:
        self._database = database
        self._master = master

    async def rotate(self, tenant_id: UUID, made_before: datetime) -> Rotated:
        """A new wrapping key for the tenant and new data keys for its users, where theirs are older than this time."""
        wrapping = await self._replace_wrapping_key(tenant_id, made_before)
        rotated = Rotated()
        after: UUID | None = None
        while True:
            batch, after = await self._replace_data_keys(tenant_id, wrapping, made_before, after)
            rotated += batch
            if after is None:
                return rotated + await self.finish(tenant_id)

    async def finish(self, tenant_id: UUID | None = None) -> Rotated:
        """Seal anew what is sealed with keys before, and forget those that nobody needs any more."""
        rotated = Rotated()
        after: UUID | None = None
        while True:
            async with self._database.connect() as connection:
                found = await data_key_rotation.list_unfinished(connection, tenant_id, after, BATCH_USERS)
            for user_id in found:
                try:
                    rotated += await self._seal_anew(user_id)
                except KeyUnusableError:
                    log.warning("key.data-key-unreadable", user=str(user_id))
                    rotated += Rotated(unreadable=1)
            if len(found) < BATCH_USERS:
                break
            after = found[-1]
        return rotated

    async def replace_signing_key(self) -> str:
        """For credit files from now on. Those signed before are still checked by the key before. Returns the new id."""
        async with self._database.transaction() as connection:
            public = await system_keys.replace_signing_key(connection, self._master)
            key_id = describe_key(Ed25519PublicKey.from_public_bytes(public)).id
            await auditing.record(connection, None, auditing.OPERATOR, "key.rotate", f"signing key {key_id}")
        return key_id

    # Keys

    async def _replace_wrapping_key(self, tenant_id: UUID, made_before: datetime) -> WrappingKey:
        async with self._database.transaction() as connection:
            if await data_key_rotation.is_wrapping_key_older(connection, tenant_id, made_before):
                made = await keys.store_wrapping_key(connection, self._master, tenant_id)
                await auditing.record(connection, tenant_id, auditing.OPERATOR, "key.rotate", f"wrapping key {made}")
        async with self._database.connect() as connection:
            newest, key = await keys.load_wrapping_key(connection, self._master, tenant_id)
            for webhook_id, old_id, old in await data_key_rotation.list_old_secrets(connection, tenant_id, newest):
                place = name_tenant_place(tenant_id, f"webhook {webhook_id} secrets")
                opened = await keys.find_wrapping_key(connection, self._master, tenant_id, old_id)
                sealed = key.seal(opened.unseal(old, place), place)
                await data_key_rotation.replace_secrets(connection, webhook_id, newest, old, sealed)
            await data_key_rotation.delete_unused_wrapping_keys(connection, tenant_id)
        return WrappingKey(newest, key)

    async def _replace_data_keys(
        self, tenant_id: UUID, wrapping: WrappingKey, made_before: datetime, after: UUID | None
    ) -> tuple[Rotated, UUID | None]:
        """Of a batch of users after this one, and the last of them; None after the last batch."""
        count = unreadable = 0
        async with self._database.transaction() as connection:
            found = await data_key_rotation.take_old_keys(connection, tenant_id, made_before, after, BATCH_USERS)
            for old in found:
                opener = await keys.find_wrapping_key(connection, self._master, tenant_id, old.wrapping_key_id)
                try:
                    key = DataKey(generate_key(), keys.unwrap_data_key(opener, old.user_id, old.data_key))
                except KeyUnusableError:
                    log.warning("key.data-key-unreadable", user=str(old.user_id))
                    unreadable += 1
                    continue
                await data_key_rotation.replace_data_key(connection, old.user_id, key, wrapping)
                count += 1
            if count:
                subject = f"data keys of {count} users"
                await auditing.record(connection, tenant_id, auditing.OPERATOR, "key.rotate", subject)
        is_last = len(found) < BATCH_USERS
        return Rotated(count, 0, unreadable), None if is_last else found[-1].user_id

    # What is sealed

    async def _seal_anew(self, user_id: UUID) -> Rotated:
        async with self._database.connect(user_id) as connection:
            key = await keys.load_data_key(connection, self._master, user_id)
            if key is None or key.previous is None:  # erased, or finished by somebody else
                return Rotated()
            rotated = Rotated()
            for column in SEALED_COLUMNS:
                rotated += await self._seal_column(connection, column, user_id, key)
            if not rotated.unreadable:
                await data_key_rotation.forget_previous_key(connection, user_id)
        return rotated

    async def _seal_column(self, connection: Connection, column: SealedColumn, user_id: UUID, key: DataKey) -> Rotated:
        values = unreadable = 0
        while old := await data_key_rotation.find_old_value(connection, column, user_id, key.id, unreadable):
            place = name_place(user_id, old.access_id, old.what)
            try:
                plain = key.unseal(old.sealed, place)
            except KeyUnusableError:
                log.warning("key.value-unreadable", user=str(user_id), column=f"{column.table}.{column.name}")
                unreadable += 1
                continue
            await _replace(connection, user_id, old, key, key.seal(plain, place), plain)
            values += 1
        return Rotated(values=values, unreadable=unreadable)


async def _replace(
    connection: Connection, user_id: UUID, old: OldValue, key: DataKey, sealed: bytes, plain: bytes
) -> None:
    if old.column.table != "account_statements":
        await data_key_rotation.replace_value(connection, user_id, old, sealed)
        return
    digest = digest_file(key, STATEMENT, plain)[0]
    await data_key_rotation.replace_statement(connection, user_id, old, sealed, digest)

"""Credentials and other secrets of an access, sealed with the user's own key."""

import hashlib
from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kontor.domain.errors import NotFoundError
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.storage import keys, system_keys
from kontor.storage.database import Connection
from kontor.storage.keys import DataKey, SealingKey

T = TypeVar("T")

STATEMENT = "account statement"  # what is sealed


class UserEncryption:
    """`digests` is the installation's own key for keyed hashes, which a change of the master key leaves alone."""

    def __init__(self, master: SealingKey, digests: SealingKey) -> None:
        self._master = master
        self._digests = digests

    async def seal(self, connection: Connection, user_id: UUID, access_id: str, what: str, value: Any) -> bytes:
        key = await self._user_key(connection, user_id)
        return key.seal(msgspec.json.encode(value), name_place(user_id, access_id, what))

    async def unseal(
        self, connection: Connection, user_id: UUID, access_id: str, what: str, sealed: bytes, shape: type[T]
    ) -> T:
        key = await self._user_key(connection, user_id)
        return msgspec.json.decode(key.unseal(sealed, name_place(user_id, access_id, what)), type=shape)

    async def seal_file(
        self, connection: Connection, user_id: UUID, access_id: str, what: str, content: bytes
    ) -> tuple[list[bytes], bytes]:
        """Its keyed hashes (`digest_file`), and the sealed file."""
        key = await self._user_key(connection, user_id)
        return digest_file(key, what, content), key.seal(content, name_place(user_id, access_id, what))

    async def unseal_file(
        self, connection: Connection, user_id: UUID, access_id: str, what: str, sealed: bytes
    ) -> bytes:
        key = await self._user_key(connection, user_id)
        return key.unseal(sealed, name_place(user_id, access_id, what))

    async def seal_credentials(
        self, connection: Connection, user_id: UUID, access_id: str, credentials: Mapping[str, Secret]
    ) -> bytes:
        plain = {name: value.reveal() for name, value in credentials.items()}
        return await self.seal(connection, user_id, access_id, "credentials", plain)

    async def open_access(
        self, connection: Connection, user_id: UUID, access_id: str, credentials: bytes, connector_state: bytes | None
    ) -> tuple[dict[str, Secret], Any]:
        """Credentials, and what a connector remembers, if anything."""
        key = await self._user_key(connection, user_id)
        plain = msgspec.json.decode(key.unseal(credentials, name_place(user_id, access_id, "credentials")))
        remembered = (
            None
            if connector_state is None
            else msgspec.json.decode(key.unseal(connector_state, name_place(user_id, access_id, "memory")))
        )
        return {name: Secret(value) for name, value in plain.items()}, remembered

    async def seal_for_tenant(
        self, connection: Connection, tenant_id: UUID, what: str, value: Any
    ) -> tuple[UUID, bytes]:
        """For secrets of a tenant itself. With the id of the key, which is needed to open it again."""
        key_id, key = await keys.load_wrapping_key(connection, self._master, tenant_id)
        return key_id, key.seal(msgspec.json.encode(value), name_tenant_place(tenant_id, what))

    async def unseal_for_tenant(
        self, connection: Connection, tenant_id: UUID, what: str, key_id: UUID, sealed: bytes
    ) -> Any:
        key = await keys.find_wrapping_key(connection, self._master, tenant_id, key_id)
        return msgspec.json.decode(key.unseal(sealed, name_tenant_place(tenant_id, what)))

    def digest_credentials(self, credentials: Mapping[str, Secret]) -> bytes:
        """Equal for equal credentials."""
        parts = [part for name in sorted(credentials) for part in (name, credentials[name].reveal())]
        return self._digests.digest("credentials", *parts)

    def digest_login(self, provider: Provider, credentials: Mapping[str, Secret], user_id: UUID) -> bytes:
        """Names the set of credentials at the bank: equal for the same login, whoever uses it.

        Where no secret is asked for, what is entered is no login: each user has a set of his own.
        """
        open_fields = [field.key for field in provider.login_fields if not field.is_secret]
        owner = [] if any(field.is_secret for field in provider.login_fields) else [str(user_id)]
        parts = [credentials[key].reveal() for key in open_fields]
        return self._digests.digest("login", str(provider.id), *parts, *owner)

    def digest_endpoint(self, endpoint: str) -> bytes:
        """Equal for the same browser, whoever uses it."""
        return self._digests.digest("push endpoint", endpoint)

    async def load_push_key(self, connection: Connection) -> EllipticCurvePrivateKey:
        """The installation's, for push services."""
        return await system_keys.load_push_key(connection, self._master)

    async def load_signing_key(self, connection: Connection) -> Ed25519PrivateKey:
        """The installation's, for documents."""
        return await system_keys.load_signing_key(connection, self._master)

    def name_customer(self, user_id: UUID) -> str:
        """An opaque name for a user, to be shown to a connector."""
        return self._digests.digest("customer", str(user_id)).hex()[:32]

    async def _user_key(self, connection: Connection, user_id: UUID) -> DataKey:
        key = await keys.load_data_key(connection, self._master, user_id)
        if key is None:
            raise NotFoundError
        return key


def digest_file(key: DataKey, what: str, content: bytes) -> list[bytes]:
    """What a file is known again by: under the user's key, and under the one before, if there is one."""
    return key.digest(what, hashlib.sha256(content).hexdigest())


def name_place(user_id: UUID, access_id: str, what: str) -> str:
    """What a sealed value is bound to: copied to another place, it does not open."""
    return f"user {user_id} access {access_id} {what}"


def name_tenant_place(tenant_id: UUID, what: str) -> str:
    return f"tenant {tenant_id} {what}"

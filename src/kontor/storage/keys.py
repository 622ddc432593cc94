"""Keys for data at rest: the master key wraps tenant keys, a tenant's wrapping key wraps its users' data keys."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from cryptography import x509
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID

from kontor.storage.database import Connection

KEY_BYTES: Final = 32
TRANSPORT_KEY_BITS: Final = 3072
CERTIFICATE_DAYS: Final = 3650


class KeyUnusableError(Exception):
    """A key that is missing, weak or wrong, in words for the operator."""


class SealingKey:
    """An AES-256-GCM key. Every sealed value names its key and is bound to its associated data: what it belongs to."""

    __slots__ = ("_cipher", "_raw", "id")

    def __init__(self, raw: bytes) -> None:
        if len(raw) != KEY_BYTES or len(set(raw)) < 8:
            raise KeyUnusableError("A key must be 32 random bytes.")
        self._raw = raw
        self._cipher = AESGCM(raw)
        self.id = hashlib.sha256(b"kontor key id" + raw).digest()[:8]

    def __repr__(self) -> str:
        return f"SealingKey({self.fingerprint})"

    @property
    def fingerprint(self) -> str:
        """Names the key and tells nothing about it."""
        return self.id.hex()

    def seal(self, plaintext: bytes, associated_data: str) -> bytes:
        nonce = secrets.token_bytes(12)
        return b"\x01" + self.id + nonce + self._cipher.encrypt(nonce, plaintext, associated_data.encode())

    def unseal(self, sealed: bytes, associated_data: str) -> bytes:
        if sealed[:1] != b"\x01" or sealed[1:9] != self.id:
            raise KeyUnusableError("This value was sealed with another key.")
        try:
            return self._cipher.decrypt(sealed[9:21], sealed[21:], associated_data.encode())
        except InvalidTag:
            raise KeyUnusableError("This value was changed, or moved to another place.") from None

    def digest(self, *parts: str) -> bytes:
        """A keyed hash: equal for equal parts, and telling nothing to who does not have the key."""
        message = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hmac.digest(self._raw, message, "sha256")

    def wrap(self, inner: "SealingKey", associated_data: str) -> bytes:
        return self.seal(inner._raw, associated_data)

    def unwrap(self, sealed: bytes, associated_data: str) -> "SealingKey":
        return SealingKey(self.unseal(sealed, associated_data))


@dataclass(frozen=True, slots=True)
class DataKey:
    """A user's key. The one before, where there is one, opens what is not sealed anew yet."""

    current: SealingKey
    previous: SealingKey | None = None

    @property
    def id(self) -> bytes:
        return self.current.id

    def seal(self, plaintext: bytes, associated_data: str) -> bytes:
        return self.current.seal(plaintext, associated_data)

    def unseal(self, sealed: bytes, associated_data: str) -> bytes:
        is_older = self.previous is not None and sealed[1:9] == self.previous.id
        key = self.previous if self.previous is not None and is_older else self.current
        return key.unseal(sealed, associated_data)

    def digest(self, *parts: str) -> list[bytes]:
        """The keyed hash; after it the one under the key before, if there is one."""
        return [key.digest(*parts) for key in (self.current, self.previous) if key is not None]


def generate_key() -> SealingKey:
    return SealingKey(secrets.token_bytes(KEY_BYTES))


async def refuse_wrong_master_key(connection: Connection, *masters: SealingKey) -> None:
    """At start, rather than with the first request that needs a key. Each key must be wrapped with one of these."""
    cursor = await connection.execute(
        "select 1 from tenant_keys where substr(sealed, 2, 8) <> all(%s) limit 1", [[master.id for master in masters]]
    )
    if await cursor.fetchone() is not None:
        raise KeyUnusableError("The master key is not the one that this database's keys are wrapped with.")


# A tenant's keys


@dataclass(frozen=True, slots=True)
class TransportKey:
    id: UUID
    certificate: str
    created_at: datetime


def _associated_data(tenant_id: UUID, kind: str, key_id: UUID) -> str:
    return f"tenant {tenant_id} {kind} {key_id}"


def _generate_rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=TRANSPORT_KEY_BITS)


def generate_transport_key(tenant_name: str) -> tuple[bytes, str]:
    """An RSA key (PKCS#8) and its self-signed certificate (PEM)."""
    key = _generate_rsa_key()
    name = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, tenant_name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kontor")]
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=CERTIFICATE_DAYS))
        .add_extension(x509.KeyUsage(False, False, True, False, False, False, False, False, False), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM).decode()


async def store_transport_key(
    connection: Connection, master: SealingKey, tenant_id: UUID, private: bytes, certificate: str
) -> UUID:
    key_id = uuid4()
    sealed = master.seal(private, _associated_data(tenant_id, "transport", key_id))
    await connection.execute(
        "insert into tenant_keys (id, tenant_id, kind, sealed, certificate) values (%s, %s, 'transport', %s, %s)",
        [key_id, tenant_id, sealed, certificate],
    )
    return key_id


async def store_wrapping_key(connection: Connection, master: SealingKey, tenant_id: UUID) -> UUID:
    key_id = uuid4()
    sealed = master.wrap(generate_key(), _associated_data(tenant_id, "wrapping", key_id))
    await connection.execute(
        "insert into tenant_keys (id, tenant_id, kind, sealed) values (%s, %s, 'wrapping', %s)",
        [key_id, tenant_id, sealed],
    )
    return key_id


async def find_certificate(connection: Connection, tenant_id: UUID) -> str | None:
    cursor = await connection.execute(
        "select certificate from tenant_keys where tenant_id = %s and kind = 'transport'"
        " order by created_at desc limit 1",
        [tenant_id],
    )
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def list_transport_keys(connection: Connection, tenant_id: UUID) -> list[TransportKey]:
    cursor = await connection.execute(
        "select id, certificate, created_at from tenant_keys"
        " where tenant_id = %s and kind = 'transport' order by created_at desc",
        [tenant_id],
    )
    return [TransportKey(*row) for row in await cursor.fetchall()]


async def load_private_keys(connection: Connection, master: SealingKey, tenant_id: UUID) -> list[bytes]:
    """The current private key and the previous one, newest first: callers may still hold the old certificate."""
    cursor = await connection.execute(
        "select id, sealed from tenant_keys"
        " where tenant_id = %s and kind = 'transport' order by created_at desc limit 2",
        [tenant_id],
    )
    return [
        master.unseal(sealed, _associated_data(tenant_id, "transport", key_id))
        for key_id, sealed in await cursor.fetchall()
    ]


async def load_wrapping_key(connection: Connection, master: SealingKey, tenant_id: UUID) -> tuple[UUID, SealingKey]:
    """The newest wrapping key, for wrapping."""
    cursor = await connection.execute(
        "select id, sealed from tenant_keys where tenant_id = %s and kind = 'wrapping'"
        " order by created_at desc limit 1",
        [tenant_id],
    )
    row = await cursor.fetchone()
    if row is None:
        raise KeyUnusableError("The tenant has no wrapping key.")
    return row[0], master.unwrap(row[1], _associated_data(tenant_id, "wrapping", row[0]))


async def find_wrapping_key(connection: Connection, master: SealingKey, tenant_id: UUID, key_id: UUID) -> SealingKey:
    """That very one, for what was sealed with it."""
    cursor = await connection.execute(
        "select sealed from tenant_keys where tenant_id = %s and id = %s and kind = 'wrapping'", [tenant_id, key_id]
    )
    row = await cursor.fetchone()
    if row is None:
        raise KeyUnusableError("The tenant has no such wrapping key.")
    return master.unwrap(row[0], _associated_data(tenant_id, "wrapping", key_id))


async def make_data_key(
    connection: Connection, master: SealingKey, tenant_id: UUID, user_id: UUID
) -> tuple[UUID, bytes]:
    """A new user's data key, wrapped; and the id of the key it is wrapped with."""
    wrapping_id, wrapping = await load_wrapping_key(connection, master, tenant_id)
    return wrapping_id, wrap_data_key(wrapping, user_id, DataKey(generate_key()))[0]


async def load_data_key(connection: Connection, master: SealingKey, user_id: UUID) -> DataKey | None:
    """The key for one user's data, or None when the user is gone."""
    cursor = await connection.execute(
        "select u.data_key, u.previous_data_key, k.id, k.tenant_id, k.sealed"
        " from users u join tenant_keys k on k.id = u.wrapping_key_id where u.id = %s",
        [user_id],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    data_key, previous, key_id, tenant_id, sealed = row
    wrapping = master.unwrap(sealed, _associated_data(tenant_id, "wrapping", key_id))
    return DataKey(
        unwrap_data_key(wrapping, user_id, data_key),
        None if previous is None else wrapping.unwrap(previous, f"user {user_id} previous data key"),
    )


def unwrap_data_key(wrapping: SealingKey, user_id: UUID, data_key: bytes) -> SealingKey:
    return wrapping.unwrap(data_key, f"user {user_id} data key")


def wrap_data_key(wrapping: SealingKey, user_id: UUID, key: DataKey) -> tuple[bytes, bytes | None]:
    """As `load_data_key` opens it: the key, and the one before."""
    previous = None if key.previous is None else wrapping.wrap(key.previous, f"user {user_id} previous data key")
    return wrapping.wrap(key.current, f"user {user_id} data key"), previous


async def rewrap_tenant_keys(connection: Connection, old: SealingKey, new: SealingKey) -> int:
    """Seal every tenant key under a new master key; those that are already are left alone. Returns how many were not.

    Nothing below the tenant keys has to change.
    """
    cursor = await connection.execute(
        "select id, tenant_id, kind, sealed from tenant_keys where substr(sealed, 2, 8) <> %s for update", [new.id]
    )
    rows = await cursor.fetchall()
    for key_id, tenant_id, kind, sealed in rows:
        associated_data = _associated_data(tenant_id, kind, key_id)
        await connection.execute(
            "update tenant_keys set sealed = %s where id = %s",
            [new.seal(old.unseal(sealed, associated_data), associated_data), key_id],
        )
    return len(rows)

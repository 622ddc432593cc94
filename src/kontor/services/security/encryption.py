"""Encrypting credentials for a tenant, and reading them again."""

import base64
import binascii
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.services.runtime import run_in
from kontor.storage import keys
from kontor.storage.database import Database
from kontor.storage.keys import SealingKey

MAX_PLAINTEXT_BYTES = 256
DECRYPTION_THREADS = 2
# SHA-256 is ours; SHA-1 with MGF1 is what existing client libraries of such services use.
_PADDINGS = tuple(
    padding.OAEP(mgf=padding.MGF1(algorithm()), algorithm=algorithm(), label=None)
    for algorithm in (hashes.SHA256, hashes.SHA1)
)


class Encryption:
    def __init__(self, database: Database, master: SealingKey) -> None:
        self._database = database
        self._master = master
        self._threads = ThreadPoolExecutor(DECRYPTION_THREADS, "decryption")

    async def encrypt(self, principal: Principal, plaintext: bytes) -> bytes:
        if len(plaintext) > MAX_PLAINTEXT_BYTES:
            raise InvalidError(f"at most {MAX_PLAINTEXT_BYTES} bytes can be encrypted", "body")
        async with self._database.connect() as connection:
            pem = await keys.find_certificate(connection, principal.tenant_id)
        if pem is None:
            raise NotFoundError
        public = x509.load_pem_x509_certificate(pem.encode()).public_key()
        assert isinstance(public, rsa.RSAPublicKey)
        return public.encrypt(plaintext, _PADDINGS[0])

    async def decrypt(self, tenant_id: UUID, values: dict[str, str]) -> dict[str, Secret]:
        """Read encrypted values. The error never tells which part was wrong, nor how."""
        async with self._database.connect() as connection:
            raw_keys = await keys.load_private_keys(connection, self._master, tenant_id)
        # RSA takes milliseconds: not in the event loop, where every other request would wait for it.
        return await run_in(self._threads, _decrypt_all, raw_keys, values)


def _decrypt_all(raw_keys: Sequence[bytes], values: dict[str, str]) -> dict[str, Secret]:
    privates = []
    for raw in raw_keys:
        # The key was sealed by ourselves; checking its primes again would take half a second.
        private = serialization.load_der_private_key(raw, None, unsafe_skip_rsa_key_validation=True)
        assert isinstance(private, rsa.RSAPrivateKey)
        privates.append(private)
    return {name: _decrypt_one(privates, value) for name, value in values.items()}


def _decrypt_one(privates: Sequence[rsa.RSAPrivateKey], value: str) -> Secret:
    try:
        ciphertext = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        ciphertext = b""
    for private in privates:
        for scheme in _PADDINGS:
            try:
                return Secret(private.decrypt(ciphertext, scheme).decode())
            except ValueError:
                continue
    raise InvalidError("could not be decrypted with the tenant's keys", "credentials")

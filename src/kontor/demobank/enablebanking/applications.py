"""Applications that may call the service: known by a public key, and by the addresses to which customers return."""

import time
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from kontor.demobank.enablebanking.exchanges import RefusedError

KEY_BITS = 2048
ISSUER, AUDIENCE = "enablebanking.com", "api.enablebanking.com"
MAX_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class DemoApplication:
    id: str
    key: RSAPublicKey
    redirect_urls: tuple[str, ...]
    is_active: bool = True


def make_application(folder: Path, redirect_urls: tuple[str, ...]) -> tuple[DemoApplication, Path]:
    """With the key in this folder, or a new one. The file bears the application's id, as at Enable Banking."""
    folder.mkdir(parents=True, exist_ok=True)
    file = next(iter(sorted(folder.glob("*.pem"))), None)
    if file is None:
        file = folder / f"{uuid4()}.pem"
        key = generate_private_key(public_exponent=65537, key_size=KEY_BITS)
        file.touch(mode=0o600)
        file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    loaded = load_pem_private_key(file.read_bytes(), None)
    assert isinstance(loaded, RSAPrivateKey)
    return DemoApplication(str(UUID(file.stem)), loaded.public_key(), redirect_urls), file


def check_token(application: DemoApplication, header: str | None) -> None:
    """Raises RefusedError for any but a token that the application has signed. By the real clock."""
    if not header:
        raise RefusedError("AUTHORIZATION_NOT_PROVIDED")
    kind, _, token = header.partition(" ")
    parts = token.split(".")
    if kind != "Bearer" or len(parts) != 3:
        raise RefusedError("UNAUTHORIZED_ACCESS")
    try:
        named, claims = (_decode(part) for part in parts[:2])
        signature = urlsafe_b64decode(parts[2] + "==")
        application.key.verify(signature, f"{parts[0]}.{parts[1]}".encode(), PKCS1v15(), SHA256())
    except (ValueError, InvalidSignature):
        raise RefusedError("UNAUTHORIZED_ACCESS") from None
    wanted = {"typ": "JWT", "alg": "RS256", "kid": application.id}
    now, issued, ends = time.time(), claims.get("iat"), claims.get("exp")
    is_timely = isinstance(issued, int) and isinstance(ends, int) and issued <= now < ends <= issued + MAX_SECONDS
    if named != wanted or not is_timely or (claims.get("iss"), claims.get("aud")) != (ISSUER, AUDIENCE):
        raise RefusedError("UNAUTHORIZED_ACCESS")
    if not application.is_active:
        raise RefusedError("ACCESS_DENIED")


def _decode(part: str) -> dict[str, Any]:
    return msgspec.json.decode(urlsafe_b64decode(part + "=="), type=dict[str, Any])

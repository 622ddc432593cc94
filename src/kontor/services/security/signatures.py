"""Detached signatures of documents (RFC 7515, appendix F) with Ed25519 (RFC 8037), and the keys to check them by."""

import base64
import hashlib
import json
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


@dataclass(frozen=True, slots=True)
class PublicKey:
    """As a JSON Web Key names it: `id` is its thumbprint (RFC 7638), `x` the key itself."""

    id: str
    x: str


def describe_key(key: Ed25519PublicKey) -> PublicKey:
    x = _encode(key.public_bytes_raw())
    thumbprint = hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest()
    return PublicKey(_encode(thumbprint), x)


def sign_detached(key: Ed25519PrivateKey, content: bytes) -> str:
    """`header..signature`; the same content and key give the same signature."""
    header = {"alg": "EdDSA", "kid": describe_key(key.public_key()).id}
    protected = _encode(json.dumps(header, separators=(",", ":")).encode())
    return f"{protected}..{_encode(key.sign(f'{protected}.{_encode(content)}'.encode()))}"


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

"""DPoP (RFC 9449): tokens that are of use only to the holder of a key."""

import hashlib
import time
from base64 import urlsafe_b64encode
from secrets import token_urlsafe
from typing import Self

import msgspec
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from kontor_client.errors import KontorClientError

_SIZE = 32


class ProofKey:
    """A private key (P-256). Tokens that a client gets with it are useless without it."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        if not isinstance(key.curve, ec.SECP256R1):
            raise KontorClientError("A key for DPoP must be of the curve P-256.")
        self._key = key
        numbers = key.public_key().public_numbers()
        x, y = (_encode(number.to_bytes(_SIZE)) for number in (numbers.x, numbers.y))
        self._jwk = {"crv": "P-256", "kty": "EC", "x": x, "y": y}

    @classmethod
    def generate(cls) -> Self:
        """A new key, for a program that gets a new token at each start."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def load(cls, pem: bytes, password: bytes | None = None) -> Self:
        """A key that was kept, in PEM."""
        key = serialization.load_pem_private_key(pem, password)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise KontorClientError("A key for DPoP must be of the curve P-256.")
        return cls(key)

    @property
    def thumbprint(self) -> str:
        """RFC 7638; introspection shows it as `cnf.jkt`."""
        return _encode(hashlib.sha256(msgspec.json.encode(self._jwk)).digest())

    def make_proof(self, method: str, url: str, token: str | None = None, nonce: str | None = None) -> str:
        """The header DPoP of one request; each request needs its own. `url` without query and fragment."""
        claims = {"jti": token_urlsafe(16), "htm": method, "htu": url, "iat": int(time.time())}
        if token is not None:
            claims["ath"] = _encode(hashlib.sha256(token.encode()).digest())
        if nonce is not None:
            claims["nonce"] = nonce
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self._jwk}
        signed = f"{_encode(msgspec.json.encode(header))}.{_encode(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_encode(r.to_bytes(_SIZE) + s.to_bytes(_SIZE))}"

    def __repr__(self) -> str:
        return f"ProofKey({self.thumbprint!r})"


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()

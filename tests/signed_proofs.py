"""DPoP proofs made by hand: right ones, and ones that are wrong in one place."""

import base64
import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

CURVES = {
    "ES256": ("P-256", ec.SECP256R1(), hashes.SHA256()),
    "ES384": ("P-384", ec.SECP384R1(), hashes.SHA384()),
    "ES512": ("P-521", ec.SECP521R1(), hashes.SHA512()),
}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encode_number(number: int, size: int | None = None) -> str:
    return encode(number.to_bytes(size or (number.bit_length() + 7) // 8))


@dataclass(frozen=True)
class Signer:
    """A key, and the algorithm that it signs with."""

    algorithm: str
    key: Any
    jwk: dict[str, str]

    def sign(self, header: dict[str, Any] | str, claims: dict[str, Any] | str) -> str:
        parts = [part if isinstance(part, str) else json.dumps(part) for part in (header, claims)]
        signed = ".".join(encode(part.encode()) for part in parts)
        return f"{signed}.{encode(self._signature(signed.encode()))}"

    def _signature(self, signed: bytes) -> bytes:
        if self.algorithm == "EdDSA":
            return self.key.sign(signed)
        if self.algorithm == "PS256":
            return self.key.sign(signed, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
        _, curve, digest = CURVES[self.algorithm]
        size = (curve.key_size + 7) // 8
        r, s = decode_dss_signature(self.key.sign(signed, ec.ECDSA(digest)))
        return r.to_bytes(size) + s.to_bytes(size)

    @property
    def header(self) -> dict[str, Any]:
        return {"typ": "dpop+jwt", "alg": self.algorithm, "jwk": self.jwk}

    @property
    def thumbprint(self) -> str:
        members = {name: value for name, value in self.jwk.items() if name in ("crv", "e", "kty", "n", "x", "y")}
        text = json.dumps(members, separators=(",", ":"), sort_keys=True)
        return encode(hashlib.sha256(text.encode()).digest())

    def prove(self, method: str, url: str, token: str | None = None, **claims: Any) -> str:
        """A proof; a claim that is None is left out."""
        made = {"jti": uuid4().hex, "htm": method, "htu": url, "iat": int(time.time())}
        if token is not None:
            made["ath"] = encode(hashlib.sha256(token.encode()).digest())
        made |= claims
        return self.sign(self.header, {name: value for name, value in made.items() if value is not None})


def make_signer(algorithm: str = "ES256") -> Signer:
    if algorithm == "EdDSA":
        key: Any = ed25519.Ed25519PrivateKey.generate()
        x = encode(key.public_key().public_bytes_raw())
        return Signer(algorithm, key, {"kty": "OKP", "crv": "Ed25519", "x": x})
    if algorithm == "PS256":
        key = rsa.generate_private_key(65537, 2048)
        public = key.public_key().public_numbers()
        return Signer(algorithm, key, {"kty": "RSA", "n": encode_number(public.n), "e": encode_number(public.e)})
    name, curve, _ = CURVES[algorithm]
    key = ec.generate_private_key(curve)
    point, size = key.public_key().public_numbers(), (curve.key_size + 7) // 8
    x, y = encode_number(point.x, size), encode_number(point.y, size)
    return Signer(algorithm, key, {"kty": "EC", "crv": name, "x": x, "y": y})

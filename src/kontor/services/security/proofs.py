"""DPoP proofs (RFC 9449): signed JWTs by which a caller shows that it has the private key of its token."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from kontor.domain.errors import KontorError

ALGORITHMS = ("ES256", "ES384", "ES512", "EdDSA", "PS256")
MAX_PROOF_LENGTH = 8192
MAX_ID_LENGTH = 255
RSA_BITS = range(2048, 4097)
_CURVES: dict[str, tuple[str, ec.EllipticCurve, hashes.HashAlgorithm]] = {
    "ES256": ("P-256", ec.SECP256R1(), hashes.SHA256()),
    "ES384": ("P-384", ec.SECP384R1(), hashes.SHA384()),
    "ES512": ("P-521", ec.SECP521R1(), hashes.SHA512()),
}
# What RFC 7638 hashes of a key, and RFC 7518 calls private.
_MEMBERS = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ProofError(KontorError):
    """A proof that is refused, with the error code of RFC 9449; `nonce` is what the next one must contain."""

    def __init__(self, description: str, error: str = "invalid_dpop_proof", nonce: str | None = None) -> None:
        super().__init__(description)
        self.error = error
        self.nonce = nonce


@dataclass(frozen=True, slots=True)
class SentProof:
    """The header DPoP of a request, as often as it was sent, and what the proof must have been made for."""

    headers: Sequence[str]
    method: str
    url: str


@dataclass(frozen=True, slots=True)
class Proof:
    thumbprint: bytes
    id: str
    issued_at: int
    nonce: str | None = None


def read_proof(sent: SentProof, token: str | None = None) -> Proof:
    """The proof, after every check that needs no clock and no memory. `token` is the one that it comes with."""
    if len(sent.headers) != 1:
        raise ProofError("Send the header DPoP once.")
    header, claims = _open(sent.headers[0])
    if claims.get("htm") != sent.method:
        raise ProofError("htm of the proof is not the method of the request.")
    if not _is_same_address(claims.get("htu"), sent.url):
        raise ProofError("htu of the proof is not the address of the request.")
    if token is not None and _text(claims, "ath") != _hash_token(token):
        raise ProofError("ath of the proof is not the hash of the token.")
    issued_at, nonce = claims.get("iat"), claims.get("nonce")
    if isinstance(issued_at, bool) or not isinstance(issued_at, int | float) or not 0 <= issued_at < 2**40:
        raise ProofError("iat of the proof is not a time.")
    if nonce is not None and not isinstance(nonce, str):
        raise ProofError("nonce of the proof is not a text.")
    proof_id = _text(claims, "jti")
    if not 1 <= len(proof_id) <= MAX_ID_LENGTH:
        raise ProofError(f"jti of the proof must have 1 to {MAX_ID_LENGTH} characters.")
    return Proof(find_thumbprint(header["jwk"]), proof_id, int(issued_at), nonce)


def find_thumbprint(jwk: dict[str, Any]) -> bytes:
    """RFC 7638, with SHA-256."""
    members = {name: jwk[name] for name in _MEMBERS[jwk["kty"]]}
    return hashlib.sha256(json.dumps(members, separators=(",", ":"), sort_keys=True).encode()).digest()


def _hash_token(token: str) -> str:
    return _encode(hashlib.sha256(token.encode("utf-8", "replace")).digest())


def show_thumbprint(thumbprint: bytes) -> str:
    return _encode(thumbprint)


def _open(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of a JWT whose signature is right."""
    parts = text.strip().split(".")
    if len(parts) != 3 or len(text) > MAX_PROOF_LENGTH:
        raise ProofError("The proof is not a JWT.")
    header = _object(parts[0])
    if header.get("typ") != "dpop+jwt":
        raise ProofError("typ of the proof is not dpop+jwt.")
    if "crit" in header:
        raise ProofError("crit of the proof names extensions that are not supported.")
    algorithm, jwk = header.get("alg"), header.get("jwk")
    if algorithm not in ALGORITHMS or not isinstance(jwk, dict):
        raise ProofError(f"The proof needs a jwk, and alg must be one of {', '.join(ALGORITHMS)}.")
    if not _PRIVATE.isdisjoint(jwk):
        raise ProofError("jwk of the proof contains a private key.")
    try:
        _verify(algorithm, jwk, f"{parts[0]}.{parts[1]}".encode(), _decode(parts[2]))
    except (InvalidSignature, ValueError):
        raise ProofError("The signature of the proof is wrong, or its key cannot be used.") from None
    return header, _object(parts[1])


def _verify(algorithm: str, jwk: dict[str, Any], signed: bytes, signature: bytes) -> None:
    """ValueError for keys that do not fit."""
    kty, crv = jwk.get("kty"), jwk.get("crv")
    if algorithm == "PS256" and kty == "RSA":
        key = rsa.RSAPublicNumbers(_number(jwk, "e"), _number(jwk, "n")).public_key()
        if key.key_size not in RSA_BITS or key.public_numbers().e >= 2**32:
            raise ValueError("size")
        key.verify(signature, signed, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
    elif algorithm == "EdDSA" and (kty, crv) == ("OKP", "Ed25519"):
        Ed25519PublicKey.from_public_bytes(_member(jwk, "x")).verify(signature, signed)
    elif algorithm in _CURVES and (kty, crv) == ("EC", _CURVES[algorithm][0]):
        _, curve, digest = _CURVES[algorithm]
        size = (curve.key_size + 7) // 8
        x, y = _member(jwk, "x"), _member(jwk, "y")
        if (len(x), len(y), len(signature)) != (size, size, 2 * size):
            raise ValueError("length")
        public = ec.EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), curve).public_key()
        r, s = int.from_bytes(signature[:size]), int.from_bytes(signature[size:])
        public.verify(encode_dss_signature(r, s), signed, ec.ECDSA(digest))
    else:
        raise ValueError("kty")


def _number(jwk: dict[str, Any], name: str) -> int:
    data = _member(jwk, name)
    if not data or data[0] == 0:  # RFC 7518, 2: the shortest form
        raise ValueError(name)
    return int.from_bytes(data)


def _member(jwk: dict[str, Any], name: str) -> bytes:
    value = jwk.get(name)
    if not isinstance(value, str):
        raise ValueError(name)
    return _decode(value)


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise ProofError(f"{name} is missing in the proof.")
    return value


def _object(part: str) -> dict[str, Any]:
    """A JSON object without repeated names, of which parsers choose differently."""
    try:
        value = json.loads(_decode(part), object_pairs_hook=_refuse_repeated)
    except (ValueError, RecursionError):
        raise ProofError("The proof is not a JWT.") from None
    if not isinstance(value, dict):
        raise ProofError("The proof is not a JWT.")
    return value


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("repeated")
    return names


def _decode(text: str) -> bytes:
    """Base64url without padding, in the one form that is allowed; a key has one thumbprint."""
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _encode(data) != text:
        raise ValueError("Base64")
    return data


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _is_same_address(sent: Any, expected: str) -> bool:
    """Compares as RFC 9449 wants it: without query and fragment, after normalisation (RFC 3986, 6.2.2 and 6.2.3)."""
    if not isinstance(sent, str):
        return False
    try:
        return _normalise(sent) == _normalise(expected)
    except ValueError:
        return False


def _normalise(url: str) -> tuple[str, str, int | None, str]:
    parts = urlsplit(url)
    if parts.username is not None or not parts.hostname:
        raise ValueError("address")
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, _ENCODED.sub(_normalise_encoded, parts.path or "/")


def _normalise_encoded(match: re.Match[str]) -> str:
    character = chr(int(match[0][1:], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()

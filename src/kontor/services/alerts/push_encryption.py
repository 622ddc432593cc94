"""Encryption of push messages for a browser (RFC 8291, in one record of RFC 8188), and who sends them (RFC 8292)."""

import base64
import json
import secrets
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kontor.domain.push import PushKeys

CURVE = ec.SECP256R1()
RECORD_BYTES = 4096
SALT_BYTES = 16
NUMBER_BYTES = 32  # of the curve
END_OF_LAST_RECORD = b"\x02"
TOKEN_LIFETIME = timedelta(hours=12)  # a push service refuses more than 24


def encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def write_point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def read_point(point: bytes) -> ec.EllipticCurvePublicKey:
    """Raises ValueError unless it is on the curve."""
    return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)


def encrypt(
    plaintext: bytes,
    keys: PushKeys,
    padded_bytes: int = 0,
    sender: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """The body of a push. Short texts are padded: their length tells nothing. `sender` and `salt` are for tests."""
    sender = sender or ec.generate_private_key(CURVE)
    salt = salt or secrets.token_bytes(SALT_BYTES)
    own_point = write_point(sender.public_key())
    shared = sender.exchange(ec.ECDH(), read_point(keys.public))
    secret = _derive(shared, keys.auth, b"WebPush: info\x00" + keys.public + own_point, 32)
    content_key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
    padded = (plaintext + END_OF_LAST_RECORD).ljust(padded_bytes + 1, b"\x00")
    header = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(own_point)]) + own_point
    return header + AESGCM(content_key).encrypt(nonce, padded, None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def authorize(key: ec.EllipticCurvePrivateKey, endpoint: str, contact: str | None, now: datetime) -> str:
    """The header by which a push service knows that the sender is the one whom the browser has subscribed to."""
    place = urlsplit(endpoint)
    claims: dict[str, object] = {
        "aud": f"{place.scheme}://{place.netloc}",
        "exp": int((now + TOKEN_LIFETIME).timestamp()),
    }
    if contact is not None:
        claims["sub"] = contact
    parts = [{"typ": "JWT", "alg": "ES256"}, claims]
    signed = ".".join(encode_base64url(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    signature = r.to_bytes(NUMBER_BYTES, "big") + s.to_bytes(NUMBER_BYTES, "big")
    public = encode_base64url(write_point(key.public_key()))
    return f"vapid t={signed}.{encode_base64url(signature)}, k={public}"

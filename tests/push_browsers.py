"""A browser that subscribes to pushes: it decrypts what it is sent, as RFC 8291 says, and checks who has sent it."""

import base64
import json
import os
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_private(number: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(number, "big"), CURVE)


def mac(key: bytes, data: bytes) -> bytes:
    made = hmac.HMAC(key, hashes.SHA256())
    made.update(data)
    return made.finalize()


class PushBrowser:
    """`number` is its private key. Each step is the RFC's own, with HMAC and AES alone."""

    def __init__(self, endpoint: str, number: bytes | None = None, auth: bytes | None = None) -> None:
        self.endpoint = endpoint
        self.key = ec.generate_private_key(CURVE) if number is None else make_private(number)
        self.auth = auth or os.urandom(16)
        self.point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def subscription(self) -> dict[str, Any]:
        return {"endpoint": self.endpoint, "keys": {"p256dh": encode(self.point), "auth": encode(self.auth)}}

    def decrypt(self, body: bytes) -> bytes:
        salt, record_size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= record_size
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        secret = mac(mac(self.auth, shared), b"WebPush: info\0" + self.point + sender + b"\1")
        pseudo_random = mac(salt, secret)
        content_key = mac(pseudo_random, b"Content-Encoding: aes128gcm\0\1")[:16]
        nonce = mac(pseudo_random, b"Content-Encoding: nonce\0\1")[:12]
        cipher = Cipher(algorithms.AES(content_key), modes.GCM(nonce, record[-16:])).decryptor()
        padded = (cipher.update(record[:-16]) + cipher.finalize()).rstrip(b"\0")
        assert padded.endswith(b"\2"), "the last record"
        return padded[:-1]


def new_browser(url: str | None = None) -> PushBrowser:
    """Without an address it is one that nobody reaches."""
    return PushBrowser(url or f"https://8.8.8.8:8443/{uuid4()}")


def verify_sender(header: str) -> tuple[str, dict[str, Any]]:
    """The key of the sender, and what it claims; raises unless the key has signed it."""
    scheme, _, facts = header.partition(" ")
    assert scheme == "vapid"
    values = dict(fact.strip().split("=", 1) for fact in facts.split(","))
    head, claims, signature = values["t"].split(".")
    assert json.loads(decode(head)) == {"typ": "JWT", "alg": "ES256"}
    raw = decode(signature)
    signed = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(values["k"]))
    key.verify(signed, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    return values["k"], json.loads(decode(claims))

"""Message signatures with a QSeal certificate, as XS2A wants them: `Digest`, `Signature`, and the certificate itself.

The scheme is draft-cavage-http-signatures-10 with `rsa-sha256`.
"""

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from kontor.domain.secrets import Secret

# Signed where they are there, in this order.
SIGNED = ("digest", "x-request-id", "psu-id", "psu-corporate-id", "date", "tpp-redirect-uri")


class Seal:
    def __init__(self, certificate: x509.Certificate, key: RSAPrivateKey) -> None:
        self._certificate = certificate
        self._key = key

    def sign(self, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Headers to add to a request that has these, in lower case."""
        digest = f"SHA-256={b64encode(sha256(body).digest()).decode()}"
        known = {**headers, "digest": digest}
        names = [name for name in SIGNED if name in known]
        text = "\n".join(f"{name}: {known[name]}" for name in names)
        signature = b64encode(self._key.sign(text.encode(), PKCS1v15(), SHA256())).decode()
        issuer = quote(self._certificate.issuer.rfc4514_string(), safe="=,. ")
        key_id = f"SN={self._certificate.serial_number:X},CA={issuer}"
        value = f'keyId="{key_id}",algorithm="rsa-sha256",headers="{" ".join(names)}",signature="{signature}"'
        certificate = b64encode(self._certificate.public_bytes(Encoding.DER)).decode()
        return {"digest": digest, "signature": value, "tpp-signature-certificate": certificate}


@lru_cache(maxsize=8)
def load_seal(certificate_file: Path, key_file: Path, password: Secret | None) -> Seal:
    key = load_pem_private_key(key_file.read_bytes(), None if password is None else password.reveal().encode())
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("a QSeal key must be an RSA key")
    return Seal(x509.load_pem_x509_certificate(certificate_file.read_bytes()), key)

"""The application that calls Enable Banking: its id, its private key, and the tokens that it signs with it (RS256)."""

import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kontor.connectors.aspsps import SetupError
from kontor.domain.secrets import Secret

ISSUER, AUDIENCE = "enablebanking.com", "api.enablebanking.com"
TOKEN_SECONDS = 900  # a token is for one step of a dialogue; a day would be allowed
CLOCK_SECONDS = 30  # by which our clock may be ahead
MIN_KEY_BITS = 2048


class ApplicationError(SetupError):
    """The application's id or key cannot be used."""


@dataclass(frozen=True, slots=True)
class Application:
    id: str
    key: RSAPrivateKey = field(repr=False)

    def sign_token(self) -> Secret:
        """A JWT that Enable Banking accepts for the next minutes. By the real clock: it is no business date."""
        now = int(time.time())
        header = {"typ": "JWT", "alg": "RS256", "kid": self.id}
        claims = {"iss": ISSUER, "aud": AUDIENCE, "iat": now - CLOCK_SECONDS, "exp": now + TOKEN_SECONDS}
        signed = ".".join(_encode(msgspec.json.encode(part)) for part in (header, claims))
        return Secret(f"{signed}.{_encode(self.key.sign(signed.encode(), PKCS1v15(), SHA256()))}")


def load_application(application_id: str, key_file: Path) -> Application:
    """Raises ApplicationError for what Enable Banking would refuse."""
    try:
        identity = str(UUID(application_id.strip()))
    except ValueError:
        raise ApplicationError("the application's id must be a UUID, as the control panel shows it") from None
    try:
        key = load_pem_private_key(key_file.read_bytes(), None)
    except OSError as error:
        raise ApplicationError(f"{key_file} cannot be read: {error.strerror}") from None
    except TypeError:
        raise ApplicationError(f"{key_file} is encrypted with a password; Kontor reads keys without one") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ApplicationError(f"{key_file} is not a private key in PEM form") from None
    if not isinstance(key, RSAPrivateKey) or key.key_size < MIN_KEY_BITS:
        raise ApplicationError(f"{key_file} is not an RSA key of {MIN_KEY_BITS} bits or more")
    return Application(identity, key)


def _encode(part: bytes) -> str:
    return urlsafe_b64encode(part).rstrip(b"=").decode()

"""The master key under a key of HashiCorp Vault's transit engine.

Vault's key never leaves Vault. Kontor keeps its master key wrapped by it, as text such as `vault:v1:…`, and has it
unwrapped once when a process starts. A process that runs needs Vault no more.
"""

import base64
import binascii
import re
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from kontor.domain.secrets import Secret
from kontor.egress import Destination, EgressRefusedError, GuardedTransport, Purpose, find_host
from kontor.storage.keys import KeyUnusableError, SealingKey

TIMEOUT_SECONDS: Final = 10
KEY_PATH: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+")


@dataclass(frozen=True, slots=True)
class TransitKey:
    """`path` is the engine's mount and the key's name, such as `transit/kontor`. The token is read at every use."""

    address: str
    path: str
    token_file: Path
    namespace: str | None = None

    def unwrap(self, wrapped: str) -> SealingKey:
        answer = self._call("decrypt", {"ciphertext": wrapped})
        try:
            raw = base64.b64decode(answer["plaintext"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise KeyUnusableError("Vault's answer has no plaintext in Base64.") from None
        return SealingKey(raw)

    def wrap(self, key: Secret) -> str:
        """`key` in Base64, as `kontor key generate` makes it."""
        answer = self._call("encrypt", {"plaintext": key.reveal()})
        wrapped = answer.get("ciphertext")
        if not isinstance(wrapped, str) or not wrapped:
            raise KeyUnusableError("Vault's answer has no ciphertext.")
        return wrapped

    def _call(self, operation: str, body: dict[str, str]) -> dict[str, Any]:
        _require_safe_address(self.address)
        if not KEY_PATH.fullmatch(self.path):
            raise KeyUnusableError("KONTOR_VAULT_KEY must be the engine's mount and the key's name: transit/kontor.")
        mount, _, name = self.path.rpartition("/")
        headers = {"X-Vault-Token": self._read_token().reveal(), "X-Vault-Request": "true"}
        if self.namespace is not None:
            headers["X-Vault-Namespace"] = self.namespace
        try:
            destination = Destination(Purpose.VAULT, frozenset({find_host(self.address)}))
            transport = GuardedTransport(destination, ssl.create_default_context())
            with httpx.Client(transport=transport, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
                address = f"{self.address.rstrip('/')}/v1/{mount}/{operation}/{name}"
                answer = client.post(address, json=body, headers=headers)
        except (httpx.HTTPError, EgressRefusedError) as error:
            # The message may name the request; the kind is enough to act on.
            raise KeyUnusableError(f"Vault cannot be reached ({type(error).__name__}).") from None
        return _read_answer(answer)

    def _read_token(self) -> Secret:
        try:
            token = self.token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise KeyUnusableError(f"The token of Vault cannot be read ({type(error).__name__}).") from None
        if not token or not token.isprintable():
            raise KeyUnusableError(f"{self.token_file} has no token of Vault.")
        return Secret(token)


def _read_answer(answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code != httpx.codes.OK:
        reasons = {
            400: "it does not accept the wrapped key",
            403: "the token may not use this key",
            404: "there is no such transit engine or key",
            503: "it is sealed or in maintenance",
        }
        reason = reasons.get(answer.status_code, "unexpected")
        raise KeyUnusableError(f"Vault answers {answer.status_code}: {reason}.")
    try:
        data = answer.json()["data"]
    except (ValueError, KeyError, TypeError):
        data = None
    if not isinstance(data, dict):
        raise KeyUnusableError("Vault's answer cannot be read.")
    return data


def _require_safe_address(address: str) -> None:
    """The answer holds the master key: only https will do, but on this machine."""
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and _is_loopback(parts.hostname):
        return
    raise KeyUnusableError("KONTOR_VAULT_ADDRESS must begin with https:// (http:// on this machine only).")


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False

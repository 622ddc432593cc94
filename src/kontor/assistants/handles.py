"""Handles of previews: a change is applied only by the handle that its preview has returned.

A handle holds the whole change, signed with a key that follows from the caller's token, which a language model never
sees. So no process has to remember anything, and neither an invented handle nor one of another caller is accepted.
"""

import base64
import binascii
import hashlib
import hmac
import time
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from kontor.assistants.errors import ToolError
from kontor.domain.secrets import Secret

HANDLE_SECONDS = 600
MAX_HANDLE_CHARACTERS = 4000
_DIGEST_BYTES = 32
T = TypeVar("T")
Handle = Annotated[str, Meta(min_length=1, max_length=MAX_HANDLE_CHARACTERS)]


class HandleKey:
    def __init__(self, token: Secret) -> None:
        self._key = hashlib.sha256(b"handles of previews\x00" + token.reveal().encode()).digest()

    def seal(self, change: msgspec.Struct) -> str:
        expires = int(time.time()) + HANDLE_SECONDS
        content = msgspec.json.encode([expires, change])
        return base64.urlsafe_b64encode(self._sign(content) + content).decode().rstrip("=")

    def open(self, handle: str, expected: type[T]) -> T:
        """The change that was previewed. ToolError for every other text."""
        try:
            sealed = base64.b64decode(handle + "=" * (-len(handle) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ToolError("errors.handle") from None
        signature, content = sealed[:_DIGEST_BYTES], sealed[_DIGEST_BYTES:]
        if not hmac.compare_digest(signature, self._sign(content)):
            raise ToolError("errors.handle")
        expires, change = msgspec.json.decode(content, type=tuple[int, expected])  # type: ignore[valid-type]
        if expires < time.time():
            raise ToolError("errors.handle_expired")
        return change

    def _sign(self, content: bytes) -> bytes:
        return hmac.new(self._key, content, hashlib.sha256).digest()

"""One request to the model that the operator has named, and to no other host. Whatever happens is a value."""

import asyncio
import ssl
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import httpx
import msgspec

from kontor import __version__
from kontor.domain.secrets import Secret
from kontor.egress import Destination, EgressRefusedError, GuardedAsyncTransport, Purpose, find_host
from kontor.services.merchants.prompts import make_body, read_category

MAX_ANSWER_BYTES = 256 * 1024
PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`url` is the base address of the API, such as `http://127.0.0.1:11434/v1`."""

    url: str
    name: str
    key: Secret | None = None
    seconds: float = 30
    daily_requests: int = 200


class ModelFailure(StrEnum):
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    STATUS = "status"
    TOO_LARGE = "too-large"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """`category` is one that was offered, or None. Nothing else of the answer is kept."""

    category: str | None = None
    failure: ModelFailure | None = None


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


_completions = msgspec.json.Decoder(_Completion)


class ModelCalls:
    def __init__(self, settings: ModelSettings, trust: ssl.SSLContext | None = None) -> None:
        self.settings = settings
        self._given_trust = trust

    @property
    def address(self) -> str:
        return self.settings.url + PATH

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """Made when first needed: loading certificates takes a moment."""
        return self._given_trust or httpx.create_ssl_context()

    async def ask(self, merchant: str) -> ModelAnswer:
        try:
            async with asyncio.timeout(self.settings.seconds):
                return await self._ask(merchant)
        except (TimeoutError, httpx.TimeoutException):
            return ModelAnswer(failure=ModelFailure.TIMEOUT)
        except (httpx.NetworkError, EgressRefusedError):
            return ModelAnswer(failure=ModelFailure.UNREACHABLE)
        except (httpx.HTTPError, httpx.InvalidURL):
            return ModelAnswer(failure=ModelFailure.MALFORMED)

    async def _ask(self, merchant: str) -> ModelAnswer:
        settings = self.settings
        headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"Kontor/{__version__}",
            "Connection": "close",
        }
        if settings.key is not None:
            headers["Authorization"] = f"Bearer {settings.key.reveal()}"
        destination = Destination(Purpose.MODEL, frozenset((find_host(settings.url),)))
        # No proxy of the environment, and no redirects: only the host that the operator has named is asked.
        async with httpx.AsyncClient(
            transport=GuardedAsyncTransport(destination, self._trust),
            trust_env=False,
            follow_redirects=False,
            timeout=settings.seconds,
        ) as client:
            body = make_body(settings.name, merchant)
            async with client.stream("POST", self.address, content=body, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    return ModelAnswer(failure=ModelFailure.STATUS)
                return await _read_answer(response)


async def _read_answer(response: httpx.Response) -> ModelAnswer:
    """Bytes as they are: what is compressed although that was not asked for is malformed."""
    received = bytearray()
    async for piece in response.aiter_raw():
        received += piece
        if len(received) > MAX_ANSWER_BYTES:
            return ModelAnswer(failure=ModelFailure.TOO_LARGE)
    try:
        completion = _completions.decode(bytes(received))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ModelAnswer(failure=ModelFailure.MALFORMED)
    if not completion.choices:
        return ModelAnswer(failure=ModelFailure.MALFORMED)
    return ModelAnswer(read_category(completion.choices[0].message.content or ""))

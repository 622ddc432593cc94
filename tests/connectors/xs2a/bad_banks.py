"""Banks that misbehave: an application that does everything right, but for one thing."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

ACCOUNT = {
    "iban": "DE89370400440532013000",
    "currency": "EUR",
    "balances": [{"balanceType": "interimBooked", "balanceAmount": {"currency": "EUR", "amount": "7.00"}}],
    "_links": {"transactions": {"href": "/v1/accounts/1/transactions"}},
}
CONSENT = {
    "consentStatus": "received",
    "consentId": "1",
    "_links": {"self": {"href": "/v1/consents/1"}, "startAuthorisation": {"href": "/v1/consents/1/authorisations"}},
}
ROW = {"transactionAmount": {"currency": "EUR", "amount": "-1.00"}, "bookingDate": "2026-11-01"}
RIGHT: dict[str, Any] = {
    "POST /v1/consents": CONSENT,
    "POST /v1/consents/1/authorisations": {"scaStatus": "finalised", "authorisationId": "1", "_links": {}},
    "GET /v1/consents/1": {"consentStatus": "valid", "validUntil": "2027-05-01"},
    "GET /v1/accounts": {"accounts": [ACCOUNT]},
    "GET /v1/accounts/1/transactions": {"transactions": {"booked": [ROW], "_links": {}}},
}


class BadBank:
    """`wrong` maps a request to what is answered instead: JSON, bytes, or a coroutine that does it."""

    def __init__(self, **wrong: Any) -> None:
        self.wrong = {key.replace("__", " /v1/").replace("_", "/"): value for key, value in wrong.items()}
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        while (await receive()).get("more_body"):
            pass
        key = f"{scope['method']} {scope['path']}"
        self.asked.append(f"{key}?{scope['query_string'].decode()}")
        answer = self.wrong.get(key, RIGHT.get(key, {}))
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            await answer(scope, send)
            return
        await reply(send, answer if isinstance(answer, bytes) else json.dumps(answer).encode())


async def reply(send: Any, body: bytes, status: int = 201, **headers: str) -> None:
    listed = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    listed += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


async def hang(scope: Any, send: Any) -> None:
    await asyncio.sleep(3)
    await reply(send, b"{}")


async def dribble(scope: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": []})
    for _ in range(100):
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.sleep(0.05)
    await send({"type": "http.response.body", "body": b"{}"})


def redirect(target: str, status: int = 302) -> Any:
    async def answer(scope: Any, send: Any) -> None:
        await reply(send, b"", status, location=target)

    return answer


def fail(status: int, body: bytes = b"") -> Any:
    async def answer(scope: Any, send: Any) -> None:
        await reply(send, body, status)

    return answer


async def pack(scope: Any, send: Any) -> None:
    await reply(send, b"\x1f\x8b" + b"\0" * 100, content_encoding="gzip")


async def go_on_for_ever(scope: Any, send: Any) -> None:
    """Every page has a next one, with an address that was never seen."""
    number = len(scope["query_string"])
    link = {"href": f"/v1/accounts/1/transactions?page={'1' * number}"}
    await reply(send, json.dumps({"transactions": {"booked": [ROW], "_links": {"next": link}}}).encode())

"""A trace: a dialogue with a bank, recorded in memory and masked before it is written anywhere."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Done,
    Exchange,
    Failed,
    Fetched,
    Headers,
    NeedMedium,
    NeedMethod,
    Progress,
    Step,
)
from kontor.connectors.traces.fints_messages import mask_message
from kontor.connectors.traces.http_messages import mask_exchange
from kontor.connectors.traces.masking import Mask
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

VERSION = 1
MAX_TRIES = 20  # with another key, where masked values happen to look like a secret
MIN_SECRET_LENGTH = 4  # shorter ones are in every text
FINTS = "fints"


class UnmaskedError(ValueError):
    """A PIN, a TAN or a login would stand in the trace."""


class Recorder:
    """`secrets` are what the customer enters: none of them may stand in the result."""

    def __init__(self, provider: Provider, today: date, secrets: Iterable[Secret]) -> None:
        self._provider = provider
        self._today = today
        self._secrets = list(secrets)
        self._exchanges: list[Exchange] = []
        self._steps: list[dict[str, Any]] = []
        self._headers: Headers | None = None

    def record(self, exchange: Exchange) -> None:
        self._exchanges.append(exchange)

    @property
    def exchange_count(self) -> int:
        return len(self._exchanges)

    def note_answer(self, step: Step, answer: Answer, secrets: Iterable[Secret] = ()) -> None:
        """What the bank asked, and what kind of answer it got."""
        self._secrets += secrets
        if isinstance(step, Progress):
            self._headers = step.partial
            return
        noted: dict[str, Any] = {"question": type(step).__name__, "answer": type(answer).__name__}
        if isinstance(step, NeedMethod) and isinstance(answer, ChooseMethod):
            noted["choice"] = [method.code for method in step.methods].index(answer.code)
        if isinstance(step, NeedMedium) and isinstance(answer, ChooseMedium):
            noted["choice"] = [medium.name for medium in step.media].index(answer.name)
        self._steps.append(noted)

    def make_trace(self, end: Step, key: bytes | None = None) -> bytes:
        """The file. Raises UnmaskedError where it would name a secret."""
        for _ in range(MAX_TRIES):
            trace = self._mask(end, Mask(key))
            if not any(_names(trace, secret.reveal()) for secret in self._secrets):
                return msgspec.json.format(msgspec.json.encode(trace), indent=1) + b"\n"
            if key is not None:
                break
        raise UnmaskedError("the trace would contain a login, a PIN or a TAN")

    def _mask(self, end: Step, mask: Mask) -> dict[str, Any]:
        return {
            "kontor_trace": VERSION,
            "connector": self._exchanges[0].protocol if self._exchanges else self._provider.connector,
            "bank": {"name": self._provider.name, "code": self._provider.bank_code, "group": self._provider.group},
            "today": self._today.isoformat(),
            "steps": self._steps,
            "exchanges": [_mask_one(mask, exchange) for exchange in self._exchanges],
            "expected": self._expect(end, mask),
        }

    def _expect(self, end: Step, mask: Mask) -> dict[str, Any]:
        if isinstance(end, Failed):
            return {"failure": str(end.kind)}
        assert isinstance(end, Done)
        assert isinstance(end.result, Fetched)
        fetched, products = end.result, () if self._headers is None else self._headers.products
        accounts = []
        for product in products:
            rows = fetched.transactions.get(product.key)
            positions = fetched.positions.get(product.key)
            accounts.append(
                {
                    "category": str(product.category),
                    "bookings": None if rows is None else len(rows),
                    "sum": None if rows is None else mask.scale(f"{sum((row.amount for row in rows), Decimal(0)):f}"),
                    "positions": None if positions is None else len(positions),
                }
            )
        return {"accounts": accounts, "problems": sorted(str(problem.kind) for problem in fetched.problems)}


def _mask_one(mask: Mask, exchange: Exchange) -> dict[str, Any]:
    if exchange.protocol != FINTS:
        return mask_exchange(mask, exchange)
    shown = {"request": mask_message(mask, exchange.content)}
    if exchange.problem is not None:
        return shown | {"problem": exchange.problem}
    return shown | {"answer": mask_message(mask, exchange.answer)}


def _names(value: Any, secret: str) -> bool:
    """Does a secret stand anywhere in it, as a word of its own?"""
    if isinstance(value, dict):
        return any(_names(item, secret) for item in value.values())
    if isinstance(value, list):
        return any(_names(item, secret) for item in value)
    if not isinstance(value, str) or len(secret) < MIN_SECRET_LENGTH:
        return False
    return re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", value) is not None

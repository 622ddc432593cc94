"""Budgets and savings goals share how bodies are checked and how their state is named."""

from hashlib import sha256
from typing import Any, Protocol, TypeVar

import msgspec

from kontor.api.answers import HttpError
from kontor.api.field_errors import FieldError
from kontor.api.operations import Call
from kontor.wire.encoding import encode_json


class Checkable(Protocol):
    def find_problems(self) -> list[tuple[str, str]]: ...


Plan = TypeVar("Plan", bound=Checkable)


async def read_plan(call: Call, expected: type[Plan]) -> Plan:
    """The body, after all that is wrong with it was told."""
    body = await call.json(expected)
    errors = [FieldError((field,), problem) for field, problem in body.find_problems()]
    if errors:
        raise HttpError(400, "; ".join(map(str, errors)), field_errors=errors)
    return body


def name_plans(plans: Any) -> str:
    """Differs when a plan does: kept answers are of these plans."""
    return f" {sha256(encode_json(msgspec.to_builtins(plans))).hexdigest()[:32]}"

"""How an operation is written once and run twice, with and without asyncio.

A plan is a generator. It yields steps, gets their results back, and returns the operation's result; it never waits by
itself. `Kontor` and `AsyncKontor` (clients.py) run plans, each in its own way, and that is all they do differently.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from kontor_client.answers import Answer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API; its result is an `Answer`. What may be secret is not shown."""

    method: str
    path: str
    params: Mapping[str, Any] | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)
    content: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    is_repeatable: bool | None = None  # None: as its method says (sessions.py)


@dataclass(frozen=True, slots=True)
class Send:
    """One request over the wire; its result is an `httpx.Response`."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the caller's own code; its result is what that returns."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = field(default=(), repr=False)


Step = Call | Send | Pause | Ask
Plan = Generator[Step, Any, T]


def send(call: Call) -> Plan[Answer]:
    answer: Answer = yield call
    return answer


def fetch(expected: type[T], path: str, method: str = "GET", **facts: Any) -> Plan[T]:
    """Call, and decode the answer."""
    answer = yield from send(Call(method, path, **facts))
    return answer.decode(expected)


def ask(expected: type[T], function: Callable[..., Any], *arguments: Any) -> Plan[T]:
    """Ask the caller's own code; `expected` is what the type checker is told."""
    answer: T = yield Ask(function, arguments)
    return answer


def path_of(*parts: object) -> str:
    """A path of its parts, each quoted: an id with a slash stays one part."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)

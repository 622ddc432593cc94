"""The endpoints that are measured. Each is one file in this folder that defines `ENDPOINT`; no other file changes.

A new endpoint brings five things:

* `prepare`: fill the database and say which requests to send;
* `read_ready`: for the limit, which reads it once for each path: the JSON as Kontor sends it;
* `ask`: for the limit: the queries that Kontor makes for this request after the one for the token, and no more;
* `router`: the endpoint in the conventional reference, on the models and dependencies of `benchmarks/conventional`;
* its targets.

Tests that it answers as Kontor does go to `tests/benchmarks`.
"""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import APIRouter
    from psycopg import AsyncConnection

    from benchmarks.environment import BenchmarkEnvironment


@dataclass(frozen=True)
class Request:
    path: str
    token: str


@dataclass(frozen=True)
class Targets:
    """How many times as fast as the conventional reference, and which part of the limit, Kontor wants to be."""

    conventional: float | None = None
    limit: float = 0.6


@dataclass(frozen=True)
class Endpoint:
    name: str
    title: str
    targets: Targets
    prepare: "Callable[[BenchmarkEnvironment], Awaitable[list[Request]]]"
    # (connection, row of FIND_PRINCIPAL, path) to the JSON, or None for 404
    read_ready: "Callable[[AsyncConnection[Any], Sequence[Any], str], Awaitable[bytes | None]]"
    # The same arguments
    ask: "Callable[[AsyncConnection[Any], Sequence[Any], str], Awaitable[None]]"
    router: "APIRouter | None" = None  # without one, it is measured against its limit alone
    connections: int = 32  # requests in flight


def list_endpoints() -> list[str]:
    """Their names, which are the names of the files with hyphens."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def load_endpoint(name: str) -> Endpoint:
    """Of this folder, or one of those that are measured against their limit alone."""
    package = __name__ if name in list_endpoints() else "benchmarks.understanding"
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    endpoint: Endpoint = module.ENDPOINT
    assert endpoint.name == name
    return endpoint

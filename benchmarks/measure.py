"""Interleaved rounds, and what follows from them."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal

import psycopg

from benchmarks.cores import children_cpu_seconds, find_parent
from benchmarks.endpoints import Endpoint, Request
from benchmarks.load import Load, Measurement
from benchmarks.servers import CEILING, CONVENTIONAL, LIMIT, OURS, ServerProcess
from kontor.config import Settings

ORDER = (OURS, LIMIT, CONVENTIONAL)
WARMUP = 0.4
WARMING = 1.0
FIRST_REQUESTS = 8


@dataclass(frozen=True)
class Plan:
    rounds: int
    seconds: float
    connections: int | None = None  # else as many as the endpoint says
    server_cores: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Round:
    """One measurement, with the processor time of the server, and that of PostgreSQL, for one request."""

    load: Measurement
    cpu_per_request: float
    database_cpu_per_request: float = 0.0


@dataclass
class Result:
    endpoint: Endpoint
    ceiling: Measurement
    connections: int
    rounds: dict[str, list[Round]] = field(default_factory=lambda: {name: [] for name in ORDER})

    def rates(self, name: str) -> list[float]:
        return [run.load.rate for run in self.rounds[name]]

    def ratios(self, name: str) -> list[float]:
        """Ours by the other's, in each round."""
        return [ours / other for ours, other in zip(self.rates(OURS), self.rates(name), strict=True)]

    def median(self, name: str, pick: Callable[[Round], float]) -> float:
        return statistics.median(pick(run) for run in self.rounds[name])


def measure_endpoint(
    endpoint: Endpoint, requests: list[Request], settings: Settings, plan: Plan, say: Callable[[str], None]
) -> Result:
    plan = replace(plan, connections=plan.connections or endpoint.connections)
    order = ORDER if endpoint.router is not None else (OURS, LIMIT)
    with ExitStack() as exits:

        def start(name: str, **environment: str) -> ServerProcess:
            log = settings.data / f"{name}.log"
            return exits.enter_context(
                ServerProcess(name, settings, endpoint.name, log, plan.server_cores, environment)
            )

        servers = {name: start(name) for name in order}
        bodies = {name: servers[name].wait_for(requests[0]) for name in order}
        check_answers({name: strip_bases(body, servers.values()) for name, body in bodies.items()})
        ceiling = start(CEILING, BENCH_BODY_BYTES=str(len(bodies[OURS])))
        ceiling.wait_for(requests[0])
        result = Result(endpoint, run_load(ceiling.port, requests, plan), plan.connections)
        say(f"generator alone: {result.ceiling.rate:,.0f} requests/s")
        for server in servers.values():  # connections are opened, statements prepared, code is warm
            for request in requests[:FIRST_REQUESTS]:  # what takes long the first time is not asked by all at once
                server.ask(request)
            run_load(server.port, requests, replace(plan, seconds=WARMING))
        postgres = find_postgres(settings)
        for number in range(plan.rounds):
            for name in rotate(order, number):
                result.rounds[name].append(measure_round(servers[name], requests, plan, postgres))
            shown = ", ".join(f"{name} {result.rates(name)[-1]:,.0f}" for name in order)
            say(f"round {number + 1} of {plan.rounds}: {shown} requests/s")
    return result


def rotate(names: Sequence[str], by: int) -> list[str]:
    """Each round begins with another one, so that none is always the first."""
    by %= len(names)
    return [*names[by:], *names[:by]]


def find_postgres(settings: Settings) -> int:
    """The process that all of PostgreSQL's others are children of."""
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.reveal()) as connection:
        return find_parent(connection.info.backend_pid)


def measure_round(server: ServerProcess, requests: list[Request], plan: Plan, postgres: int) -> Round:
    before, database_before = server.cpu_seconds(), children_cpu_seconds(postgres)
    load = run_load(server.port, requests, plan)
    if load.failures:
        raise RuntimeError(f"{server.name} failed {load.failures} requests; the figures would mean nothing")
    used, database_used = server.cpu_seconds() - before, children_cpu_seconds(postgres) - database_before
    return Round(load, used / load.answers, database_used / load.answers)


def run_load(port: int, requests: list[Request], plan: Plan) -> Measurement:
    assert plan.connections is not None
    load = Load(port, plan.connections, WARMUP, plan.seconds, [asdict(request) for request in requests])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(asdict(load)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Measurement(**json.loads(done.stdout))


def strip_bases(body: bytes, servers: Iterable[ServerProcess]) -> bytes:
    """Hrefs without the address they begin with, which is another one for each server."""
    for server in servers:
        body = body.replace(server.base, b"")
    return body


def check_answers(bodies: dict[str, bytes]) -> None:
    """The same JSON from all; its blanks and the order of keys may differ. `tests/benchmarks` looks closer."""
    parsed = {name: json.loads(body, parse_float=Decimal) for name, body in bodies.items()}
    for name in bodies:
        assert parsed[name] == parsed[OURS], f"{name} does not answer as Kontor does: {bodies[name][:2000]!r}"

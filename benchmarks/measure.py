"""Interleaved rounds, and what follows from them."""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from benchmarks.endpoints import Endpoint, Request
from benchmarks.load import Load, Measurement
from benchmarks.servers import CEILING, CONVENTIONAL, LIMIT, OURS, ServerProcess
from kontor.config import Settings

ORDER = (OURS, LIMIT, CONVENTIONAL)
WARMUP = 0.4


@dataclass(frozen=True)
class Plan:
    rounds: int
    seconds: float
    connections: int
    server_cores: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Round:
    """One measurement, with the processor time of the server for one request."""

    load: Measurement
    cpu_per_request: float


@dataclass
class Result:
    endpoint: Endpoint
    ceiling: Measurement
    rounds: dict[str, list[Round]] = field(default_factory=lambda: {name: [] for name in ORDER})

    def rates(self, name: str) -> list[float]:
        return [one.load.rate for one in self.rounds[name]]

    def ratios(self, name: str) -> list[float]:
        """Ours by the other's, in each round."""
        return [ours / other for ours, other in zip(self.rates(OURS), self.rates(name), strict=True)]

    def median(self, name: str, pick: Callable[[Round], float]) -> float:
        return statistics.median(pick(one) for one in self.rounds[name])


def measure_endpoint(
    endpoint: Endpoint, requests: list[Request], settings: Settings, plan: Plan, say: Callable[[str], None]
) -> Result:
    with ExitStack() as exits:
        servers = {
            name: exits.enter_context(
                ServerProcess(name, settings, endpoint.name, settings.data / f"{name}.log", plan.server_cores)
            )
            for name in (*ORDER, CEILING)
        }
        check_answers({name: servers[name].wait_for(requests[0]) for name in ORDER})
        servers[CEILING].wait_for(requests[0])
        result = Result(endpoint, run_load(servers[CEILING].port, requests, plan))
        say(f"generator alone: {result.ceiling.rate:,.0f} requests/s")
        for server in servers.values():  # connections are opened, statements prepared, code is warm
            run_load(server.port, requests, Plan(1, 0.5, plan.connections))
        for number in range(plan.rounds):
            for name in rotate(ORDER, number):
                result.rounds[name].append(measure_round(servers[name], requests, plan))
            shown = ", ".join(f"{name} {result.rates(name)[-1]:,.0f}" for name in ORDER)
            say(f"round {number + 1} of {plan.rounds}: {shown} requests/s")
    return result


def rotate(names: Sequence[str], by: int) -> list[str]:
    """Each round begins with another one, so that none is always the first."""
    by %= len(names)
    return [*names[by:], *names[:by]]


def measure_round(server: ServerProcess, requests: list[Request], plan: Plan) -> Round:
    before = server.cpu_seconds()
    load = run_load(server.port, requests, plan)
    if load.failures:
        raise RuntimeError(f"{server.name} failed {load.failures} requests; the figures would mean nothing")
    return Round(load, (server.cpu_seconds() - before) / load.answers)


def run_load(port: int, requests: list[Request], plan: Plan) -> Measurement:
    load = Load(port, plan.connections, WARMUP, plan.seconds, [asdict(one) for one in requests])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(asdict(load)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Measurement(**json.loads(done.stdout))


def check_answers(bodies: dict[str, bytes]) -> None:
    """The reference answers the same bytes; the limit the same JSON, into which PostgreSQL puts blanks."""
    assert bodies[CONVENTIONAL] == bodies[OURS], bodies
    assert json.loads(bodies[LIMIT]) == json.loads(bodies[OURS]), bodies

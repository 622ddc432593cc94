"""Prometheus metrics. With several processes they meet in a folder that `PROMETHEUS_MULTIPROC_DIR` names."""

import os
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.registry import REGISTRY

REQUESTS = Counter("kontor_requests_total", "Requests answered", ["operation", "method", "status"])
SECONDS = Histogram(
    "kontor_request_seconds",
    "Time to answer",
    ["operation"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 180),
)


@lru_cache(maxsize=4096)
def find_metrics(operation: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """Looking them up by their labels takes as long as counting."""
    return REQUESTS.labels(operation, method, status), SECONDS.labels(operation)


def render_metrics() -> bytes:
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest(REGISTRY)

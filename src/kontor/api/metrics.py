"""Prometheus metrics. With several processes they meet in a folder that `PROMETHEUS_MULTIPROC_DIR` names."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import REGISTRY, Collector
from psycopg import Error
from psycopg_pool import PoolTimeout

from kontor import __version__
from kontor.domain.egress import PurposeTotal
from kontor.domain.incidents import Report
from kontor.domain.merchants import MerchantState
from kontor.domain.operator_views import DeliveryCounts
from kontor.egress import Purpose
from kontor.services.compute import ComputeObserver
from kontor.services.operations import OpsFigures, RefreshFigures, SystemFigures

log = structlog.get_logger(__name__)

REQUESTS = Counter("kontor_requests_total", "Requests answered", ["operation", "method", "status"])
SECONDS = Histogram(
    "kontor_request_seconds",
    "Time to answer",
    ["operation"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 180),
)


RUNNING = Gauge("kontor_compute_running", "Work that compute processes do now", multiprocess_mode="livesum")
WAITING = Gauge("kontor_compute_waiting", "Work that waits for a compute process", multiprocess_mode="livesum")
REJECTED = Counter("kontor_compute_rejected_total", "Calls refused with 429 or 503", ["limit"])
KILLED = Counter("kontor_compute_killed_total", "Compute processes that were replaced", ["reason"])


class ComputeMetrics(ComputeObserver):
    def change_running(self, by: int) -> None:
        RUNNING.inc(by)

    def change_waiting(self, by: int) -> None:
        WAITING.inc(by)

    def note_rejected(self, limit: str) -> None:
        REJECTED.labels(limit).inc()

    def note_killed(self, reason: str) -> None:
        KILLED.labels(reason).inc()


@lru_cache(maxsize=4096)
def find_metrics(operation: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """Looking them up by their labels takes as long as counting."""
    return REQUESTS.labels(operation, method, status), SECONDS.labels(operation)


async def render_metrics(figures: OpsFigures) -> bytes:
    """What this service has answered, and the state of the whole, which every process tells alike."""
    registry = CollectorRegistry()
    registry.register(await _read_state(figures))
    return _render_requests() + generate_latest(registry)


def _render_requests() -> bytes:
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        _forget_dead(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]))
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest(REGISTRY)


def _forget_dead(folder: Path) -> None:
    """What a process had in hand when it was killed is no longer in hand."""
    for pid in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


class _State(Collector):
    def __init__(self, families: Iterable[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self._families


async def _read_state(figures: OpsFigures) -> _State:
    """Without a database the rest is still worth telling."""
    is_up = _gauge("kontor_database_up", "Whether the database answers")
    build = _gauge("kontor_build_info", "Version of this service", "version")
    build.add_metric([__version__], 1)
    try:
        refreshes = await figures.count_refreshes(None)
        deliveries = await figures.count_deliveries(None)
        system = await figures.count_system()
        egress = await figures.sum_egress()
        deadlines = await figures.find_incident_deadlines()
    except (Error, PoolTimeout, TimeoutError, OSError) as error:
        log.warning("metrics.incomplete", reason=type(error).__name__)
        is_up.add_metric([], 0)
        return _State([is_up, build])
    is_up.add_metric([], 1)
    return _State(
        [
            is_up,
            build,
            *_show_refreshes(refreshes),
            _show_deliveries(deliveries),
            *_show_system(system),
            *_show_egress(egress),
            _show_deadlines(deadlines),
        ]
    )


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


def _show_refreshes(figures: RefreshFigures) -> list[GaugeMetricFamily]:
    counts = figures.counts
    states = _gauge("kontor_refreshes", "Accesses by state of their background refresh", "state")
    for name, count in (
        ("due", counts.due),
        ("late", counts.late),
        ("running", counts.running),
        ("failing", counts.failing),
        ("paused", sum(counts.paused.values())),
    ):
        states.add_metric([name], count)
    paused = _gauge("kontor_refreshes_paused", "Accesses that are not refreshed until their user acts", "reason")
    for reason in ("SCA", "CREDENTIALS"):
        paused.add_metric([reason.lower()], counts.paused.get(reason, 0))
    outcomes = _gauge("kontor_refresh_outcomes_24h", "How the fetches of the last 24 hours ended", "outcome")
    for state in ("DONE", "FAILED", "INTERRUPTED", "SKIPPED", "WAITING"):
        outcomes.add_metric([state.lower()], figures.outcomes.get(state, 0))
    oldest = _gauge("kontor_refresh_delay_seconds", "How long the refresh that is due longest has been due")
    delay = 0.0 if counts.oldest_due_at is None else (figures.at - counts.oldest_due_at).total_seconds()
    oldest.add_metric([], delay)
    return [states, paused, outcomes, oldest]


def _show_deliveries(counts: DeliveryCounts) -> GaugeMetricFamily:
    deliveries = _gauge(
        "kontor_webhook_deliveries", "Notifications that wait, and those discarded in the last 24 hours", "state"
    )
    deliveries.add_metric(["pending"], counts.pending)
    deliveries.add_metric(["discarded"], counts.discarded)
    return deliveries


def _show_system(figures: SystemFigures) -> list[GaugeMetricFamily]:
    outages = _gauge("kontor_provider_outages", "Providers that are down")
    outages.add_metric([], figures.outages)
    jobs = _gauge("kontor_jobs", "Jobs in the queue; failed ones are held", "entrypoint", "status")
    for job_count in figures.jobs:
        jobs.add_metric([job_count.entrypoint, job_count.status], job_count.count)
    workers = _gauge("kontor_workers", "Workers at work, and those gone without a word in the last hour", "state")
    workers.add_metric(["alive"], figures.workers_alive)
    workers.add_metric(["dead"], figures.workers_dead)
    versions = _gauge("kontor_worker_versions", "Workers at work, by the version that they run", "version")
    for version, count in figures.worker_versions.items():
        versions.add_metric([version], count)
    merchants = _gauge("kontor_model_merchants", "Merchants that the own model is or was asked about", "state")
    for state in MerchantState:
        merchants.add_metric([state.lower()], figures.merchants.get(state, 0))
    return [outages, jobs, workers, versions, merchants]


def _show_egress(totals: list[PurposeTotal]) -> list[GaugeMetricFamily]:
    """By purpose alone: hosts may be many, and are listed at /ops/v1/egress."""
    hosts = _gauge("kontor_egress_hosts", "Hosts that were connected to today (UTC)", "purpose")
    connections = _gauge("kontor_egress_connections", "Connections to other hosts today (UTC)", "purpose", "result")
    size = _gauge("kontor_egress_bytes", "Bytes of HTTP to and from other hosts today (UTC)", "purpose", "direction")
    found = {total.purpose: total for total in totals}
    for purpose in map(str, Purpose):
        total = found.get(purpose) or PurposeTotal(purpose, 0, 0, 0, 0, 0, 0)
        hosts.add_metric([purpose], total.hosts)
        connections.add_metric([purpose, "open"], total.connections)
        connections.add_metric([purpose, "failed"], total.failures)
        connections.add_metric([purpose, "refused"], total.refused)
        size.add_metric([purpose, "sent"], total.bytes_sent)
        size.add_metric([purpose, "received"], total.bytes_received)
    return [hosts, connections, size]


def _show_deadlines(deadlines: dict[Report, datetime]) -> GaugeMetricFamily:
    """No sample without an open incident."""
    seconds = _gauge("kontor_incident_deadline_seconds", "Until the next report on an incident is due", "report")
    for report, due_at in deadlines.items():
        seconds.add_metric([str(report)], (due_at - datetime.now(UTC)).total_seconds())
    return seconds

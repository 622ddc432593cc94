"""Process-level helpers of all services: clock, correlation ids, threads, parents, a cache, fault points."""

from kontor.services.runtime import fault_points
from kontor.services.runtime.clock import Clock
from kontor.services.runtime.core_files import forbid_core_files
from kontor.services.runtime.correlation import correlation_id
from kontor.services.runtime.hardening import harden_process
from kontor.services.runtime.parents import end_with_parent
from kontor.services.runtime.single_flight_cache import SingleFlightCache
from kontor.services.runtime.threads import DaemonThreads, run_in, start_in

__all__ = [
    "Clock",
    "DaemonThreads",
    "SingleFlightCache",
    "correlation_id",
    "end_with_parent",
    "fault_points",
    "forbid_core_files",
    "harden_process",
    "run_in",
    "start_in",
]

"""What operators see and what runs by itself: figures, audit views, housekeeping, worker heartbeats."""

from kontor.services.operations.egress import EgressReport
from kontor.services.operations.figures import AccessFigures, Check, OpsFigures, RefreshFigures, SystemFigures
from kontor.services.operations.housekeeping import Housekeeping
from kontor.services.operations.incidents import Incidents, list_deadlines
from kontor.services.operations.ops import MAX_SERIAL, Ops, Verification, view_as_client, view_as_operator
from kontor.services.operations.workers import Workers

__all__ = [
    "MAX_SERIAL",
    "AccessFigures",
    "Check",
    "EgressReport",
    "Housekeeping",
    "Incidents",
    "Ops",
    "OpsFigures",
    "RefreshFigures",
    "SystemFigures",
    "Verification",
    "Workers",
    "list_deadlines",
    "view_as_client",
    "view_as_operator",
]

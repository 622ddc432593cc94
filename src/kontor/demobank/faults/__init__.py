"""Fault injection: the demo bank misbehaves as real banks do, drawn from a seed so that every run can be repeated."""

from kontor.demobank.faults.injection import UNDISTURBED, FaultInjector, LostAnswerError, SubstitutedAnswerError, Visit
from kontor.demobank.faults.plans import Fault, FaultPlan, RequestKind, draw_plan, read_faults

__all__ = [
    "UNDISTURBED",
    "Fault",
    "FaultInjector",
    "FaultPlan",
    "LostAnswerError",
    "RequestKind",
    "SubstitutedAnswerError",
    "Visit",
    "draw_plan",
    "read_faults",
]

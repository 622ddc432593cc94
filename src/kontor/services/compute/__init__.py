"""CPU-bound work in processes of its own: the pool, and the pure functions that run in it."""

from kontor.services.compute.computations import (
    PIECE_ROWS,
    Packed,
    PackedPlan,
    ReadAccount,
    ReadFile,
    clean_cooperatively,
    cut,
    explain_packed,
    learn_packed,
    name_merchants_packed,
    pack,
    plan_packed,
    read_file,
    tag_packed,
    unpack_cooperatively,
)
from kontor.services.compute.compute import TURN_SECONDS, Compute, ComputeLimits, ComputeObserver

__all__ = [
    "PIECE_ROWS",
    "TURN_SECONDS",
    "Compute",
    "ComputeLimits",
    "ComputeObserver",
    "Packed",
    "PackedPlan",
    "ReadAccount",
    "ReadFile",
    "clean_cooperatively",
    "cut",
    "explain_packed",
    "learn_packed",
    "name_merchants_packed",
    "pack",
    "plan_packed",
    "read_file",
    "tag_packed",
    "unpack_cooperatively",
]

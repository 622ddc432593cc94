"""Cashflow: what came in and went out by category or partner and by span of time, and what is to be expected."""

from kontor.analysis.cashflow.findings import (
    Cashflow,
    Focus,
    Level,
    Options,
    Prediction,
    Statistic,
    TaggedBy,
)
from kontor.analysis.cashflow.groups import find_grouped_cashflow
from kontor.analysis.cashflow.own_categories import find_own_cashflow
from kontor.analysis.cashflow.series import find_cashflow
from kontor.analysis.cashflow.spans import name_month

__all__ = [
    "Cashflow",
    "Focus",
    "Level",
    "Options",
    "Prediction",
    "Statistic",
    "TaggedBy",
    "find_cashflow",
    "find_grouped_cashflow",
    "find_own_cashflow",
    "name_month",
]

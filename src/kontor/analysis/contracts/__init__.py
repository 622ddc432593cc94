"""Contracts: which bookings belong to one agreement, how often it is paid, and when it is paid next."""

from kontor.analysis.contracts.confidences import estimate_confidence
from kontor.analysis.contracts.detection import find_contracts
from kontor.analysis.contracts.findings import Contract, Loan, Status
from kontor.analysis.contracts.forecasts import forecast_payments
from kontor.analysis.contracts.naming import group_rows, list_bookings, list_known, name_contracts
from kontor.analysis.contracts.notices import find_notice_date
from kontor.analysis.contracts.price_rises import PriceRise, find_price_rise

__all__ = [
    "Contract",
    "Loan",
    "PriceRise",
    "Status",
    "estimate_confidence",
    "find_contracts",
    "find_notice_date",
    "find_price_rise",
    "forecast_payments",
    "group_rows",
    "list_bookings",
    "list_known",
    "name_contracts",
]

"""Calls of banks: the provider catalogue, the connector for a call, leases of credentials."""

from kontor.services.banks.calls import BankCalls, Prepared
from kontor.services.banks.leasing import Leasing
from kontor.services.banks.providers import BankChannelStatistics, Providers, Statistics, find_missing_fields

__all__ = [
    "BankCalls",
    "BankChannelStatistics",
    "Leasing",
    "Prepared",
    "Providers",
    "Statistics",
    "find_missing_fields",
]

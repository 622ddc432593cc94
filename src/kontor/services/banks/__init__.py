"""The gateway to banks: admission, leases of credentials, calls of connectors; and the provider catalogue."""

from kontor.services.banks.admission import REFUSALS, Admissions, Permit, Start
from kontor.services.banks.gateway import BANK_CHANNEL_KEY, BankDialogue, BankGateway, Prepared
from kontor.services.banks.leasing import HeldLease, Leasing
from kontor.services.banks.providers import BankChannelStatistics, Providers, Statistics, find_missing_fields
from kontor.services.banks.tracing import BankTracing, TracedDialogue, TracedUser

__all__ = [
    "BANK_CHANNEL_KEY",
    "REFUSALS",
    "Admissions",
    "BankChannelStatistics",
    "BankDialogue",
    "BankGateway",
    "BankTracing",
    "HeldLease",
    "Leasing",
    "Permit",
    "Prepared",
    "Providers",
    "Start",
    "Statistics",
    "TracedDialogue",
    "TracedUser",
    "find_missing_fields",
]

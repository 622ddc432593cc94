"""Fetching from a bank: the dialogue without the user, and how its result is merged and stored."""

from kontor.services.fetching.account_statements import find_wanted_statements
from kontor.services.fetching.bookings import write_plan
from kontor.services.fetching.fetching import Fetching, Outcome
from kontor.services.fetching.merges import NOTHING_KNOWN, Merges, PackedKnown
from kontor.services.fetching.notices import FAILURES
from kontor.services.fetching.results import FetchResults, LeaseLostError
from kontor.services.fetching.staging import Staging
from kontor.services.fetching.writing import FetchWriting

__all__ = [
    "FAILURES",
    "NOTHING_KNOWN",
    "FetchResults",
    "FetchWriting",
    "Fetching",
    "LeaseLostError",
    "Merges",
    "Outcome",
    "PackedKnown",
    "Staging",
    "find_wanted_statements",
    "write_plan",
]

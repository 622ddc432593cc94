"""From bookings to life events."""

from collections.abc import Sequence
from datetime import date

from kontor.analysis.contracts import Contract
from kontor.analysis.life_events.careers import find_career_events
from kontor.analysis.life_events.finances import find_finance_events
from kontor.analysis.life_events.findings import LifeEvent
from kontor.analysis.life_events.homes import find_family_events, find_home_events
from kontor.analysis.life_events.signals import LifeSignals, read_life_signals
from kontor.analysis.records import Account, Record


def find_life_events(
    records: Sequence[Record], contracts: Sequence[Contract], accounts: Sequence[Account], today: date
) -> list[LifeEvent]:
    """All events that the bookings up to today show, the oldest first."""
    return find_events(read_life_signals(records, contracts, accounts, today))


def find_events(signals: LifeSignals) -> list[LifeEvent]:
    events = [
        *find_career_events(signals),
        *find_home_events(signals),
        *find_family_events(signals),
        *find_finance_events(signals),
    ]
    events.sort(key=lambda event: (event.day, event.name, event.transaction_ids))
    return events

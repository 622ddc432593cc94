"""Signs that money is short: returned debits, reminders, collectors, seizures; and gambling."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from kontor.analysis.budgets import is_countable
from kontor.analysis.calendars import DAY
from kontor.analysis.day_order import order_records, select_days
from kontor.analysis.earned_income import GAMBLING_CATEGORY, RETURNED_CODES, is_gambling, is_returned
from kontor.analysis.life_events.signals import subtract_months
from kontor.analysis.life_events.signs import COLLECTION, read_text
from kontor.analysis.records import Record

_REMINDER = re.compile(r"MAHNGEB|MAHNKOST|MAHNSPES|MAHNENTG|MAHNUNG")
_SEIZURE = re.compile(r"PFAENDUNG|GERICHTSVOLLZ|VOLLSTRECK|PFUEB|DRITTSCHULDNER")
# Only bookings of these kinds are read for words; all else is everyday life.
_READ = frozenset({"BANKFINANCE_OTHER", "OTHER_SPENDING", "SERVICES_FINANCIAL", "SERVICES_OFFLINE", "SERVICES_OTHER"})


@dataclass(slots=True)
class DistressSignals:
    """Bookings of twelve months, by what they are a sign of. `return_fees` go with returned debits."""

    returned_debits: list[Record] = field(default_factory=list)
    return_fees: list[Record] = field(default_factory=list)
    reminders: list[Record] = field(default_factory=list)
    collections: list[Record] = field(default_factory=list)
    seizures: list[Record] = field(default_factory=list)
    gambling: list[Record] = field(default_factory=list)

    @property
    def returned_count(self) -> int:
        """Some banks show the returned debit, some its fee, some both."""
        return len(self.returned_debits) or len(self.return_fees)

    @property
    def has_any(self) -> bool:
        return bool(self.returned_count or self.reminders or self.collections or self.seizures)


def sum_gambling(records: Iterable[Record]) -> Decimal:
    """What was staked; winnings do not count."""
    return -sum((record.amount for record in records if record.amount < 0 and is_gambling(record)), Decimal(0))


def find_distress_signals(records: Sequence[Record], today: date) -> DistressSignals:
    """Of the twelve months up to today."""
    signals = DistressSignals()
    begin = subtract_months(today, 12) + DAY
    for record in select_days(order_records(records), begin, today):
        category = record.category
        if category in _READ or record.business_code in RETURNED_CODES:
            if is_countable(record, today):
                _add_signal(record, signals)
        elif category == GAMBLING_CATEGORY and is_countable(record, today) and is_gambling(record):
            signals.gambling.append(record)
    return signals


def _add_signal(record: Record, signals: DistressSignals) -> None:
    text = read_text(record)
    if is_returned(record):
        (signals.returned_debits if record.amount > 0 else signals.return_fees).append(record)
    elif record.amount > 0:
        return
    elif _SEIZURE.search(text):
        signals.seizures.append(record)
    elif COLLECTION.search(text):
        signals.collections.append(record)
    elif _REMINDER.search(text):
        signals.reminders.append(record)

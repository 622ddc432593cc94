"""Bookings to measure with: the demo bank's, no two of them alike, with what is true about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from random import Random

from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.domain.transactions import Transaction

TODAY = date(2026, 11, 15)
# What a process tags before it is measured.
WARM_SUFFIXES, WARM_ROWS = ("+warm",), 12_000


@dataclass(frozen=True)
class Labelled:
    """`labels` are category, insurance type, partner and freelancer category."""

    transaction: Transaction
    labels: tuple[str, str, str, str]


def list_rows(suffix: str) -> Iterator[Labelled]:
    """Of all kinds of people with that suffix of the login, in the order of their accounts."""
    for persona in PERSONAS:
        yield from list_rows_of(persona + suffix)


def list_rows_of(login: str) -> Iterator[Labelled]:
    person = person_for(login, TODAY)
    assert person is not None
    for account in person.accounts:
        for entry in account.entries:
            truth = entry.truth
            labels = (truth.category, truth.insurance_type, truth.partner or "", truth.freelancer_category)
            yield Labelled(entry.transaction, labels)


def list_history(number: int) -> list[Labelled]:
    """All that one person has booked in five years, as a first fetch brings it: many rows are much alike."""
    return list(list_rows_of(f"{PERSONAS[number % len(PERSONAS)]}+history"))


def pick_rows(suffixes: tuple[str, ...], count: int, seed: int = 7) -> list[Labelled]:
    """So many that differ in their texts or their amount, mixed. It takes as many suffixes as needed."""
    by_content: dict[tuple[object, ...], Labelled] = {}
    for suffix in suffixes:
        for row in list_rows(suffix):
            transaction = row.transaction
            by_content.setdefault(
                (transaction.amount, transaction.counterparty_name, transaction.purpose, transaction.booking_text), row
            )
        if len(by_content) >= count:
            break
    rows = list(by_content.values())
    Random(seed).shuffle(rows)
    if len(rows) < count:
        raise ValueError(f"only {len(rows)} different rows")
    return rows[:count]

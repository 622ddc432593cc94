"""What the simulated bank's customers have on their accounts: a pure function of login and time."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST = timedelta(days=2)  # before the beginning of the simulation there are some bookings already


@dataclass(frozen=True, slots=True)
class Booking:
    id: str
    at: datetime
    cents: int
    purpose: str


def list_bookings(login: str, start: datetime, now: datetime) -> list[Booking]:
    """About three a day, at moments of the login's own; oldest first."""
    bookings = []
    moment = start - FIRST
    number = 0
    while True:
        digest = hashlib.sha256(f"{login} {number}".encode()).digest()
        moment += timedelta(minutes=60 + int.from_bytes(digest[:2], "big") % 840)
        if moment > now:
            return bookings
        cents = int.from_bytes(digest[2:4], "big") - 50_000
        bookings.append(Booking(f"{login}-{number}", moment, cents or 1, f"Buchung {number} {digest[4:8].hex()}"))
        number += 1

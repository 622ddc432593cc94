"""What led to a finding."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of what led to a finding, and the bookings that it stands on."""

    text: str
    transaction_ids: tuple[str, ...] = ()

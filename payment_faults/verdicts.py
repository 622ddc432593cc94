"""What became of a payment after a fault, judged by the bank's books and by what the customer was told."""

from dataclasses import dataclass
from enum import StrEnum

PAID = frozenset(("EXECUTED", "ACCEPTED"))
UNDER_WAY = frozenset(("DRAFT", "OPEN", "SENDING"))


class Verdict(StrEnum):
    """`CONTRADICTED`: reported as failed, but booked; booked with another amount; or listed otherwise.

    `ERROR`: the run itself failed.
    """

    FINE = "fine"
    DOUBLE = "double"
    LOST = "lost"
    STUCK = "stuck"
    CONTRADICTED = "contradicted"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Evidence:
    """`told` are all states that the customer was shown, `state` is the stored one at the end, None without a row.

    `debits` counts the bank's bookings of the order, `cents` is their sum and `ordered_cents` what was ordered.
    Of a standing order they are the instructions about it that the bank has decided, and its amount. `is_list_right`:
    Kontor lists the standing order as the bank has it, where the outcome is known, else as it was before.
    `needs_customer`: the bank lets nobody in for a look-up without SCA, so that none is scheduled.
    """

    told: tuple[str, ...]
    state: str | None
    has_lookup: bool
    debits: int
    cents: int
    ordered_cents: int
    needs_customer: bool = False
    is_list_right: bool = True


def judge(evidence: Evidence) -> Verdict:
    is_told_paid = bool(PAID & {*evidence.told, evidence.state})
    is_told_failed = "FAILED" in (*evidence.told, evidence.state)
    if evidence.debits > 1:
        return Verdict.DOUBLE
    if evidence.state is None or (is_told_paid and evidence.debits == 0):
        return Verdict.LOST
    if evidence.debits == 1 and (is_told_failed or evidence.cents != evidence.ordered_cents):
        return Verdict.CONTRADICTED
    if not evidence.is_list_right:
        return Verdict.CONTRADICTED
    if evidence.state in UNDER_WAY:
        return Verdict.STUCK
    if evidence.state == "UNKNOWN" and not (evidence.has_lookup or evidence.needs_customer):
        return Verdict.STUCK
    return Verdict.FINE

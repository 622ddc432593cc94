"""What a tenant knows of merchants: the category that the operator's model or the tenant itself has named."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

# How sure a category is that a model has named. It is not fitted: nobody knows which model that is.
MODEL_CONFIDENCE = 0.6
APPROVED_CONFIDENCE = 1.0
MAX_OPEN = 1000  # of a tenant: more are not collected until some of these have been asked
MAX_ATTEMPTS = 10
FIRST_PAUSE, MAX_PAUSE = timedelta(minutes=2), timedelta(days=1)


class MerchantState(StrEnum):
    OPEN = "OPEN"
    SUGGESTED = "SUGGESTED"
    UNANSWERED = "UNANSWERED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class Merchant:
    """`merchant` are words in lower case, without numbers. There is a category where the state says so."""

    id: UUID
    merchant: str
    state: MerchantState
    category: str | None = None
    model: str | None = None
    answered_at: datetime | None = None


def find_confidence(state: MerchantState) -> float:
    return APPROVED_CONFIDENCE if state is MerchantState.APPROVED else MODEL_CONFIDENCE


def plan_pause(failures: int) -> timedelta:
    """Until the next request after so many failed ones."""
    return min(FIRST_PAUSE * int(4 ** min(failures - 1, 10)), MAX_PAUSE)

"""The web form of redirect tenants: sessions, dialogues, choice of accounts, payments, callbacks."""

from kontor.services.redirects.dialogues import MAX_WRONG_LOGINS, is_beginning
from kontor.services.redirects.payments import Details
from kontor.services.redirects.redirects import FormView, Redirects
from kontor.services.redirects.sessions import SessionGoneError, StaleStepError, delete_unconfirmed, end_abandoned

__all__ = [
    "MAX_WRONG_LOGINS",
    "Details",
    "FormView",
    "Redirects",
    "SessionGoneError",
    "StaleStepError",
    "delete_unconfirmed",
    "end_abandoned",
    "is_beginning",
]

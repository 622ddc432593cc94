"""The web form of redirect tenants: sessions, dialogues, choice of accounts, payments, callbacks."""

from kontor.services.redirects.dialogues import MAX_WRONG_LOGINS, is_beginning
from kontor.services.redirects.payments import Details
from kontor.services.redirects.redirects import Redirects
from kontor.services.redirects.sessions import SessionGoneError, StaleStepError, delete_unconfirmed, end_abandoned
from kontor.services.redirects.views import AccessFormView, FormView, PaymentFormView

__all__ = [
    "MAX_WRONG_LOGINS",
    "AccessFormView",
    "Details",
    "FormView",
    "PaymentFormView",
    "Redirects",
    "SessionGoneError",
    "StaleStepError",
    "delete_unconfirmed",
    "end_abandoned",
    "is_beginning",
]

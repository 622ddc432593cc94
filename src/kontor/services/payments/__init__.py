"""Payments: requests, drafts, payee verification, the dialogue with the bank, recovery, exports."""

from kontor.services.payments.debtors import Debtor, PaymentDebtors, check_support
from kontor.services.payments.dialogues import PaymentView
from kontor.services.payments.drafts import PaymentDrafts
from kontor.services.payments.exports import PaymentExports
from kontor.services.payments.payments import DraftChangedError, PaymentNotOpenError, Payments
from kontor.services.payments.requests import PaymentRequest, check_collector
from kontor.services.payments.standing_orders import StandingOrders, find_standing_id
from kontor.services.payments.verifications import LoginRefusedError

__all__ = [
    "Debtor",
    "DraftChangedError",
    "LoginRefusedError",
    "PaymentDebtors",
    "PaymentDrafts",
    "PaymentExports",
    "PaymentNotOpenError",
    "PaymentRequest",
    "PaymentView",
    "Payments",
    "StandingOrders",
    "check_collector",
    "check_support",
    "find_standing_id",
]

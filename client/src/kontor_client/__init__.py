"""A typed client of Kontor, with and without asyncio.

    with Kontor.login(base_url, client, client_secret, username, password) as kontor:
        for access in kontor.list_accesses().values():
            print(access.id, access.status)

How it is made: an operation is written once, as a plan (plans.py, operations/); a session adds token and retries
(sessions.py, retries.py); two runners carry plans out (running.py). The guide is docs/guides/clients.md.
"""

from kontor_client.answers import Answer
from kontor_client.authentication import Authenticator
from kontor_client.clients import AsyncKontor, Kontor
from kontor_client.errors import (
    AccessFailedError,
    ApiError,
    AuthenticationNeededError,
    ForeignAddressError,
    KontorClientError,
    Message,
    TimeLimitError,
    UnexpectedAnswerError,
    UnreachableError,
)
from kontor_client.models.accesses import Access, AccessStatus, Product, ProductCategory
from kontor_client.models.authentication import Challenge, ConsentStatus, ScaMedium, ScaMethod
from kontor_client.models.payments import Debit, Order, TransferStatus
from kontor_client.models.tags import RuleConditions
from kontor_client.models.transactions import Batch, NewTransaction, Transaction
from kontor_client.models.webhooks import Notification
from kontor_client.operations.all_transactions import Filters
from kontor_client.operations.transaction_edits import NewPart
from kontor_client.webhooks import SignatureError, verify_webhook

__all__ = [
    "Access",
    "AccessFailedError",
    "AccessStatus",
    "Answer",
    "ApiError",
    "AsyncKontor",
    "AuthenticationNeededError",
    "Authenticator",
    "Batch",
    "Challenge",
    "ConsentStatus",
    "Debit",
    "Filters",
    "ForeignAddressError",
    "Kontor",
    "KontorClientError",
    "Message",
    "NewPart",
    "NewTransaction",
    "Notification",
    "Order",
    "Product",
    "ProductCategory",
    "RuleConditions",
    "ScaMedium",
    "ScaMethod",
    "SignatureError",
    "TimeLimitError",
    "Transaction",
    "TransferStatus",
    "UnexpectedAnswerError",
    "UnreachableError",
    "verify_webhook",
]

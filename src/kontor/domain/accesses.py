"""A customer's access to a bank, what is known about it, and what went wrong with it."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid5

from kontor.domain.errors import InvalidError
from kontor.domain.products import ProductCategory
from kontor.domain.sca import ScaMedium, ScaMethod

# How long data is kept that is not stored permanently.
DATA_LIFETIME = timedelta(hours=1)
# The access that holds statement files for which no other was named.
FILES_ACCESS = "dateien"
_ACCESS_ID = re.compile(r"[A-Za-z0-9._~-]{1,64}")
# Words that are, or may become, path segments where an access id stands.
RESERVED_IDS = frozenset(
    (
        ".",
        "..",
        "bulk-transfer",
        "cancel",
        "consent",
        "depotpositionen",
        "issues",
        "kontoumsaetze",
        "payment",
        "payments",
        "poll",
        "single-transfer",
        "vop",
    )
)


class AccessStatus(StrEnum):
    STARTED = "STARTED"
    HEADERS = "HEADERS"
    COMPLETE = "COMPLETE"


class History(StrEnum):
    """How far back transactions are wanted: everything, 90 days, or everything of payment accounts only."""

    ALL = "ALL"
    RECENT = "RECENT"
    PAYMENT_ACCOUNTS = "PAYMENT_ACCOUNTS"

    def is_short_for(self, category: ProductCategory) -> bool:
        """Are only recent transactions of such a product wanted?"""
        return self is History.RECENT or (self is History.PAYMENT_ACCOUNTS and category is not ProductCategory.CHECKING)


class NoticeKind(StrEnum):
    """Everything that can be said about an access or product. The set is closed; `wire` has a text for each."""

    INTERNAL = "INTERNAL"
    LOCKED = "LOCKED"
    WRONG_CREDENTIALS = "WRONG_CREDENTIALS"
    INCOMPLETE_CREDENTIALS = "INCOMPLETE_CREDENTIALS"
    UNREACHABLE = "UNREACHABLE"
    ACCESS_INCOMPLETE = "ACCESS_INCOMPLETE"
    PRODUCT = "PRODUCT"
    TRANSACTIONS = "TRANSACTIONS"
    POSITIONS = "POSITIONS"
    BANK_MESSAGE = "BANK_MESSAGE"
    SCA_NEEDED = "SCA_NEEDED"
    BALANCE_MISMATCH = "BALANCE_MISMATCH"

    @property
    def is_for_the_user(self) -> bool:
        """Can the user act on it? Then it belongs into the access itself, not only among its issues."""
        return self in _FOR_THE_USER


_FOR_THE_USER = frozenset(
    (
        NoticeKind.LOCKED,
        NoticeKind.WRONG_CREDENTIALS,
        NoticeKind.INCOMPLETE_CREDENTIALS,
        NoticeKind.BANK_MESSAGE,
        NoticeKind.SCA_NEEDED,
    )
)


@dataclass(frozen=True, slots=True)
class Notice:
    """`detail` says more about it, `count` how many, where that matters. `product_id` is the product it is about."""

    kind: NoticeKind
    detail: str | None = None
    count: int | None = None
    product_id: UUID | None = None
    product_name: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """`form_session_id` is the web form session in which it is being added, until the user has chosen accounts.

    `known_products` are all that the bank has ever named, selected or not; None where that is not known.
    `history` is how far back every fetch of it goes. `wants_statements`: fetches ask for account statements as well.
    """

    id: str
    provider_id: UUID
    status: AccessStatus
    is_synced: bool
    updated_at: datetime
    expires_at: datetime | None = None
    selected_products: tuple[UUID, ...] | None = None
    methods: tuple[ScaMethod, ...] = ()
    media: tuple[ScaMedium, ...] = ()
    active_method: ScaMethod | None = None
    messages: tuple[Notice, ...] = ()
    issues: tuple[Notice, ...] = ()
    issues_at: datetime | None = None
    consent_until: date | None = None
    active_medium: str | None = None
    form_session_id: UUID | None = None
    known_products: tuple[UUID, ...] | None = None
    history: History = History.ALL
    wants_statements: bool = False

    @property
    def is_confirmed(self) -> bool:
        """Only then is it customer data. Before, nobody but its form session may know more than that it is there."""
        return self.form_session_id is None

    def is_over(self, now: datetime) -> bool:
        """Has data that is not stored permanently reached its end? It is then shown to nobody, and soon deleted."""
        return self.expires_at is not None and self.expires_at <= now


def check_access_id(access_id: str) -> str:
    if not _ACCESS_ID.fullmatch(access_id):
        raise InvalidError("an access id has 1 to 64 characters of A-Z a-z 0-9 . _ ~ -", access_id[:64] or "access id")
    if access_id.lower() in RESERVED_IDS:
        raise InvalidError("this word is reserved and cannot be an access id", access_id)
    return access_id


def make_product_id(user_id: UUID, access_id: str, bank_key: str) -> UUID:
    """Unique per user, and the same again when the access is removed and added under its old id."""
    return uuid5(user_id, f"{access_id}\n{bank_key}")

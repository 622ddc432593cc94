"""Webhooks, their deliveries, and what a receiver gets."""

from datetime import datetime

from kontor_client.models.shapes import Model


class Webhook(
    Model, rename={"is_active": "active", "is_gone": "gone", "last_serial": "lastSerial", "created_at": "createdAt"}
):
    """`secret` is there once: when it was made. It is not shown by `repr`."""

    id: str
    url: str
    events: list[str]
    is_active: bool
    last_serial: int
    created_at: datetime
    description: str | None = None
    is_gone: bool = False
    secret: str | None = None

    def __repr__(self) -> str:
        return f"Webhook(id={self.id!r}, url={self.url!r}, is_active={self.is_active!r})"


class Delivery(Model, rename="camel"):
    """An event and how its calls went."""

    serial: int
    type: str
    created_at: datetime
    state: str
    attempts: int
    last_attempt_at: datetime | None = None
    next_attempt_at: datetime | None = None
    status: int | None = None
    failure: str | None = None


class AccessReference(Model):
    id: str
    href: str


class NewTransactions(
    Model, rename={"count": "neueUmsaetze", "changed_count": "geaendert", "removed_count": "entfernt"}
):
    """A product with so many new transactions, and so many that have changed or are gone."""

    id: str
    count: int
    changed_count: int = 0
    removed_count: int = 0


class TransferReference(Model, rename={"payment_id": "paymentId"}):
    payment_id: str
    href: str | None = None


class Notification(Model, rename={"created_at": "createdAt", "access": "bankzugang", "products": "produkte"}):
    """What a receiver is told. Without `user`, that user was erased since.

    `cursor` is the user's position in changes of transactions after the event.
    """

    type: str
    serial: int
    created_at: datetime
    tenant: str
    user: str | None = None
    access: AccessReference | None = None
    products: list[NewTransactions] = []
    transfer: TransferReference | None = None
    cursor: str | None = None


class Events(Model, rename="camel"):
    """Events after a serial, oldest first; those before `oldest_serial` are no longer kept."""

    oldest_serial: int
    last_serial: int
    events: list[Notification]

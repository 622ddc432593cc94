"""Push subscriptions (Web Push), as the customer interface shows them."""

import base64
import binascii
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.errors import InvalidError
from kontor.domain.push import AUTH_BYTES, POINT_BYTES, PushKeys
from kontor.domain.push import PushSubscription as DomainSubscription
from kontor.services.alerts import NewSubscription
from kontor.wire.alerts import KINDS, Kind
from kontor.wire.encoding import format_timestamp
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

KINDS_INSIDE = {word: kind for kind, word in KINDS.items()}


class PushKey(msgspec.Struct):
    key: Annotated[str, Meta(description="`applicationServerKey` for the browser: a point of P-256, base64url")]


class PushKeysOfBrowser(msgspec.Struct):
    """As a browser's `PushSubscription.toJSON()` has them."""

    p256dh: Annotated[str, Meta(max_length=200, description="the browser's public key, base64url")]
    auth: Annotated[str, Meta(max_length=50, description="16 bytes, base64url")]

    def read(self) -> PushKeys:
        public = _decode(self.p256dh, "keys.p256dh", POINT_BYTES)
        return PushKeys(public, _decode(self.auth, "keys.auth", AUTH_BYTES))


class NewPushSubscription(msgspec.Struct):
    endpoint: Annotated[str, Meta(max_length=2000, description="where the browser's push service takes messages")]
    keys: PushKeysOfBrowser
    arten: Annotated[list[Kind], Meta(min_length=1, description="only these kinds; all if absent")] | None = None

    def read(self) -> NewSubscription:
        kinds = None if self.arten is None else tuple(KINDS_INSIDE[word] for word in dict.fromkeys(self.arten))
        return NewSubscription(self.endpoint, self.keys.read(), kinds)


class PushSubscription(msgspec.Struct):
    id: UUID
    endpoint: str
    erstelltAm: Timestamp  # noqa: N815
    relations: list[Relation]
    arten: Annotated[list[Kind], Meta(description="absent: all")] | UnsetType = UNSET


def show_subscription(subscription: DomainSubscription, urls: Urls) -> PushSubscription:
    return PushSubscription(
        id=subscription.id,
        endpoint=subscription.endpoint,
        erstelltAm=format_timestamp(subscription.created_at),
        relations=[Relation("self", urls.push_subscription(subscription.id))],
        arten=UNSET if subscription.kinds is None else [KINDS[kind] for kind in subscription.kinds],
    )


def _decode(text: str, field: str, size: int) -> bytes:
    try:
        decoded = base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidError("must be base64url", field) from None
    if len(decoded) != size:
        raise InvalidError(f"must be {size} bytes in base64url", field)
    return decoded

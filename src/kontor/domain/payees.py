"""Payees that a user has paid before, and the limits and holds that the user has set for them."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid5

from kontor.domain.payments import Order, PayeeResult, PayeeWarning, PayeeWarningKind

MAX_HOLD_HOURS = 720
_GERMAN = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l"}
)
_TITLES = frozenset({"herr", "frau", "dr", "prof"})


@dataclass(frozen=True, slots=True)
class PayeeUse:
    """Executed orders with one name and IBAN: the first, the last, and the latest verification."""

    name: str
    iban: str
    first_at: datetime
    last_at: datetime
    result: PayeeResult | None = None
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PayeeSettings:
    """`max_amount` is for all orders of a day. `held_until` is what is left of a hold that was shortened."""

    max_amount: Decimal | None = None
    hold_hours: int | None = None
    held_until: datetime | None = None

    def is_in_force(self, now: datetime) -> bool:
        is_held = self.held_until is not None and self.held_until > now
        return self.max_amount is not None or bool(self.hold_hours) or is_held


@dataclass(frozen=True, slots=True)
class Payee:
    """An IBAN that was paid. `name` is the latest; `changed_at` is when it was used first."""

    id: UUID
    name: str
    iban: str
    first_at: datetime
    last_at: datetime
    changed_at: datetime
    result: PayeeResult | None
    verified_at: datetime | None
    settings: PayeeSettings

    def find_hold_end(self) -> datetime | None:
        """Until when no order to this payee is taken; may be over."""
        ends = [] if self.settings.held_until is None else [self.settings.held_until]
        if self.settings.hold_hours:
            ends.append(self.changed_at + timedelta(hours=self.settings.hold_hours))
        return max(ends, default=None)


def name_payee(user_id: UUID, iban: str) -> UUID:
    """The id of a payee is the same for as long as the IBAN is."""
    return uuid5(user_id, f"payee {iban}")


def fold_name(name: str) -> str:
    """Equal for spellings of one name: case, accents, punctuation, titles and the order of words do not count."""
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_GERMAN))
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    words = re.findall(r"[^\W_]+", letters)
    return " ".join(sorted(word for word in words if word not in _TITLES) or words)


def find_warnings(orders: Sequence[Order], uses: Sequence[PayeeUse]) -> tuple[PayeeWarning, ...]:
    """What differs from earlier orders: a known IBAN under another name, a known name with another IBAN."""
    by_iban: dict[str, PayeeUse] = {}
    by_name: dict[str, PayeeUse] = {}
    known: set[tuple[str, str]] = set()
    for use in sorted(uses, key=lambda use: use.last_at):
        name = fold_name(use.name)
        by_iban[use.iban] = by_name[name] = use
        known.add((use.iban, name))
    warnings = []
    for number, order in enumerate(orders, 1):
        name = fold_name(order.recipient)
        if (order.iban, name) in known:
            continue
        if order.iban in by_iban:
            warnings.append(PayeeWarning(PayeeWarningKind.OTHER_NAME, number, by_iban[order.iban].name))
        elif name and name in by_name:
            warnings.append(PayeeWarning(PayeeWarningKind.OTHER_IBAN, number, by_name[name].iban))
    return tuple(warnings)


def gather_payees(user_id: UUID, uses: Iterable[PayeeUse], settings: Mapping[UUID, PayeeSettings]) -> list[Payee]:
    """One payee per IBAN, the one that was paid last first."""
    by_iban: dict[str, list[PayeeUse]] = {}
    for use in uses:
        by_iban.setdefault(use.iban, []).append(use)
    found = [_gather(user_id, iban, of_iban, settings) for iban, of_iban in by_iban.items()]
    return sorted(found, key=lambda payee: (payee.last_at, payee.iban), reverse=True)


def _gather(user_id: UUID, iban: str, uses: Sequence[PayeeUse], settings: Mapping[UUID, PayeeSettings]) -> Payee:
    payee_id = name_payee(user_id, iban)
    latest = max(uses, key=lambda use: use.last_at)
    same_name = [use for use in uses if fold_name(use.name) == fold_name(latest.name)]
    verified = max((use for use in uses if use.verified_at is not None), key=_tell_verification, default=None)
    return Payee(
        id=payee_id,
        name=latest.name,
        iban=iban,
        first_at=min(use.first_at for use in uses),
        last_at=latest.last_at,
        changed_at=min(use.first_at for use in same_name),
        result=None if verified is None else verified.result,
        verified_at=None if verified is None else verified.verified_at,
        settings=settings.get(payee_id, PayeeSettings()),
    )


def _tell_verification(use: PayeeUse) -> datetime:
    assert use.verified_at is not None
    return use.verified_at


def change_settings(known: PayeeSettings, changed: PayeeSettings, now: datetime) -> PayeeSettings:
    """A looser rule starts a hold as long as the one before: a thief must not be able to switch it off and pay."""
    was_limited, was_held = known.max_amount is not None, bool(known.hold_hours)
    is_limit_raised = was_limited and (changed.max_amount is None or changed.max_amount > (known.max_amount or 0))
    is_hold_shortened = was_held and (changed.hold_hours or 0) < (known.hold_hours or 0)
    until = known.held_until
    if was_held and (is_limit_raised or is_hold_shortened):
        waited = now + timedelta(hours=known.hold_hours or 0)
        until = waited if until is None else max(until, waited)
    return PayeeSettings(changed.max_amount, changed.hold_hours, until)

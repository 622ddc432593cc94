"""The bookings of a credit file, and corrections of their tags by an adviser. They hold in the file alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from msgspec import structs

from kontor.analysis.barred_inputs import load_barred_inputs
from kontor.analysis.credit_files import correct_record
from kontor.analysis.records import Record, make_record
from kontor.domain.credit_files import FileBooking, FileContents, TagCorrection
from kontor.domain.errors import InvalidError
from kontor.domain.own_categories import fits_basis, resolve_basis
from kontor.domain.principals import Principal, user_of
from kontor.domain.tags import TagSource
from kontor.services.analyses import choose_category
from kontor.storage import annotations, tags
from kontor.storage.database import Connection


@dataclass(frozen=True, slots=True)
class WantedCorrection:
    """As the adviser gives it; `field` is its place in the body."""

    transaction_id: UUID
    category: str
    field: str


async def list_bookings(connection: Connection, reader: Principal, contents: FileContents) -> list[FileBooking]:
    """Those that may be shown, the newest first: neither barred ones nor those whose parts may be."""
    user_id, corrections = (
        user_of(reader),
        {correction.transaction_id: correction for correction in contents.corrections},
    )
    ids = sorted(contents.transaction_ids | corrections.keys())
    split = await annotations.list_split(connection, user_id, ids)
    bookings = [
        FileBooking(row.id, row.transaction, row.tags)
        for row in await tags.list_tagged_rows(connection, user_id, ids)
        if row.tags is not None and row.transaction.booked_at is not None and row.id not in split
    ]
    shown = [_follow(booking, corrections.get(booking.id)) for booking in bookings if not _is_barred(booking)]
    return sorted(shown, key=lambda booking: (booking.transaction.booked_at, booking.id), reverse=True)


def settle_corrections(
    bookings: Sequence[FileBooking],
    earlier: Iterable[TagCorrection],
    wanted: Sequence[WantedCorrection],
    adviser_id: UUID,
    now: datetime,
) -> tuple[TagCorrection, ...]:
    """Those of the next version: what is wanted, and earlier ones that still hold."""
    shown = {booking.id: booking for booking in bookings}
    chosen = {one.transaction_id: one for one in earlier if _holds(shown.get(one.transaction_id))}
    for one in wanted:
        booking = shown.get(one.transaction_id)
        if booking is None:
            raise InvalidError("is no booking that this credit file shows", f"{one.field}.umsatz")
        category = _choose(booking, one)
        chosen.pop(booking.id, None)
        if category != booking.tags.category:  # otherwise the data say it already
            chosen[booking.id] = TagCorrection(booking.id, booking.tags.category, category, adviser_id, now)
    return tuple(sorted(chosen.values(), key=lambda correction: (correction.at, correction.transaction_id)))


def _follow(booking: FileBooking, correction: TagCorrection | None) -> FileBooking:
    """What the customer has said since the correction counts more."""
    if correction is None:
        return booking
    said_since = booking.tags.source is TagSource.USER and booking.tags.category != correction.before
    return booking if said_since else replace(booking, corrected=correction.after)


def _holds(booking: FileBooking | None) -> bool:
    return booking is not None and booking.corrected is not None


def _choose(booking: FileBooking, wanted: WantedCorrection) -> str:
    field = f"{wanted.field}.systemName"
    choice, amount = choose_category(wanted.category, field, {}), booking.transaction.amount
    if not fits_basis(choice.basis, amount):
        raise InvalidError("this category does not fit the sign of the amount", field)
    category = resolve_basis(choice.basis, amount)
    if category == booking.category:
        raise InvalidError("the booking has this category already", field)
    if not load_barred_inputs().remove([correct_record(_read(booking), category)]):
        raise InvalidError("credit files know no bookings of this kind: only the customer can correct it so", field)
    return category


def _is_barred(booking: FileBooking) -> bool:
    return not load_barred_inputs().remove([_read(booking)])


def _read(booking: FileBooking) -> Record:
    record = make_record(str(booking.id), "", booking.transaction, booking.tags)
    return structs.replace(record, own_category=booking.tags.own_category)

"""Reviews of credit files: what advisers list, read and give, and what customers ask for."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.cleaning import require_text
from kontor.domain.credit_files import FileBooking, ReviewEntry, ReviewRequest, ReviewStatus
from kontor.services.credit_files import WantedCorrection
from kontor.wire.credit_files import REVIEWS, ReviewWord, SystemName
from kontor.wire.encoding import format_timestamp
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Kommentar = Annotated[str, Meta(min_length=1, max_length=1000)]
ReviewStatusWord = Annotated[Literal["UNGEPRUEFT", "ANGEFORDERT", "GEPRUEFT"], Meta(title="PruefungStatus")]
REVIEW_STATUSES: dict[ReviewStatus, ReviewStatusWord] = {
    ReviewStatus.OPEN: "UNGEPRUEFT",
    ReviewStatus.REQUESTED: "ANGEFORDERT",
    ReviewStatus.REVIEWED: "GEPRUEFT",
}
REVIEW_STATUSES_INSIDE = {word: status for status, word in REVIEW_STATUSES.items()}
REVIEWS_INSIDE = {word: result for result, word in REVIEWS.items()}


class NewKorrektur(msgspec.Struct):
    umsatz: Annotated[UUID, Meta(description="id of a booking that `transactions` of the credit file shows")]
    systemName: Annotated[SystemName, Meta(max_length=100)]  # noqa: N815


class NewPruefung(msgspec.Struct):
    kommentar: Kommentar
    ergebnis: ReviewWord
    korrekturen: Annotated[
        list[NewKorrektur], Meta(max_length=100, description="categories of single bookings; with `NEU_BERECHNET`")
    ] = msgspec.field(default_factory=list)

    def list_wanted(self) -> list[WantedCorrection]:
        return [
            WantedCorrection(correction.umsatz, correction.systemName, f"korrekturen[{number}]")
            for number, correction in enumerate(self.korrekturen)
        ]

    @property
    def comment(self) -> str:
        return require_text(self.kommentar, "kommentar")


class NewPruefungswunsch(msgspec.Struct):
    kommentar: Annotated[str, Meta(min_length=1, max_length=1000, description="what is to be looked at, and why")]

    @property
    def comment(self) -> str:
        return require_text(self.kommentar, "kommentar")


class Pruefungswunsch(msgspec.Struct):
    kommentar: Kommentar
    angefordertAm: Timestamp  # noqa: N815


class PruefungEintrag(msgspec.Struct):
    """A credit file that an adviser can read now. `angefordertAm` is there where the customer asks for a review."""

    id: UUID
    userReference: UUID  # noqa: N815
    version: int
    erstelltAm: Timestamp  # noqa: N815
    status: ReviewStatusWord
    relations: list[Relation]
    angefordertAm: Timestamp | UnsetType = UNSET  # noqa: N815


class Aktenumsatz(msgspec.Struct, kw_only=True):
    """A booking behind a credit file, as it is now."""

    id: UUID
    betrag: Amount
    waehrung: str
    buchungsdatum: Timestamp
    systemName: Annotated[SystemName, Meta(description="its category in the file")]  # noqa: N815
    verwendungszweck: str | UnsetType = UNSET
    buchungstext: str | UnsetType = UNSET
    gegenkontoInhaber: str | UnsetType = UNSET  # noqa: N815
    korrigiert: Annotated[bool, Meta(description="true where `korrekturen` of the file has it")] | UnsetType = UNSET


def show_review_entry(entry: ReviewEntry, urls: Urls) -> PruefungEintrag:
    asked = entry.requested_at
    return PruefungEintrag(
        id=entry.file_id,
        userReference=entry.user_id,
        version=entry.version,
        erstelltAm=format_timestamp(entry.created_at),
        status=REVIEW_STATUSES[entry.status],
        relations=urls.credit_review_relations(
            entry.file_id, is_requested=asked is not None, shows_bookings=entry.shows_bookings
        ),
        angefordertAm=UNSET if asked is None else format_timestamp(asked),
    )


def show_booking(booking: FileBooking) -> Aktenumsatz:
    shown = booking.transaction
    assert shown.booked_at is not None, "what is analysed has a date"
    return Aktenumsatz(
        id=booking.id,
        betrag=shown.amount,
        waehrung=shown.currency,
        buchungsdatum=format_timestamp(shown.booked_at),
        systemName=booking.category,
        verwendungszweck=shown.purpose or UNSET,
        buchungstext=shown.booking_text or UNSET,
        gegenkontoInhaber=shown.counterparty_name or UNSET,
        korrigiert=True if booking.corrected else UNSET,
    )


def show_request(request: ReviewRequest) -> Pruefungswunsch:
    return Pruefungswunsch(request.comment, format_timestamp(request.requested_at))

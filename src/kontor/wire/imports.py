"""What came of a statement file, account by account."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.services.statements import Import, ImportedAccount
from kontor.wire.products import Amount, present


class ImportRejection(msgspec.Struct):
    grund: Annotated[str, Meta(description="why the row could not be read")]
    zeile: Annotated[int, Meta(description="line of the file, from 1; absent where it cannot be told")] | UnsetType = (
        UNSET
    )


class ImportDoubt(msgspec.Struct):
    art: Annotated[str, Meta(examples=["BALANCE_MISMATCH"])]
    differenz: (
        Annotated[Amount, Meta(description="what the file says minus what its bookings add up to")] | UnsetType
    ) = UNSET


class ImportAccount(msgspec.Struct):
    produktId: UUID  # noqa: N815
    form: Annotated[str, Meta(description="format, and layout of a CSV", examples=["CSV dkb"])]
    gelesen: Annotated[int, Meta(description="bookings read: neu, geaendert and bekannt together")]
    neu: int
    geaendert: int
    bekannt: int
    abgelehnt: Annotated[list[ImportRejection], Meta(description="rows that could not be read, and are not stored")]
    doubts: Annotated[list[ImportDoubt], Meta(description="contradictions in the file; its bookings are stored")]
    saldoAnfang: Annotated[Amount, Meta(description="before the first booking")] | UnsetType = UNSET  # noqa: N815
    saldoEnde: Annotated[Amount, Meta(description="after the last booking")] | UnsetType = UNSET  # noqa: N815


class ImportResult(msgspec.Struct):
    konten: list[ImportAccount]


def show_import(imported: Import) -> ImportResult:
    return ImportResult([_show_account(account) for account in imported.accounts])


def _show_account(account: ImportedAccount) -> ImportAccount:
    return ImportAccount(
        produktId=account.product_id,
        form=account.form,
        gelesen=account.read,
        neu=len(account.added),
        geaendert=account.changed,
        bekannt=account.known,
        abgelehnt=[ImportRejection(row.reason, present(row.line)) for row in account.rejected],
        doubts=[ImportDoubt(doubt.kind, present(doubt.difference)) for doubt in account.doubts],
        saldoAnfang=UNSET if account.opening is None else account.opening.amount,
        saldoEnde=UNSET if account.closing is None else account.closing.amount,
    )

"""What came of a statement file, account by account."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.import_results import AccountResult, ImportRecord
from kontor.services.statements import Import, UnknownFormError
from kontor.wire.products import Amount, present
from kontor.wire.relations import Relation
from kontor.wire.transactions import PreviewedTransaction, show_previewed
from kontor.wire.urls import Urls

EXAMPLE_ROWS = 5


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


class ImportFigures(msgspec.Struct, kw_only=True):
    """What a file brings to an account."""

    form: Annotated[str, Meta(description="format, and layout of a CSV", examples=["CSV dkb"])]
    gelesen: Annotated[int, Meta(description="bookings read: neu, geaendert and bekannt together")]
    neu: int
    geaendert: int
    bekannt: int
    abgelehnt: Annotated[list[ImportRejection], Meta(description="rows that could not be read, and are not stored")]
    doubts: Annotated[list[ImportDoubt], Meta(description="contradictions in the file; its bookings are stored")]
    saldoAnfang: Annotated[Amount, Meta(description="before the first booking")] | UnsetType = UNSET  # noqa: N815
    saldoEnde: Annotated[Amount, Meta(description="after the last booking")] | UnsetType = UNSET  # noqa: N815


class ImportAccount(ImportFigures, kw_only=True):
    produktId: UUID  # noqa: N815


class PreviewedAccount(ImportFigures, kw_only=True):
    """An account that may not be a product yet is named as its product will be."""

    beispiele: Annotated[
        list[PreviewedTransaction], Meta(description=f"the first {EXAMPLE_ROWS} bookings that would be added")
    ]
    produktId: Annotated[UUID, Meta(description="absent where the account would become a new product")] | UnsetType = (  # noqa: N815
        UNSET
    )

    iban: str | UnsetType = UNSET
    kontonummer: str | UnsetType = UNSET
    kreditinstitut: Annotated[str, Meta(description="the bank, or the user's form")] | UnsetType = UNSET


class ImportResult(msgspec.Struct):
    konten: list[ImportAccount]


class StoredImport(msgspec.Struct):
    id: UUID
    konten: list[ImportAccount]
    relations: list[Relation]


class ImportPreview(msgspec.Struct):
    konten: list[PreviewedAccount]


class UnknownColumn(msgspec.Struct):
    name: str
    beispiel: Annotated[str, Meta(description="the first text in it, at most 100 characters; empty where it has none")]


class UnknownForm(msgspec.Struct):
    """A CSV that has none of the known forms. It can be described at `/customer/v2/imports/forms`."""

    form: None
    trennzeichen: Annotated[str, Meta(description="between columns", examples=[";"])]
    kodierung: Annotated[str, Meta(description="of the text", examples=["UTF-8", "windows-1252"])]
    spalten: list[UnknownColumn]


def show_import(imported: Import) -> ImportResult:
    """What came of a file that was pushed into a product."""
    return ImportResult([_show_account(account.summarise()) for account in imported.accounts])


def show_stored(imported: Import, urls: Urls) -> StoredImport:
    assert imported.id is not None, "its result is kept"
    return StoredImport(imported.id, show_import(imported).konten, urls.import_relations(imported.id))


def show_kept(kept: ImportRecord, urls: Urls) -> StoredImport:
    return StoredImport(kept.id, [_show_account(account) for account in kept.accounts], urls.import_relations(kept.id))


def show_preview(imported: Import) -> ImportPreview:
    return ImportPreview(
        [
            PreviewedAccount(
                **_list_figures(account.summarise()),
                produktId=UNSET if account.is_new else account.product_id,
                beispiele=[show_previewed(row) for row in account.added[:EXAMPLE_ROWS]],
                iban=present(account.product.iban),
                kontonummer=present(account.product.account_number),
                kreditinstitut=present(account.product.institution),
            )
            for account in imported.accounts
        ]
    )


def show_unknown(error: UnknownFormError) -> UnknownForm:
    table = error.table
    columns = [UnknownColumn(name, example) for name, example in table.columns]
    return UnknownForm(None, table.delimiter, table.encoding, columns)


def _show_account(account: AccountResult) -> ImportAccount:
    return ImportAccount(**_list_figures(account), produktId=account.product_id)


def _list_figures(account: AccountResult) -> dict[str, Any]:
    return {
        "form": account.form,
        "gelesen": account.read,
        "neu": account.added,
        "geaendert": account.changed,
        "bekannt": account.known,
        "abgelehnt": [ImportRejection(row.reason, present(row.line)) for row in account.rejected],
        "doubts": [ImportDoubt(doubt.kind, present(doubt.difference)) for doubt in account.doubts],
        "saldoAnfang": present(account.opening),
        "saldoEnde": present(account.closing),
    }

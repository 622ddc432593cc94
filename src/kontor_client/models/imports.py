"""What came of a statement file."""

from decimal import Decimal

from kontor_client.models.shapes import Model


class Rejection(Model, rename={"reason": "grund", "line": "zeile"}):
    """A row that could not be read. The rest of the file was stored."""

    reason: str
    line: int | None = None


class ImportDoubt(Model, rename={"kind": "art", "difference": "differenz"}):
    """A contradiction in the file, such as balances that do not follow from its bookings."""

    kind: str
    difference: Decimal | None = None


class ImportedAccount(
    Model,
    rename={
        "product_id": "produktId",
        "read": "gelesen",
        "new": "neu",
        "changed": "geaendert",
        "known": "bekannt",
        "rejected": "abgelehnt",
        "opening_balance": "saldoAnfang",
        "closing_balance": "saldoEnde",
    },
):
    product_id: str
    form: str
    read: int
    new: int
    changed: int
    known: int
    rejected: list[Rejection] = []
    doubts: list[ImportDoubt] = []
    opening_balance: Decimal | None = None
    closing_balance: Decimal | None = None


class ImportResult(Model, rename={"accounts": "konten"}):
    accounts: list[ImportedAccount]

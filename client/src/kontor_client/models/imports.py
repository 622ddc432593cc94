"""What came of a statement file."""

from decimal import Decimal

from kontor_client.models.shapes import Linked, Model
from kontor_client.models.transactions import PreviewedTransaction

_ACCOUNT_FIELDS = {
    "product_id": "produktId",
    "read": "gelesen",
    "new": "neu",
    "changed": "geaendert",
    "known": "bekannt",
    "rejected": "abgelehnt",
    "opening_balance": "saldoAnfang",
    "closing_balance": "saldoEnde",
}


class Rejection(Model, rename={"reason": "grund", "line": "zeile"}):
    """A row that could not be read. The rest of the file was stored."""

    reason: str
    line: int | None = None


class ImportDoubt(Model, rename={"kind": "art", "difference": "differenz"}):
    """A contradiction in the file, such as balances that do not follow from its bookings."""

    kind: str
    difference: Decimal | None = None


class ImportedAccount(Model, rename=_ACCOUNT_FIELDS):
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


class StoredImport(Linked, kw_only=True, rename={"accounts": "konten"}):
    """What came of an imported file; it can be read again for 30 days."""

    id: str
    accounts: list[ImportedAccount]


class PreviewedAccount(
    Model,
    rename={
        **_ACCOUNT_FIELDS,
        "account_number": "kontonummer",
        "institution": "kreditinstitut",
        "examples": "beispiele",
    },
):
    """What a file would bring to an account. Without `product_id` the account would become a new product."""

    form: str
    read: int
    new: int
    changed: int
    known: int
    product_id: str | None = None
    rejected: list[Rejection] = []
    doubts: list[ImportDoubt] = []
    opening_balance: Decimal | None = None
    closing_balance: Decimal | None = None
    iban: str | None = None
    account_number: str | None = None
    institution: str | None = None
    examples: list[PreviewedTransaction] = []


class UnknownColumn(Model, rename={"example": "beispiel"}):
    name: str
    example: str


class ImportPreview(
    Model,
    rename={"accounts": "konten", "delimiter": "trennzeichen", "encoding": "kodierung", "columns": "spalten"},
):
    """What a file would bring, account by account; or the columns of a CSV that has no known form yet."""

    accounts: list[PreviewedAccount] = []
    delimiter: str | None = None
    encoding: str | None = None
    columns: list[UnknownColumn] = []

    @property
    def is_unknown(self) -> bool:
        """The file is a CSV that has to be described first."""
        return bool(self.columns)


class ImportForm(
    Linked,
    kw_only=True,
    rename={
        "marks": "kennzeichen",
        "columns": "spalten",
        "day_format": "datumsformat",
        "decimal_sign": "dezimalzeichen",
    },
):
    """A CSV that the user has described. `columns` leads from a column of the file to the field that it fills."""

    name: str
    columns: dict[str, str]
    day_format: str
    decimal_sign: str
    marks: list[str] = []

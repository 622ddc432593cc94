"""Imports of files as a page shows them, and guesses for columns that nobody has described yet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.pages.formatting import format_iban

# What a column can be, in the order of the choice.
FIELDS = (
    "buchungsdatum", "wertstellungsdatum", "betrag", "soll", "haben", "saldo", "waehrung", "verwendungszweck",
    "buchungstext", "gegenkontoInhaber", "gegenkontoIban", "gegenkontoBic", "iban", "gvCode", "primanotaNummer",
)  # fmt: skip
DAY_FORMATS = (
    "dd.mm.yyyy", "dd.mm.yy", "yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "mm-dd-yyyy", "yyyy/mm/dd",
    "yyyymmdd", "ddmmyyyy",
)  # fmt: skip
DECIMAL_SIGNS = (",", ".")
SHOWN_REJECTED = 20
# Words in the names of columns, the more telling ones first. They only choose what is selected at first.
_GUESSES = (
    ("wertstellung", "wertstellungsdatum"), ("valuta", "wertstellungsdatum"), ("value date", "wertstellungsdatum"),
    ("saldo", "saldo"), ("kontostand", "saldo"), ("balance", "saldo"),
    ("währung", "waehrung"), ("waehrung", "waehrung"), ("currency", "waehrung"),
    ("bic", "gegenkontoBic"), ("iban", "gegenkontoIban"),
    ("buchungstext", "buchungstext"), ("umsatzart", "buchungstext"), ("transaktionstyp", "buchungstext"),
    ("zweck", "verwendungszweck"), ("beschreibung", "verwendungszweck"), ("description", "verwendungszweck"),
    ("text", "verwendungszweck"), ("reference", "verwendungszweck"), ("notiz", "verwendungszweck"),
    ("empfänger", "gegenkontoInhaber"), ("auftraggeber", "gegenkontoInhaber"), ("zahlungspflicht", "gegenkontoInhaber"),
    ("begünstigt", "gegenkontoInhaber"), ("payee", "gegenkontoInhaber"), ("name", "gegenkontoInhaber"),
    ("datum", "buchungsdatum"), ("buchungstag", "buchungsdatum"), ("date", "buchungsdatum"), ("tag", "buchungsdatum"),
    ("soll", "soll"), ("haben", "haben"), ("debit", "soll"), ("credit", "haben"),
    ("betrag", "betrag"), ("umsatz", "betrag"), ("amount", "betrag"),
)  # fmt: skip
_REASONS = (
    ("The row has no day", "no_day"),
    ("The day cannot be read", "bad_day"),
    ("The row has no amount", "no_amount"),
    ("The amount cannot be read", "bad_amount"),
    ("The balance after the booking cannot be read", "bad_balance"),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file, and the field that is chosen for it; none where it is left out."""

    name: str
    example: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """How a CSV is read, as it is chosen on the page."""

    columns: tuple[Column, ...]
    day_format: str = DAY_FORMATS[0]
    decimal_sign: str = DECIMAL_SIGNS[0]
    name: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """For the API."""
        return {
            "name": self.name,
            "kennzeichen": [],
            "spalten": {column.name: column.field for column in self.columns if column.field},
            "datumsformat": self.day_format,
            "dezimalzeichen": self.decimal_sign,
        }


@dataclass(frozen=True, slots=True)
class Rejection:
    """`reason` is the key of a text, or None where `text` says it in the API's words."""

    line: int | None
    reason: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Account:
    """What a file brings to an account. `balances` tells whether they add up: `right`, `wrong` or `none`."""

    name: str
    product: Product | None
    form: str
    facts: Mapping[str, Any]
    currency: str
    rejected: tuple[Rejection, ...]
    balances: str
    difference: Decimal | None

    @property
    def examples(self) -> Sequence[Mapping[str, Any]]:
        examples: Sequence[Mapping[str, Any]] = self.facts.get("beispiele", ())
        return examples

    @property
    def more_rejected(self) -> int:
        return len(self.facts["abgelehnt"]) - len(self.rejected)


def read_account(facts: Mapping[str, Any], products: Iterable[Product]) -> Account:
    product = next((product for product in products if product.id == facts.get("produktId")), None)
    named = facts if product is None else product.facts
    number = named.get("kontonummer") or named.get("kreditinstitut") or facts["form"]
    name = format_iban(named["iban"]) if named.get("iban") else number
    examples = facts.get("beispiele") or [{}]
    mismatch = next((doubt for doubt in facts["doubts"] if doubt["art"] == "BALANCE_MISMATCH"), None)
    has_both = "saldoAnfang" in facts and "saldoEnde" in facts
    return Account(
        name,
        product,
        facts["form"],
        facts,
        examples[0].get("waehrung") or (product.currency if product else "EUR"),
        tuple(_read_rejection(row) for row in facts["abgelehnt"][:SHOWN_REJECTED]),
        "wrong" if mismatch else "right" if has_both else "none",
        None if mismatch is None else mismatch.get("differenz"),
    )


def _read_rejection(row: Mapping[str, Any]) -> Rejection:
    reason = next((key for beginning, key in _REASONS if row["grund"].startswith(beginning)), None)
    return Rejection(row.get("zeile"), reason, row["grund"])


def guess_description(columns: Sequence[Mapping[str, str]]) -> Description:
    """What the names and the examples of columns suggest. The user sees it, and decides."""
    taken: set[str] = set()
    described = []
    for column in columns:
        name = column["name"].lower()
        field = next((field for word, field in _GUESSES if word in name and field not in taken), "")
        taken.add(field)
        described.append(Column(column["name"], column["beispiel"], field))
    if "betrag" in taken:
        described = [
            Column(column.name, column.example, "" if column.field in ("soll", "haben") else column.field)
            for column in described
        ]
    examples = {column.field: column.example for column in described}
    day = examples.get("buchungsdatum") or examples.get("wertstellungsdatum", "")
    amount = examples.get("betrag") or examples.get("soll") or examples.get("haben", "")
    return Description(tuple(described), _guess_day_format(day), _guess_decimal_sign(amount))


def _guess_day_format(example: str) -> str:
    """By its shape; where it fits several, the first of the list."""
    day = example.partition(" ")[0].partition("T")[0]
    return next((written for written in DAY_FORMATS if _shape(written) == _shape(day)), DAY_FORMATS[0])


def _shape(text: str) -> str:
    return "".join("0" if character in "dmy" or character.isdigit() else character for character in text)


def _guess_decimal_sign(example: str) -> str:
    """The last sign of the two that stands in a number."""
    return "." if example.rfind(".") > example.rfind(",") else ","

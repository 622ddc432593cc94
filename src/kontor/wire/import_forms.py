"""CSV forms that users describe: which column of the file is which field of a transaction."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kontor.connectors.statements.csv_profiles import fold_name
from kontor.connectors.statements.csv_values import compile_day_format
from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError
from kontor.domain.import_forms import MAX_COLUMN_NAME, MAX_COLUMNS, MAX_NAME, FormColumn
from kontor.domain.import_forms import ImportForm as DomainForm
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

# Fields of Transaction, and what a file says besides: amounts in two columns, the balance, the own account.
FORM_FIELDS = {
    "buchungsdatum": "booked",
    "wertstellungsdatum": "value",
    "betrag": "amount",
    "soll": "debit",
    "haben": "credit",
    "waehrung": "currency",
    "verwendungszweck": "purpose",
    "buchungstext": "booking_text",
    "gegenkontoInhaber": "counterparty_name",
    "gegenkontoIban": "counterparty_iban",
    "gegenkontoBic": "counterparty_bic",
    "gvCode": "gv_code",
    "primanotaNummer": "prima_nota",
    "saldo": "balance",
    "iban": "account",
}
WORDS = {field: word for word, field in FORM_FIELDS.items()}
JOINED = ("verwendungszweck", "buchungstext", "gegenkontoInhaber")  # may be spread over several columns
DAYS = ("buchungsdatum", "wertstellungsdatum")
SPLIT_AMOUNT = ("soll", "haben")

ColumnName = Annotated[str, Meta(min_length=1, max_length=MAX_COLUMN_NAME)]
FieldWord = Annotated[str, Meta(title="ImportField", extra_json_schema={"enum": list(FORM_FIELDS)})]
Columns = Annotated[
    dict[ColumnName, FieldWord],
    Meta(
        min_length=1,
        max_length=MAX_COLUMNS,
        description="column of the file to field: of Transaction, or soll and haben (amounts without sign, instead of"
        " betrag), saldo (after the booking), iban (of the own account)",
        examples=[{"Datum": "buchungsdatum", "Text": "verwendungszweck", "Umsatz": "betrag"}],
    ),
]
DayFormat = Annotated[str, Meta(description="of dd, mm and yyyy or yy", examples=["dd.mm.yyyy"])]


class NewImportForm(msgspec.Struct):
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
    spalten: Columns
    datumsformat: DayFormat
    dezimalzeichen: Annotated[Literal[",", "."], Meta(title="DecimalSeparator")]
    kennzeichen: Annotated[
        list[ColumnName],
        Meta(max_length=MAX_COLUMNS, description="further words of the header that tell the form from others"),
    ] = []

    def to_form(self) -> DomainForm:
        problems = [
            *_find_name_problems("spalten", self.spalten),
            *_find_name_problems("kennzeichen", self.kennzeichen),
            *_find_column_problems(self.spalten),
            *_find_day_problem(self.datumsformat),
        ]
        if problems:
            raise InvalidError("; ".join(problems))
        columns = tuple(FormColumn(name, FORM_FIELDS[word]) for name, word in self.spalten.items())
        return DomainForm(self.name, tuple(self.kennzeichen), columns, self.datumsformat, self.dezimalzeichen)


class ImportForm(msgspec.Struct):
    name: str
    kennzeichen: list[str]
    spalten: dict[str, str]
    datumsformat: str
    dezimalzeichen: str
    relations: list[Relation]


def show_form(form: DomainForm, urls: Urls) -> ImportForm:
    return ImportForm(
        form.name,
        list(form.marks),
        {column.name: WORDS[column.field] for column in form.columns},
        form.day_format,
        form.decimal_sign,
        urls.import_form_relations(form.name),
    )


def _find_name_problems(place: str, names: Iterable[str]) -> list[str]:
    is_readable = all(fold_name(name) and clean_text(name) == name for name in names)
    return [] if is_readable else [f"{place}: expected names of columns in printable characters"]


def _find_column_problems(columns: dict[str, str]) -> list[str]:
    unknown = [word for word in columns.values() if word not in FORM_FIELDS]
    if unknown:
        return [f"spalten: {unknown[0][:64]} is no field; expected one of {', '.join(FORM_FIELDS)}"]
    problems = []
    names, words = Counter(map(fold_name, columns)), Counter(columns.values())
    problems += [f"spalten: the column {name} occurs twice" for name, count in names.items() if count > 1]
    problems += [
        f"spalten: only one column can be {word}" for word, count in words.items() if count > 1 and word not in JOINED
    ]
    if not any(word in words for word in DAYS):
        problems.append("spalten: a column must be buchungsdatum or wertstellungsdatum")
    is_split = any(word in words for word in SPLIT_AMOUNT)
    if is_split == ("betrag" in words):
        problems.append("spalten: a column must be betrag, or two of them soll and haben")
    return problems


def _find_day_problem(text: str) -> list[str]:
    try:
        compile_day_format(text)
    except ValueError as error:
        return [f"datumsformat: {error}"]
    return []

"""What the page and the PDF of a credit file tell, in the words of a reader."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from msgspec import UNSET

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.wire.completeness import GapWord
from kontor.wire.credit_files import COUNTS, FIGURES, Dokument, Korrektur, read_document
from kontor.wire.credit_pages.words import read_texts, show_amount, show_day, title_of

TITLES = {word: title_of(name) for name, word in FIGURES.items()}
RATIO = "EINNAHMEN_STETIGKEIT"


@dataclass(frozen=True, slots=True)
class Line:
    """A figure. `places` are the numbers of its transactions in the list, as spans."""

    title: str
    value: str
    text: str
    count: str
    places: str


@dataclass(frozen=True, slots=True)
class Contents:
    """`facts` are labelled values; `lists` have a heading each; `transactions` are ids, numbered from 1."""

    document: Dokument
    texts: Mapping[str, Any]
    title: str
    day: str
    facts: Sequence[tuple[str, str]]
    lines: Sequence[Line]
    lists: Sequence[tuple[str, Sequence[str]]]
    transactions: Sequence[str]
    signature: str
    digest: str


def make_contents(text: str, signature: str) -> Contents:
    """From the signed text alone, so that it is the same whenever it is drawn."""
    document, texts = read_document(text), read_texts()["page"]
    numbers: dict[str, int] = {}
    for value in document.werte:
        for row in value.umsaetze:
            numbers.setdefault(row, len(numbers) + 1)
    gaps = [
        texts["gap"].format(
            account=gap.produktId, kind=_tell_gap(gap.art), first=show_day(gap.von), last=show_day(gap.bis)
        )
        for gap in document.luecken
    ]
    corrections = (
        []
        if document.korrekturen is UNSET
        else [_tell_correction(correction, numbers, texts) for correction in document.korrekturen]
    )
    return Contents(
        document=document,
        texts=texts,
        title=texts["title"].format(version=document.version),
        day=show_day(document.stichtag),
        facts=list(_list_facts(document, texts)),
        lines=[
            Line(
                TITLES[value.name],
                _show_value(value.name, value.wert),
                value.erklaerung,
                _count(len(value.umsaetze), texts),
                _join(sorted(numbers[row] for row in value.umsaetze)),
            )
            for value in document.werte
        ],
        lists=[
            *([(texts["corrections"], corrections)] if corrections else []),
            (texts["gaps"], gaps or [texts["no_gaps"]]),
            (texts["unknown"], document.nichtBekannt),
            (texts["changes"], document.wuerdeAendern),
            (texts["barred"], document.ausgeschlossen),
        ],
        transactions=list(numbers),
        signature=signature,
        digest=sha256(text.encode()).hexdigest(),
    )


def _list_facts(document: Dokument, texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    yield texts["purpose"], document.zweck
    yield texts["created"], _show_time(document.erstelltAm)
    yield texts["as_of"], show_day(document.stichtag)
    if isinstance(document.datenVon, date) and isinstance(document.datenBis, date):
        yield texts["span"], f"{show_day(document.datenVon)} – {show_day(document.datenBis)}"
    consent = texts["self"] if document.einwilligung is UNSET else str(document.einwilligung)
    yield texts["consent"], consent
    yield texts["rules"], document.regelwerk
    yield texts["model"], document.modell
    yield texts["id"], str(document.id)
    if document.vorgaenger is not UNSET:
        yield texts["predecessor"], str(document.vorgaenger)
    if document.pruefung is not UNSET:
        review = document.pruefung
        result = texts[review.ergebnis.lower()]
        yield texts["review"], f"{_show_time(review.geprueftAm)}: {result} {review.kommentar}"


def _show_time(text: str) -> str:
    return f"{datetime.fromisoformat(text):%d.%m.%Y, %H:%M} Uhr"


def _show_value(name: str, value: Decimal) -> str:
    if name in COUNTS:
        return str(value)
    return show_amount(value) + ("" if name == RATIO else "\N{NO-BREAK SPACE}€")


def _tell_correction(correction: Korrektur, numbers: Mapping[str, int], texts: Mapping[str, str]) -> str:
    """A booking that no figure counts any more has no number."""
    row = str(correction.umsatz)
    return texts["correction"].format(
        booking=numbers.get(row, row),
        before=_name_category(correction.vorher),
        after=_name_category(correction.nachher),
        at=_show_time(correction.korrigiertAm),
        adviser=correction.berater,
    )


def _name_category(system_name: str) -> str:
    item = TREES[CATEGORIES].items.get(system_name)
    return system_name if item is None else item.name


def _tell_gap(kind: GapWord) -> str:
    told: str = read_texts()["gap_kinds"][kind]
    return told


def _count(number: int, texts: Mapping[str, str]) -> str:
    """Empty where there are none."""
    return f"{number} {texts['transaction' if number == 1 else 'transactions_of']}" if number else ""


def _join(numbers: Iterable[int]) -> str:
    """As spans: one, two and three are told by their first and last."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)

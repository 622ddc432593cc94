"""Credit files (Kreditakten): the document that is signed, and how it is shown."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.credit_files import compute_figures
from kontor.domain.cleaning import require_text
from kontor.domain.credit_files import (
    AccountGap,
    CreditFigures,
    CreditFile,
    CreditFileEntry,
    CreditFileHead,
    Figure,
    FigureName,
    FileContents,
    Review,
    ReviewResult,
    Sources,
    TagCorrection,
)
from kontor.services.analyses import Facts
from kontor.wire.canonical_json import canonicalize
from kontor.wire.completeness import GAP_WORDS, GapWord
from kontor.wire.credit_pages.words import explain_figure, list_barred, list_changes, list_unknown
from kontor.wire.encoding import BERLIN, format_timestamp
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

SELF = "SELBST"
CENT, ONE = Decimal("0.01"), Decimal(1)
FigureWord = Annotated[
    Literal[
        "EINNAHMEN", "EINNAHMEN_STETIGKEIT", "AUSGABEN", "NOTWENDIGE_AUSGABEN", "FIXKOSTEN", "VERFUEGBARES_EINKOMMEN",
        "MIETE", "KREDITRATEN", "SPAREN", "GLUECKSSPIEL", "ZURUECKGEGEBENE_LASTSCHRIFTEN", "MAHNGEBUEHREN", "INKASSO",
        "PFAENDUNGEN", "KREDITAUSZAHLUNGEN",
    ],
    Meta(title="WertName"),
]  # fmt: skip
FIGURES: dict[FigureName, FigureWord] = {
    FigureName.INCOME: "EINNAHMEN",
    FigureName.INCOME_STABILITY: "EINNAHMEN_STETIGKEIT",
    FigureName.EXPENSES: "AUSGABEN",
    FigureName.NECESSITIES: "NOTWENDIGE_AUSGABEN",
    FigureName.FIXED_COSTS: "FIXKOSTEN",
    FigureName.FREE_INCOME: "VERFUEGBARES_EINKOMMEN",
    FigureName.RENT: "MIETE",
    FigureName.INSTALLMENTS: "KREDITRATEN",
    FigureName.SAVINGS: "SPAREN",
    FigureName.GAMBLING: "GLUECKSSPIEL",
    FigureName.RETURNED_DEBITS: "ZURUECKGEGEBENE_LASTSCHRIFTEN",
    FigureName.REMINDER_CHARGES: "MAHNGEBUEHREN",
    FigureName.DEBT_COLLECTIONS: "INKASSO",
    FigureName.SEIZURES: "PFAENDUNGEN",
    FigureName.LOAN_PAYOUTS: "KREDITAUSZAHLUNGEN",
}
COUNTS = ("ZURUECKGEGEBENE_LASTSCHRIFTEN", "MAHNGEBUEHREN", "INKASSO", "PFAENDUNGEN")
ReviewWord = Annotated[Literal["BESTAETIGT", "NEU_BERECHNET"], Meta(title="PruefungErgebnis")]
REVIEWS: dict[ReviewResult, ReviewWord] = {
    ReviewResult.CONFIRMED: "BESTAETIGT",
    ReviewResult.RECOMPUTED: "NEU_BERECHNET",
}
Zweck = Annotated[str, Meta(min_length=1, max_length=200, description="what the file is for")]


class NewKreditakte(msgspec.Struct):
    zweck: Zweck
    freigabe: Annotated[
        str,
        Meta(
            pattern=f"^({SELF}|[0-9a-fA-F]{{8}}(-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}})$",
            description="id of a valid Freigabe for `credit-check`, or `SELBST`: for the customer alone",
        ),
    ]

    @property
    def disclosure_id(self) -> UUID | None:
        return None if self.freigabe == SELF else UUID(self.freigabe)

    @property
    def purpose(self) -> str:
        return require_text(self.zweck, "zweck")


SystemName = Annotated[str, Meta(description="a category of the tree `CATEGORIES`", examples=["HOUSING_RENT"])]


class Kontoluecke(msgspec.Struct):
    """Days about which something is not known, as in the completeness statement."""

    produktId: UUID  # noqa: N815
    art: GapWord
    von: date
    bis: date
    differenz: Annotated[Decimal, Meta(description="what the bookings lack, of `SALDO_ABWEICHUNG`")] | UnsetType = UNSET


class Wert(msgspec.Struct):
    """`confidenceLevel` is there where it can be estimated."""

    name: FigureWord
    wert: Annotated[Decimal, Meta(description="an amount in euros, a number from 0 to 1, or a count")]
    umsaetze: Annotated[list[str], Meta(description="ids of the transactions that it is made of")]
    erklaerung: Annotated[str, Meta(description="in German")]
    confidenceLevel: float | UnsetType = UNSET  # noqa: N815


class Pruefung(msgspec.Struct):
    """A person has looked at the version before."""

    ergebnis: ReviewWord
    kommentar: str
    geprueftAm: Timestamp  # noqa: N815


class Korrektur(msgspec.Struct):
    """A category by an adviser, which holds in this file and not in the customer's data."""

    umsatz: UUID
    vorher: Annotated[SystemName, Meta(description="in the customer's data")]
    nachher: Annotated[SystemName, Meta(description="in this file")]
    berater: Annotated[UUID, Meta(description="reference of the adviser")]
    korrigiertAm: Timestamp  # noqa: N815


class Dokument(msgspec.Struct, kw_only=True):
    """What is signed: canonical JSON (RFC 8785) of these fields."""

    id: UUID
    version: int
    erstelltAm: Timestamp  # noqa: N815
    stichtag: date
    zweck: Zweck
    freigabe: Annotated[str, Meta(description="id of the Freigabe, or `SELBST`")]
    regelwerk: Annotated[str, Meta(description="version of the rules")]
    modell: Annotated[str, Meta(description="version of the program and of the tagger")]
    waehrung: str
    luecken: list[Kontoluecke]
    werte: Annotated[list[Wert], Meta(description="none where no complete month has data")]
    ausgeschlossen: Annotated[list[str], Meta(description="kinds of bookings that are removed first")]
    nichtBekannt: Annotated[list[str], Meta(description="in German")]  # noqa: N815
    wuerdeAendern: Annotated[list[str], Meta(description="what would change the values, in German")]  # noqa: N815
    datenVon: date | UnsetType = UNSET  # noqa: N815
    datenBis: date | UnsetType = UNSET  # noqa: N815
    einwilligung: Annotated[str, Meta(description="the text of the Freigabe")] | UnsetType = UNSET
    vorgaenger: Annotated[UUID, Meta(description="the version before")] | UnsetType = UNSET
    pruefung: Pruefung | UnsetType = UNSET
    korrekturen: Annotated[list[Korrektur], Meta(description="by reviews, the earliest first")] | UnsetType = UNSET


class Kreditakte(Dokument, kw_only=True):
    """`signatur` is of the canonical JSON (RFC 8785) of all other fields but `relations`."""

    signatur: Annotated[
        str, Meta(description="detached JWS (RFC 7515, appendix F); the key is in `/.well-known/jwks.json`")
    ]
    relations: list[Relation]


class KreditakteKurz(msgspec.Struct):
    id: UUID
    version: int
    erstelltAm: Timestamp  # noqa: N815
    zweck: Zweck
    freigabe: str
    relations: list[Relation]
    vorgaenger: UUID | UnsetType = UNSET


def write_document(head: CreditFileHead, sources: Sources, facts: Facts) -> bytes:
    """The text that is signed. In a compute process."""
    figures = compute_figures(
        facts.records, facts.accounts, facts.known, facts.repeated, sources, facts.today, head.corrections
    )
    return canonicalize(_to_json(make_document(head, figures, facts.today)))


def _to_json(document: Dokument) -> object:
    return msgspec.to_builtins(document, builtin_types=(Decimal,))


def make_document(head: CreditFileHead, figures: CreditFigures, today: date) -> Dokument:
    purpose, review = head.purpose, head.review
    return Dokument(
        id=head.id,
        version=head.version,
        erstelltAm=format_timestamp(head.created_at),
        stichtag=today,
        zweck=purpose.text,
        freigabe=_show_disclosure(purpose.disclosure_id),
        regelwerk=head.rules,
        modell=head.model,
        waehrung="EUR",
        luecken=[_show_gap(gap) for gap in figures.gaps],
        werte=[_show_figure(figure, figures, today) for figure in figures.figures],
        ausgeschlossen=list_barred(),
        nichtBekannt=list_unknown(figures),
        wuerdeAendern=list_changes(figures),
        datenVon=figures.first_day or UNSET,
        datenBis=figures.last_day or UNSET,
        einwilligung=purpose.consent or UNSET,
        vorgaenger=head.predecessor_id or UNSET,
        pruefung=UNSET if review is None else _show_review(review),
        korrekturen=[_show_correction(correction) for correction in head.corrections] or UNSET,
    )


def confirm_document(head: CreditFileHead, text: str) -> bytes:
    """The same contents, as the next version."""
    assert head.review is not None, "a version is confirmed by a review"
    document = read_document(text)
    document.id, document.version = head.id, head.version
    document.erstelltAm = format_timestamp(head.created_at)
    document.vorgaenger, document.pruefung = head.predecessor_id or UNSET, _show_review(head.review)
    return canonicalize(_to_json(document))


def read_contents(text: str) -> FileContents:
    """What a review of the file needs to know."""
    document = read_document(text)
    ids = frozenset(UUID(row) for value in document.werte for row in value.umsaetze)
    corrections = () if document.korrekturen is UNSET else tuple(map(_read_correction, document.korrekturen))
    return FileContents(ids, corrections)


def _read_correction(shown: Korrektur) -> TagCorrection:
    at = datetime.fromisoformat(shown.korrigiertAm).replace(tzinfo=BERLIN)
    return TagCorrection(shown.umsatz, shown.vorher, shown.nachher, shown.berater, at)


def _show_correction(correction: TagCorrection) -> Korrektur:
    return Korrektur(
        correction.transaction_id,
        correction.before,
        correction.after,
        correction.adviser_id,
        format_timestamp(correction.at),
    )


def _show_review(review: Review) -> Pruefung:
    return Pruefung(REVIEWS[review.result], review.comment, format_timestamp(review.at))


def _show_disclosure(disclosure_id: UUID | None) -> str:
    return SELF if disclosure_id is None else str(disclosure_id)


def _show_gap(found: AccountGap) -> Kontoluecke:
    gap = found.gap
    difference = UNSET if gap.difference is None else gap.difference
    return Kontoluecke(UUID(found.account_id), GAP_WORDS[gap.kind], gap.first, gap.last, difference)


def _show_figure(figure: Figure, figures: CreditFigures, today: date) -> Wert:
    return Wert(
        name=FIGURES[figure.name],
        wert=Decimal(figure.value),
        umsaetze=list(figure.transaction_ids),
        erklaerung=explain_figure(figure.name, figures, today),
    )


def read_document(text: str) -> Dokument:
    """With amounts as they are written elsewhere: two decimals."""
    document = msgspec.json.decode(text, type=Dokument)
    for value in document.werte:
        value.wert = value.wert.quantize(ONE if value.name in COUNTS else CENT)
    for gap in document.luecken:
        if gap.differenz is not UNSET:
            gap.differenz = gap.differenz.quantize(CENT)
    return document


def show_credit_file(file: CreditFile, urls: Urls) -> Kreditakte:
    document = read_document(file.document)
    values = {name: getattr(document, name) for name in Dokument.__struct_fields__}
    relations = urls.credit_file_relations(file.id, file.predecessor_id)
    return Kreditakte(**values, signatur=file.signature, relations=relations)


def list_credit_file(file: CreditFileEntry, urls: Urls) -> KreditakteKurz:
    return KreditakteKurz(
        id=file.id,
        version=file.version,
        erstelltAm=format_timestamp(file.created_at),
        zweck=file.purpose.text,
        freigabe=_show_disclosure(file.purpose.disclosure_id),
        relations=urls.credit_file_relations(file.id, file.predecessor_id),
        vorgaenger=file.predecessor_id or UNSET,
    )

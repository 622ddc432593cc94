"""Labelled transactions, a JSON object per line: fields of a transaction and the labels that are accepted for it."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

import msgspec

from kontor.analysis.scoring.tag_scores import Gold, Labelled
from kontor.domain.errors import InvalidError
from kontor.domain.transactions import Transaction, clean_transaction
from kontor.wire.transactions import parse_time

Labels = str | list[str] | None


class GoldRow(msgspec.Struct):
    category: Labels
    insuranceType: Labels = None  # noqa: N815
    partner: Labels = None
    freelancerCategory: Labels = None  # noqa: N815


class PlainRow(msgspec.Struct, kw_only=True):
    betrag: Decimal
    buchungsdatum: str
    id: str | None = None
    verwendungszweck: str | None = None
    buchungstext: str | None = None
    gvCode: str | None = None  # noqa: N815
    waehrung: str | None = None
    gegenkontoInhaber: str | None = None  # noqa: N815
    gegenkontoIban: str | None = None  # noqa: N815
    gegenkontoBic: str | None = None  # noqa: N815
    gegenkontoInhaberAbweichend: str | None = None  # noqa: N815


class LabelledRow(PlainRow, kw_only=True):
    gold: GoldRow
    person: str = ""


def read_transactions(text: bytes) -> list[tuple[str, Transaction]]:
    """One object, or an object per line, with or without labels: (id, transaction)."""
    try:
        rows = [msgspec.json.decode(text, type=PlainRow)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        rows = [msgspec.json.decode(line, type=PlainRow) for line in text.splitlines() if line.strip()]
    return [(row.id or f"line {number}", _read_transaction(row, number)) for number, row in enumerate(rows, 1)]


def read_labelled(lines: Iterable[bytes]) -> Iterator[Labelled]:
    """Empty lines are skipped; a wrong one is named by its number."""
    decoder = msgspec.json.Decoder(LabelledRow)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidError(str(error), f"line {number}") from None
        yield _read(row, number)


def _read_transaction(row: PlainRow, number: int) -> Transaction:
    transaction = clean_transaction(
        Transaction(
            amount=row.betrag,
            currency=row.waehrung or "EUR",
            booked_at=parse_time(row.buchungsdatum, f"line {number}.buchungsdatum"),
            purpose=row.verwendungszweck,
            booking_text=row.buchungstext,
            gv_code=row.gvCode,
            counterparty_name=row.gegenkontoInhaber,
            counterparty_iban=row.gegenkontoIban,
            counterparty_bic=row.gegenkontoBic,
            ultimate_counterparty=row.gegenkontoInhaberAbweichend,
        )
    )
    if transaction is None:
        raise InvalidError("the amount or the date cannot be used", f"line {number}")
    return transaction


def _read(row: LabelledRow, number: int) -> Labelled:
    if not _list(row.gold.category):
        raise InvalidError("has no category", f"line {number}.gold")
    gold = Gold(
        _list(row.gold.category),
        _list(row.gold.insuranceType),
        _list(row.gold.partner),
        _list(row.gold.freelancerCategory),
    )
    return Labelled(row.id or f"line {number}", _read_transaction(row, number), gold, row.person)


def _list(labels: Labels) -> tuple[str, ...]:
    if labels is None:
        return ()
    return (labels,) if isinstance(labels, str) else tuple(labels)

"""Transaction (Kontoumsatz): as it is listed, and as it is pushed."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.cleaning import clean_amount, clean_text
from kontor.domain.errors import InvalidError
from kontor.domain.json_fields import JsonField, Show
from kontor.domain.transactions import Transaction as DomainTransaction
from kontor.services.transactions import PushedTransaction
from kontor.wire.encoding import BERLIN, format_timestamp
from kontor.wire.products import Amount
from kontor.wire.tags import Classification, ItemInputs, TagInstance
from kontor.wire.tokens import Timestamp

# Which key shows which column. The object is stored beside each row (ADR 0058); else the database writes it.
FIELDS = (
    JsonField("id", "id", Show.PLAIN),
    JsonField("betrag", "amount", Show.NUMBER),
    JsonField("waehrung", "currency", Show.PLAIN),
    JsonField("verwendungszweck", "purpose", Show.TEXT),
    JsonField("buchungstext", "booking_text", Show.TEXT),
    JsonField("gvCode", "gv_code", Show.TEXT),
    JsonField("primanotaNummer", "prima_nota", Show.TEXT),
    JsonField("buchungsdatum", "booked_at", Show.TIMESTAMP),
    JsonField("wertstellungsdatum", "value_at", Show.TIMESTAMP),
    JsonField("gegenkontoInhaber", "counterparty_name", Show.TEXT),
    JsonField("gegenkontoIban", "counterparty_iban", Show.TEXT),
    JsonField("gegenkontoBic", "counterparty_bic", Show.TEXT),
    JsonField("hash", "ordinal", Show.SORT_KEY),
    JsonField("vorgemerkt", "is_pending", Show.TRUE_ONLY),
    JsonField("identifier", "batch_id", Show.TEXT, inside="batchId"),
    JsonField("notiz", "note", Show.TEXT),
    JsonField("schlagworte", "keywords", Show.TEXT),
    JsonField("teile", "parts", Show.OBJECTS, entries=(("betrag", "amount"), ("tags", "tags"), ("notiz", "note"))),
)
# Where transactions of several products are told together.
CUSTOMER_FIELDS = (
    *FIELDS,
    JsonField("zugangId", "access_id", Show.TEXT, is_stored=False),
    JsonField("produktId", "product_id", Show.PLAIN, is_stored=False),
)


class Identifier(msgspec.Struct):
    batchId: Annotated[str, Meta(min_length=1, max_length=128)]  # noqa: N815


class PreviewedTransaction(msgspec.Struct, kw_only=True):
    """What a statement file would add; without id and hash, since nothing is stored."""

    betrag: Amount | UnsetType = UNSET
    waehrung: str | UnsetType = UNSET
    verwendungszweck: str | UnsetType = UNSET
    buchungstext: str | UnsetType = UNSET
    gvCode: str | UnsetType = UNSET  # noqa: N815
    primanotaNummer: str | UnsetType = UNSET  # noqa: N815
    buchungsdatum: Timestamp | UnsetType = UNSET
    wertstellungsdatum: Timestamp | UnsetType = UNSET
    gegenkontoInhaber: str | UnsetType = UNSET  # noqa: N815
    gegenkontoIban: str | UnsetType = UNSET  # noqa: N815
    gegenkontoBic: str | UnsetType = UNSET  # noqa: N815
    vorgemerkt: Annotated[bool, Meta(description="true while pending")] | UnsetType = UNSET


class TransactionPart(msgspec.Struct):
    betrag: Amount
    tags: Annotated[ItemInputs, Meta(description="as it was written")]
    notiz: str | UnsetType = UNSET


class Transaction(PreviewedTransaction, kw_only=True):
    id: UUID
    hash: Annotated[str, Meta(description="sorts as the transactions are ordered")]
    identifier: Annotated[Identifier, Meta(description="on pushed transactions")] | UnsetType = UNSET
    notiz: Annotated[str, Meta(description="the user's note")] | UnsetType = UNSET
    schlagworte: Annotated[list[str], Meta(description="the user's keywords")] | UnsetType = UNSET
    teile: Annotated[list[TransactionPart], Meta(description="parts with a category each")] | UnsetType = UNSET
    tags: Annotated[list[TagInstance], Meta(description="with `tag`: the tag of that tree")] | UnsetType = UNSET
    classifications: Annotated[list[Classification], Meta(description="with `categorize`")] | UnsetType = UNSET


class CustomerTransaction(Transaction, kw_only=True):
    """A transaction among those of all accounts."""

    zugangId: Annotated[str, Meta(description="the access of its product")]  # noqa: N815
    produktId: UUID  # noqa: N815


def show_previewed(transaction: DomainTransaction) -> PreviewedTransaction:
    return PreviewedTransaction(
        betrag=transaction.amount,
        waehrung=transaction.currency,
        verwendungszweck=_or_unset(transaction.purpose),
        buchungstext=_or_unset(transaction.booking_text),
        gvCode=_or_unset(transaction.gv_code),
        primanotaNummer=_or_unset(transaction.prima_nota),
        buchungsdatum=UNSET if transaction.booked_at is None else format_timestamp(transaction.booked_at),
        wertstellungsdatum=UNSET if transaction.value_at is None else format_timestamp(transaction.value_at),
        gegenkontoInhaber=_or_unset(transaction.counterparty_name),
        gegenkontoIban=_or_unset(transaction.counterparty_iban),
        gegenkontoBic=_or_unset(transaction.counterparty_bic),
        vorgemerkt=True if transaction.is_pending else UNSET,
    )


def _or_unset(text: str | None) -> str | UnsetType:
    return UNSET if text is None else text


Text = Annotated[str, Meta(max_length=4000)]


class NewTransaction(msgspec.Struct):
    """A pushed transaction. The same batch pushed twice adds nothing."""

    identifier: Identifier
    betrag: Annotated[Decimal, Meta(description="at most two decimals")]
    buchungsdatum: Annotated[
        str, Meta(description="yyyy-mm-dd HH:MM:SS or yyyy-mm-dd", examples=["2026-11-13 00:00:00"])
    ]
    wertstellungsdatum: str | None = None
    waehrung: Annotated[str, Meta(pattern="^[A-Z]{3}$")] = "EUR"
    verwendungszweck: Text | None = None
    buchungstext: Text | None = None
    gvCode: Text | None = None  # noqa: N815
    primanotaNummer: Text | None = None  # noqa: N815
    gegenkontoInhaber: Text | None = None  # noqa: N815
    gegenkontoIban: Text | None = None  # noqa: N815
    gegenkontoBic: Text | None = None  # noqa: N815
    gegenkontoInhaberAbweichend: Text | None = None  # noqa: N815 (the ultimate counterparty)
    vorgemerkt: bool = False


def read_transaction(new: NewTransaction, number: int) -> PushedTransaction:
    """Into our own words; the error names the entry and the field."""
    place = f"[{number}]"
    amount = clean_amount(new.betrag)
    if amount is None:
        raise InvalidError("is no amount that can be stored", f"{place}.betrag")
    if amount != new.betrag:
        raise InvalidError("at most two decimals are allowed", f"{place}.betrag")
    if not new.waehrung.isalpha():  # the pattern lets a line break at the end pass
        raise InvalidError("expected three letters", f"{place}.waehrung")
    if clean_text(new.identifier.batchId) != new.identifier.batchId:
        raise InvalidError("expected printable characters", f"{place}.identifier.batchId")
    transaction = DomainTransaction(
        amount=amount,
        currency=new.waehrung,
        booked_at=parse_time(new.buchungsdatum, f"{place}.buchungsdatum"),
        value_at=None
        if new.wertstellungsdatum is None
        else parse_time(new.wertstellungsdatum, f"{place}.wertstellungsdatum"),
        purpose=new.verwendungszweck,
        booking_text=new.buchungstext,
        gv_code=new.gvCode,
        prima_nota=new.primanotaNummer,
        counterparty_name=new.gegenkontoInhaber,
        counterparty_iban=new.gegenkontoIban,
        counterparty_bic=new.gegenkontoBic,
        ultimate_counterparty=new.gegenkontoInhaberAbweichend,
        is_pending=new.vorgemerkt,
    )
    return PushedTransaction(new.identifier.batchId, transaction)


def parse_time(text: str, field: str) -> datetime:
    """`yyyy-mm-dd HH:MM:SS` or a date, in Berlin; RFC 3339 with an offset is understood too."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidError("expected yyyy-mm-dd HH:MM:SS or yyyy-mm-dd", field) from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=BERLIN)
    if not 1900 <= at.year <= 2200:
        raise InvalidError("the year must be between 1900 and 2200", field)
    return at.astimezone(UTC)


def parse_end(text: str, field: str) -> datetime:
    """The end of a span: a date means the whole day, a time is included."""
    at = parse_time(text, field)
    if len(text) <= len("2026-11-15"):
        day: date = at.astimezone(BERLIN).date()
        return datetime.combine(date.fromordinal(day.toordinal() + 1), time(), BERLIN).astimezone(UTC)
    return at.replace(microsecond=0) + (datetime.resolution * 1_000_000)

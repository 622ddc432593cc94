"""What compute processes do with transactions: read files, merge, tag. Pure functions of bytes and values.

Rows travel between processes in pieces of msgpack: many times faster than pickled objects, and reading a piece holds
up nobody for long.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import TypeAlias, TypeVar

import msgspec

from kontor.analysis.tagging import Evidence, Learnt, OwnAccounts, Tagging, load_tagger
from kontor.connectors.files.accounts import FileAccount, join_statements
from kontor.connectors.statements import (
    FileKind,
    Limits,
    StatementError,
    TooManyEntriesError,
    UnknownFormError,
    UnknownTable,
    read_statements,
)
from kontor.connectors.statements.csv_profiles import Profile, choose_profiles, fold_name
from kontor.domain.balances import BalanceGap, BalanceSpan
from kontor.domain.errors import InvalidError, TooLargeError
from kontor.domain.import_forms import ImportForm
from kontor.domain.merge_plans import MergePlan, plan_merge
from kontor.domain.merging import StoredTransaction, find_first_day
from kontor.domain.transactions import Transaction, clean_transaction, find_day

PIECE_ROWS = 1000

Packed: TypeAlias = list[bytes]
T = TypeVar("T")

_encoder = msgspec.msgpack.Encoder()
_rows = msgspec.msgpack.Decoder(list[Transaction])
_stored_rows = msgspec.msgpack.Decoder(list[StoredTransaction])


def cut(rows: Iterable[T]) -> Iterable[list[T]]:
    """In pieces that are worked on at once."""
    iterator = iter(rows)
    while piece := list(islice(iterator, PIECE_ROWS)):
        yield piece


def pack(rows: Sequence[Transaction] | Sequence[StoredTransaction]) -> Packed:
    return [_encoder.encode(piece) for piece in cut(rows)]


def unpack(packed: Packed) -> list[Transaction]:
    return [row for piece in packed for row in _rows.decode(piece)]


def unpack_stored(packed: Packed) -> list[StoredTransaction]:
    return [row for piece in packed for row in _stored_rows.decode(piece)]


async def unpack_cooperatively(packed: Packed) -> list[Transaction]:
    """For the event loop: others have their turn after each piece."""
    rows: list[Transaction] = []
    for piece in packed:
        rows += _rows.decode(piece)
        await asyncio.sleep(0)
    return rows


async def clean_cooperatively(rows: Sequence[Transaction]) -> list[Transaction]:
    """What can be stored, for the event loop."""
    cleaned: list[Transaction] = []
    for piece in cut(rows):
        cleaned += [row for row in map(clean_transaction, piece) if row is not None]
        await asyncio.sleep(0)
    return cleaned


# In compute processes


@dataclass(frozen=True, slots=True)
class ReadAccount:
    """What a file says about one account. `account` has no transactions: those that can be stored are `rows`.

    `first` is the day from which stored rows take part in the merge.
    """

    account: FileAccount
    rows: Packed
    count: int
    unreadable: int
    first: date | None


@dataclass(frozen=True, slots=True)
class ReadFile:
    kind: str
    accounts: tuple[ReadAccount, ...]


def read_file(
    data: bytes, limits: Limits, today: date, forms: Sequence[ImportForm] = (), wanted_form: str | None = None
) -> ReadFile | UnknownTable:
    """An unknown table where a CSV has none of our forms and none of the user's `forms`."""
    profiles = choose_profiles(forms, wanted_form)
    if not profiles:
        raise InvalidError("there is no form of this name", "form")
    try:
        readings = read_statements(data, limits, profiles)
    except UnknownFormError as error:
        if wanted_form is None:
            return error.table
        raise InvalidError(_name_missing(error.table, profiles[0]), "form") from None
    except TooManyEntriesError:
        raise TooLargeError(f"A file can have at most {limits.entries} bookings.") from None
    except StatementError as error:
        raise InvalidError(str(error), "body") from None
    if wanted_form is not None and readings.kind not in (FileKind.CSV, FileKind.ZIP):
        raise InvalidError(f"is for CSV files, and this is {readings.kind}", "form")
    accounts = join_statements(readings.statements, readings.holdings)
    return ReadFile(str(readings.kind), tuple(_pack_account(account, today) for account in accounts))


def _name_missing(table: UnknownTable, profile: Profile) -> str:
    present = {fold_name(name) for name, _ in table.columns}
    missing = [name for name in profile.required if name not in present]
    return f"the file lacks these columns of {profile.name}: {', '.join(missing)}"


def _pack_account(account: FileAccount, today: date) -> ReadAccount:
    rows = [row for row in map(clean_transaction, account.transactions) if row is not None]
    rows.sort(key=lambda row: find_day(row) or today)
    unreadable = len(account.transactions) - len(rows)
    return ReadAccount(replace(account, transactions=()), pack(rows), len(rows), unreadable, find_first_day(rows))


@dataclass(frozen=True, slots=True)
class PackedPlan:
    """A plan whose new rows are packed. None where all that was fetched is new: the caller has these rows."""

    plan: MergePlan
    new: Packed | None


def plan_packed(
    stored: Packed, gap: BalanceGap | None, fetched: Packed, spans: Sequence[BalanceSpan], keeps_pending: bool
) -> PackedPlan:
    rows = unpack(fetched)
    plan = plan_merge(unpack_stored(stored), gap, rows, spans, keeps_pending=keeps_pending)
    new = None if len(plan.merge.new) == len(rows) else pack(plan.merge.new)
    return PackedPlan(replace(plan, merge=replace(plan.merge, new=())), new)


def tag_packed(piece: bytes, own: OwnAccounts) -> list[Tagging]:
    return load_tagger().tag(_rows.decode(piece), own)


def learn_packed(
    piece: bytes, corrected: bytes, categories: Sequence[str], own: OwnAccounts, said: Sequence[str]
) -> list[Learnt | None]:
    """What corrections say about the rows of a piece, other than what is `said` of them already.

    `categories` are what the user gave to the corrected rows.
    """
    tagger = load_tagger()
    corrections = tagger.learn(list(zip(_rows.decode(corrected), categories, strict=True)), own)
    return tagger.apply(corrections, _rows.decode(piece), own, said)


def explain_packed(piece: bytes, own: OwnAccounts) -> list[tuple[Evidence, ...]]:
    tagger = load_tagger()
    return [tagger.explain(row, own)[1] for row in _rows.decode(piece)]


def name_merchants_packed(piece: bytes, own: OwnAccounts) -> list[str]:
    return load_tagger().name_merchants(_rows.decode(piece), own)

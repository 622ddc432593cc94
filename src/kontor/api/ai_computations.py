"""What compute processes do for stateless calls: bytes of the body in, bytes of the answer out, in pieces between."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import msgspec

from kontor.analysis.day_order import order_records
from kontor.analysis.duplicates import find_shared, join_accounts
from kontor.analysis.records import Record, make_record
from kontor.analysis.tagging import NOBODY, Evidence, OwnAccounts, Tagging, load_tagger, make_own_accounts
from kontor.analysis.trees import BUSINESS_PARTNERS, CATEGORIES, FREELANCER_CATEGORIES, INSURANCE_TYPES
from kontor.api.answers import HttpError
from kontor.api.bodies import decode_json
from kontor.domain.errors import InvalidError
from kontor.domain.tags import fold_iban
from kontor.domain.transactions import Transaction
from kontor.services.analyses import Facts
from kontor.services.compute import Packed, cut
from kontor.wire.ai_transactions import AiConnectTransaction, read_ai_transaction
from kontor.wire.analyses import ANALYSES, AnalysesRequest, make_accounts
from kontor.wire.encoding import encode_json
from kontor.wire.tag_views import render_tag
from kontor.wire.urls import Urls

MAX_ANALYSED = 50_000
PIECE_BYTES = 256 * 1024
_TREES = (CATEGORIES, INSURANCE_TYPES, BUSINESS_PARTNERS, FREELANCER_CATEGORIES)

_given_rows = msgspec.msgpack.Decoder(list[AiConnectTransaction])
_named_rows = msgspec.msgpack.Decoder(list[tuple[str, str, Transaction]])
_records = msgspec.msgpack.Decoder(list[Record])


# Tags


def read_rows(body: bytes) -> Packed:
    """The rows of a body, all of them checked, in pieces."""
    rows = decode_json(body, list[AiConnectTransaction])
    if len(rows) > MAX_ANALYSED:
        raise HttpError(413, f"At most {MAX_ANALYSED} transactions can be tagged at once.")
    for number, row in enumerate(rows):
        read_ai_transaction(row, number)
    return [msgspec.msgpack.encode(piece) for piece in cut(rows)]


def tag_rows(piece: bytes, first_number: int, urls: Urls, explain: bool) -> bytes:
    """The objects of a piece with their tags, separated by commas; with `explain`, each tag with its evidence."""
    rows = _given_rows.decode(piece)
    transactions = [read_ai_transaction(row, first_number + number) for number, row in enumerate(rows)]
    tagger = load_tagger()
    found: Sequence[tuple[Tagging, Sequence[Evidence] | None]]
    if explain:
        found = [tagger.explain(transaction, NOBODY) for transaction in transactions]
    else:
        found = [(tagging, None) for tagging in tagger.tag(transactions, NOBODY)]
    shown = []
    for number, (tagging, evidence) in enumerate(found):
        row = rows[number]
        row.tags = None
        row.betrag = transactions[number].amount  # with its two decimals
        entity = encode_json(row.id if row.id is not None else str(first_number + number)).decode()[1:-1]
        tags = ",".join(
            render_tag(tree, name, confidence, entity, urls, evidence)
            for tree, name, confidence in zip(_TREES, tagging[:4], tagging[4:], strict=True)
        )
        shown.append(f'{encode_json(row).decode()[:-1]},"tags":[{tags}]}}')
    return ",".join(shown).encode()


# Analyses


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request without its transactions, which are in `pieces`: the id, the account and the booking of each."""

    request: AnalysesRequest
    user: str
    own: OwnAccounts
    pieces: Packed


def read_request(body: bytes) -> ReadRequest:
    request = decode_json(body, AnalysesRequest)
    rows = request.transactions
    if len(rows) > MAX_ANALYSED:
        raise HttpError(413, f"At most {MAX_ANALYSED} transactions can be analysed at once.")
    transactions = [read_ai_transaction(row, number, "transactions") for number, row in enumerate(rows)]
    named = zip(_name_rows(rows), (row.product for row in rows), transactions, strict=True)
    own = make_own_accounts(
        (account.iban or "", account.inhaber or "", account.category) for account in request.accounts or []
    )
    make_accounts(request, [])  # refuses what cannot be an account, before anything costly is done
    user = rows[0].user if rows else ""
    request.transactions = []
    return ReadRequest(request, user, own, [msgspec.msgpack.encode(piece) for piece in cut(named)])


def tag_records(piece: bytes, own: OwnAccounts) -> bytes:
    """The records of a piece."""
    named = _named_rows.decode(piece)
    taggings = load_tagger().tag([row[2] for row in named], own)
    records = [
        make_record(row_id, account, transaction, tagging)
        for (row_id, account, transaction), tagging in zip(named, taggings, strict=True)
    ]
    return msgspec.msgpack.encode(records)


def analyse_records(read: ReadRequest, pieces: Packed, today: date, urls: Urls, explain: bool) -> Packed:
    """The answer, in pieces: a member per analysis."""
    request = read.request
    records = [record for piece in pieces for record in _records.decode(piece)]
    accounts = make_accounts(request, records)
    ibans = [fold_iban(account.iban) for account in accounts if account.iban]
    if len(set(ibans)) < len(ibans):
        transactions = [row[2] for piece in read.pieces for row in _named_rows.decode(piece)]
        shared = find_shared(accounts, records, transactions)
        records, accounts = join_accounts(records, accounts, shared)
    facts = Facts(read.user, order_records(records), accounts, request.today or today)
    answer = []
    for number, name in enumerate(dict.fromkeys(request.analyses)):
        shown = encode_json(ANALYSES[name](facts, urls, explain))
        answer.append((b"," if number else b"{") + encode_json(name) + b":")
        answer += [shown[start : start + PIECE_BYTES] for start in range(0, len(shown), PIECE_BYTES)]
    return [*answer, b"}"]


def _name_rows(rows: list[AiConnectTransaction]) -> list[str]:
    """The caller's ids, which no two rows must share; a row without one goes by its number."""
    seen: set[str] = set()
    for number, row in enumerate(rows):
        if row.id is None:
            continue
        if row.id in seen:
            raise InvalidError("the id occurs twice", f"transactions[{number}].id")
        seen.add(row.id)
    return [_number_row(number, seen) if row.id is None else row.id for number, row in enumerate(rows)]


def _number_row(number: int, taken: set[str]) -> str:
    name = str(number)
    while name in taken:
        name = f"#{name}"
    return name

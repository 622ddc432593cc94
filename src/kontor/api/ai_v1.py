"""Analyses of transactions that the caller brings along; nothing is stored."""

import asyncio
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.analysis.duplicates import find_shared, join_accounts
from kontor.analysis.trees import BUSINESS_PARTNERS, CATEGORIES, FREELANCER_CATEGORIES, INSURANCE_TYPES
from kontor.api.answers import JSON, Answer, HttpError, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.errors import InvalidError
from kontor.domain.scopes import CUSTOMER_READ
from kontor.services.analyses import Facts
from kontor.services.tagging import make_own_accounts
from kontor.wire.ai_transactions import AiConnectTransaction, read_ai_transaction
from kontor.wire.analyses import ANALYSES, AnalysesRequest, make_accounts, make_record
from kontor.wire.encoding import encode_json
from kontor.wire.tag_views import render_tag

AI: dict[str, Any] = {"tag": "Platform", "security": Security.ANY_TOKEN, "scope": CUSTOMER_READ}
MAX_ANALYSED = 50_000


class AnalysesQuery(msgspec.Struct):
    explain: Annotated[bool, Meta(description="show what led to each finding")] = False


@operation(
    "POST",
    "/ai/v1/transactions/tags",
    body=list[AiConnectTransaction],
    is_bulk=True,
    success=Success(shape=list[AiConnectTransaction]),
    **AI,
)
async def tag_transactions(call: Call) -> Answer:
    """Tag transactions with all four trees. Nothing is stored."""
    body = await call.json(list[AiConnectTransaction])
    if len(body) > MAX_ANALYSED:
        raise HttpError(413, f"At most {MAX_ANALYSED} transactions can be tagged at once.")
    return Answer(200, await asyncio.to_thread(_tag, call, body), JSON)


@operation(
    "POST",
    "/ai/v1/analyses",
    query=AnalysesQuery,
    body=AnalysesRequest,
    is_bulk=True,
    success=Success(shape=dict[str, Any], description="a member per analysis, each as the customer's endpoint answers"),
    **AI,
)
async def analyse_transactions(call: Call) -> Answer:
    """Analyse transactions of one person. Nothing is stored."""
    query = call.query(AnalysesQuery)
    body = await call.json(AnalysesRequest)
    if len(body.transactions) > MAX_ANALYSED:
        raise HttpError(413, f"At most {MAX_ANALYSED} transactions can be analysed at once.")
    return json_answer(await asyncio.to_thread(_analyse, call, body, query.explain))


def _analyse(call: Call, body: AnalysesRequest, explain: bool) -> dict[str, Any]:
    transactions = [read_ai_transaction(one, number, "transactions") for number, one in enumerate(body.transactions)]
    ids = _name_rows(body.transactions)
    own = make_own_accounts((one.iban or "", one.inhaber or "", one.category) for one in body.accounts or [])
    tags = call.services.transaction_tagging.tag_alone(transactions, own)
    records = [
        make_record(ids[number], body.transactions[number].product, one, tags[number])
        for number, one in enumerate(transactions)
    ]
    accounts = make_accounts(body, records)
    shared = find_shared(accounts, records, transactions)
    if shared:
        records, accounts = join_accounts(records, accounts, shared)
    user = body.transactions[0].user if body.transactions else ""
    today = body.today or call.services.analyses.today()
    facts = Facts(user, records, accounts, today)
    return {name: ANALYSES[name](facts, call.urls, explain) for name in dict.fromkeys(body.analyses)}


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


def _tag(call: Call, body: list[AiConnectTransaction]) -> bytes:
    transactions = [read_ai_transaction(one, number) for number, one in enumerate(body)]
    found = call.services.transaction_tagging.tag_alone(transactions)
    pieces = []
    for number, (one, tags) in enumerate(zip(body, found, strict=True)):
        one.tags = None
        one.betrag = transactions[number].amount  # with its two decimals
        entity = encode_json(one.id if one.id is not None else str(number)).decode()[1:-1]
        shown = ",".join(
            render_tag(tree, name, confidence, entity, call.urls)
            for tree, name, confidence in (
                (CATEGORIES, tags.category, tags.category_confidence),
                (INSURANCE_TYPES, tags.insurance_type, tags.insurance_confidence),
                (BUSINESS_PARTNERS, tags.partner, tags.partner_confidence),
                (FREELANCER_CATEGORIES, tags.freelancer_category, tags.freelancer_confidence),
            )
        )
        pieces.append(f'{encode_json(one).decode()[:-1]},"tags":[{shown}]}}')
    return f"[{','.join(pieces)}]".encode()

"""Analyses of transactions that the caller brings along; nothing is stored."""

from collections.abc import AsyncIterator, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.ai_computations import analyse_records, read_request, read_rows, tag_records, tag_rows
from kontor.api.answers import JSON, Answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.scopes import CUSTOMER_READ
from kontor.services.compute import PIECE_ROWS, Packed
from kontor.wire.ai_transactions import AiConnectTransaction
from kontor.wire.analyses import AnalysesRequest

AI: dict[str, Any] = {
    "tag": "Platform",
    "security": Security.ANY_TOKEN,
    "scope": CUSTOMER_READ,
    "is_bulk": True,
    "is_heavy": True,
}


class AnalysesQuery(msgspec.Struct):
    explain: Annotated[bool, Meta(description="show what led to each finding")] = False


@operation(
    "POST",
    "/ai/v1/transactions/tags",
    query=AnalysesQuery,
    body=list[AiConnectTransaction],
    success=Success(shape=list[AiConnectTransaction]),
    **AI,
)
async def tag_transactions(call: Call) -> Answer:
    """Tag transactions with all four trees.

    Nothing is stored.
    """
    explain = call.query(AnalysesQuery).explain
    pieces = await call.compute(read_rows, await call.read_body())
    if not pieces:
        return Answer(200, b"[]", JSON)
    first = await call.compute(tag_rows, pieces[0], 0, call.urls, explain)
    return Answer(200, media_type=JSON, pieces=_tag_rest(call, first, pieces, explain))


async def _tag_rest(call: Call, first: bytes, pieces: Packed, explain: bool) -> AsyncIterator[bytes]:
    yield b"[" + first
    for number, piece in enumerate(pieces[1:], 1):
        yield b"," + await call.compute(tag_rows, piece, number * PIECE_ROWS, call.urls, explain)
    yield b"]"


@operation(
    "POST",
    "/ai/v1/analyses",
    query=AnalysesQuery,
    body=AnalysesRequest,
    success=Success(shape=dict[str, Any], description="a member per analysis, each as the customer's endpoint answers"),
    **AI,
)
async def analyse_transactions(call: Call) -> Answer:
    """Analyse transactions of one person.

    Nothing is stored.
    """
    query = call.query(AnalysesQuery)
    read = await call.compute(read_request, await call.read_body())
    records = [await call.compute(tag_records, piece, read.own) for piece in read.pieces]
    today = call.services.analyses.today()
    answer = await call.compute(analyse_records, read, records, today, call.urls, query.explain)
    return Answer(200, media_type=JSON, pieces=_send(answer))


async def _send(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece

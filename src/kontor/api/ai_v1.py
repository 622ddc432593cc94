"""Analyses of transactions that the caller brings along; nothing is stored."""

import asyncio
from typing import Any

from kontor.analysis.trees import BUSINESS_PARTNERS, CATEGORIES, FREELANCER_CATEGORIES, INSURANCE_TYPES
from kontor.api.answers import JSON, Answer, HttpError
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.scopes import CUSTOMER_READ
from kontor.wire.ai_transactions import AiConnectTransaction, read_ai_transaction
from kontor.wire.encoding import encode_json
from kontor.wire.tag_views import render_tag

AI: dict[str, Any] = {"tag": "Platform", "security": Security.ANY_TOKEN, "scope": CUSTOMER_READ}
MAX_ANALYSED = 50_000


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


def _tag(call: Call, body: list[AiConnectTransaction]) -> bytes:
    transactions = [read_ai_transaction(one, number) for number, one in enumerate(body)]
    found = call.services.transaction_tagging.tag_alone(transactions)
    pieces = []
    for number, (one, tags) in enumerate(zip(body, found, strict=True)):
        one.tags = None
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

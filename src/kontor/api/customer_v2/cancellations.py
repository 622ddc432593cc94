"""The letter that cancels a contract."""

from datetime import date
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import NO_STORE, Answer
from kontor.api.customer_v2.analyses import HEAVY
from kontor.api.customer_v2.contracts import CONTRACT, LAST_END
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.services.analyses import Facts
from kontor.wire.encoding import encode_json
from kontor.wire.letters import Language, write_cancellation

PDF = "application/pdf"
Binary = Annotated[str, Meta(extra_json_schema={"format": "binary"})]
FILE_NAMES = {"de": "kuendigung.pdf", "en": "cancellation.pdf"}


class CancellationQuery(msgspec.Struct, rename={"day": "date"}):
    day: (
        Annotated[
            date, Meta(description="when the contract is to end; without it the end of the minimum term, or soon")
        ]
        | None
    ) = None
    language: Annotated[Language, Meta(description="of the letter")] = "de"


@operation(
    "GET",
    CONTRACT + "/cancellation",
    query=CancellationQuery,
    success=Success(media_type=PDF, shape=Binary, headers={"Content-Disposition": "attachment, with a file name"}),
    errors=(404,),
    **HEAVY,
)
async def write_contract_cancellation(call: Call) -> Answer:
    """Write a letter that cancels a contract, to print and sign. Nothing is sent.

    Sender, recipient and numbers of customer, contract and mandate are from the transactions. What they do not tell is
    left blank.
    """
    contract_id = call.path_uuid("contract-id")
    analyses = call.services.analyses
    await analyses.require_contract(call.principal, contract_id)
    query = call.query(CancellationQuery)
    if query.day is not None and not analyses.today() <= query.day <= LAST_END:
        raise InvalidError(f"expected a day from today to {LAST_END}", "date")
    question = f"{call.operation.id} {contract_id} {encode_json(query).decode()}"
    make = partial(_write_letter, str(contract_id), query.day, query.language)
    letter = await analyses.answer(call.principal, question, make)
    if not letter:  # it has gone since
        raise NotFoundError
    headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{FILE_NAMES[query.language]}"'}
    return Answer(200, letter, PDF, headers)


def _write_letter(contract_id: str, day: date | None, language: Language, facts: Facts) -> bytes:
    return write_cancellation(facts, contract_id, day, language)

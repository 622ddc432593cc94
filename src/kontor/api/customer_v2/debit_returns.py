"""Direct debits that can be returned (Lastschriften), and the letter to the bank."""

from functools import partial
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import NO_STORE, Answer
from kontor.api.customer_v2.accesses import CUSTOMER
from kontor.api.customer_v2.analyses import HEAVY, analyse
from kontor.api.customer_v2.cancellations import PDF, Binary
from kontor.api.operations import Call, Success, operation
from kontor.domain.debit_returns import ReturnGround
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.services.analyses import Facts
from kontor.wire.debit_returns import GROUNDS, Lastschrift, show_debit, show_debits
from kontor.wire.encoding import encode_json
from kontor.wire.letters import Language, write_debit_return

DEBITS = CUSTOMER + "/lastschriften"
DEBIT = DEBITS + "/{lastschrift-id}"
FILE_NAMES = {"de": "lastschrift-rueckgabe.pdf", "en": "return-of-direct-debit.pdf"}


class DebitsQuery(msgspec.Struct, rename={"contract": "vertrag"}):
    contract: Annotated[UUID, Meta(description="only those of this contract")] | None = None


class LetterQuery(msgspec.Struct, rename={"ground": "grund"}):
    ground: (
        Annotated[
            Literal["OHNE_GRUND", "NICHT_AUTORISIERT"],
            Meta(description="without it the first of `rueckgabe`"),
        ]
        | None
    ) = None
    language: Annotated[Language, Meta(description="of the letter")] = "de"


@operation("GET", DEBITS, query=DebitsQuery, success=Success(shape=list[Lastschrift]), **HEAVY)
async def list_returnable_debits(call: Call) -> Answer:
    """List direct debits that the customer can return, the latest first.

    With the grounds and their last days: eight weeks without a reason (not for B2B debits), 13 months if it was not
    authorised. Payments by card are none. `vertragId` and `ungewoehnlich` as in contracts and alerts. No legal advice.
    """
    query = call.query(DebitsQuery)
    return await analyse(call, query, show_debits, query.contract)


@operation("GET", DEBIT, success=Success(shape=Lastschrift), errors=(404,), **HEAVY)
async def read_returnable_debit(call: Call) -> Answer:
    """Read a direct debit that can be returned.

    As in the list; `id` is that of the transaction.
    """
    debit_id = call.path_uuid("lastschrift-id")
    answer = await analyse(call, msgspec.Struct(), show_debit, debit_id, state=f" {debit_id}")
    if answer.body == b"[]":
        raise NotFoundError
    return Answer(answer.status, answer.body[1:-1], answer.media_type, answer.headers)


@operation(
    "GET",
    DEBIT + "/rueckgabe",
    query=LetterQuery,
    success=Success(media_type=PDF, shape=Binary, headers={"Content-Disposition": "attachment, with a file name"}),
    errors=(404,),
    **HEAVY,
)
async def write_debit_return_letter(call: Call) -> Answer:
    """Write a letter to the bank that returns a direct debit, to print and sign. Nothing is sent.

    400 where it cannot be returned on this ground, or not any more. No legal advice.
    """
    debit_id, query = call.path_uuid("lastschrift-id"), call.query(LetterQuery)
    await read_returnable_debit(call)
    ground = next((ground for ground, word in GROUNDS.items() if word == query.ground), None)
    question = f"{call.operation.id} {debit_id} {encode_json(query).decode()}"
    make = partial(_write_letter, str(debit_id), ground, query.language)
    letter = await call.services.analyses.answer(call.principal, question, make)
    if not letter:
        raise InvalidError("the direct debit cannot be returned on this ground, or not any more", "grund")
    headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{FILE_NAMES[query.language]}"'}
    return Answer(200, letter, PDF, headers)


def _write_letter(debit_id: str, ground: ReturnGround | None, language: Language, facts: Facts) -> bytes:
    return write_debit_return(facts, debit_id, ground, language)

"""Credit files: what a credit check says, signed and kept."""

from kontor.api.answers import NO_STORE, Answer, created, json_answer
from kontor.api.customer_v2.affordability import CREDIT
from kontor.api.customer_v2.analyses import AI
from kontor.api.operations import Call, Success, operation
from kontor.wire.credit_files import (
    Kreditakte,
    KreditakteKurz,
    NewKreditakte,
    list_credit_file,
    show_credit_file,
    write_document,
)

FILES = AI + "/credit-files"
FILE = FILES + "/{file-id}"


@operation(
    "POST", FILES, body=NewKreditakte, success=Success(201, headers={"Location": "the credit file"}), **CREDIT
)  # fmt: skip
async def create_credit_file(call: Call) -> Answer:
    """Write down what the credit check says now, signed. It is never changed.

    Bookings about health, religion, party, union, sexual life or ethnic origin are removed before anything is
    computed. `freigabe` is the customer's recorded consent, by which an adviser may read the file.
    """
    body = await call.json(NewKreditakte)
    files = call.services.credit_files
    file = await files.create_file(call.principal, body.zweck, body.disclosure_id, write_document)
    return created(f"{call.urls.credit_files}/{file.id}")


@operation("GET", FILES, success=Success(shape=list[KreditakteKurz]), **CREDIT)
async def list_credit_files(call: Call) -> Answer:
    """List the customer's credit files, the newest first."""
    found = await call.services.credit_files.list_files(call.principal)
    return json_answer([list_credit_file(file, call.urls) for file in found])


@operation("GET", FILE, success=Success(shape=Kreditakte), errors=(404,), **CREDIT)
async def read_credit_file(call: Call) -> Answer:
    """Read a credit file.

    Each value has the transactions that it is made of. `signatur` proves that nothing was changed.
    """
    file = await call.services.credit_files.read_file(call.principal, call.path_uuid("file-id"))
    return json_answer(show_credit_file(file, call.urls), headers=dict(NO_STORE))

"""Credit files: what a credit check says, signed and kept; as JSON, as a page, or as PDF."""

from kontor.api.answers import JSON, NO_STORE, Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.affordability import CREDIT
from kontor.api.customer_v2.analyses import AI
from kontor.api.media_types import choose_media_type
from kontor.api.operations import Call, Success, operation
from kontor.domain.credit_files import CreditFile
from kontor.wire.credit_file_reviews import NewPruefungswunsch
from kontor.wire.credit_files import (
    Kreditakte,
    KreditakteKurz,
    NewKreditakte,
    list_credit_file,
    show_credit_file,
    write_document,
)
from kontor.wire.credit_pages.page import draw_page
from kontor.wire.credit_pages.pdf import draw_pdf

HTML, PDF = "text/html", "application/pdf"
DRAWN = {HTML: (draw_page, "html"), PDF: (draw_pdf, "pdf")}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
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
    file = await files.create_file(call.principal, body.purpose, body.disclosure_id, write_document)
    return created(f"{call.urls.credit_files}/{file.id}")


@operation("GET", FILES, success=Success(shape=list[KreditakteKurz]), **CREDIT)
async def list_credit_files(call: Call) -> Answer:
    """List the customer's credit files, the newest first."""
    found = await call.services.credit_files.list_files(call.principal)
    return json_answer([list_credit_file(file, call.urls) for file in found])


@operation(
    "GET", FILE, success=Success(shape=Kreditakte, other_media_types=(HTML, PDF)), errors=(404,), **CREDIT
)  # fmt: skip
async def read_credit_file(call: Call) -> Answer:
    """Read a credit file: as JSON, as a page, or as PDF, by `Accept`.

    Each value has the transactions that it is made of. `signatur` proves that nothing was changed.
    """
    file_id, media_type = call.path_uuid("file-id"), choose_media_type(call.header("accept"), (JSON, HTML, PDF))
    return await show_file(call, await call.services.credit_files.read_file(call.principal, file_id), media_type)


@operation(
    "DELETE", FILE, success=Success(description="deleted"), errors=(404, 409), **CREDIT
)  # fmt: skip
async def delete_credit_file(call: Call) -> Answer:
    """Delete a credit file that the customer made with `SELBST`.

    One for an adviser is 409: withdraw the Freigabe. No adviser reads it then, and it goes when kept long enough.
    """
    await call.services.credit_files.delete_file(call.principal, call.path_uuid("file-id"))
    return empty_answer()


@operation(
    "POST",
    FILE + "/review-requests",
    body=NewPruefungswunsch,
    success=Success(201, headers={"Location": "the credit file"}),
    errors=(404, 409),
    **CREDIT,
)
async def request_credit_file_review(call: Call) -> Answer:
    """Ask for a review of a credit file by a person.

    By an adviser who can read it. 409 for a file that was made with `SELBST`, whose Freigabe has ended, that has a
    newer version, or for which a review has been asked for already.
    """
    file_id = call.path_uuid("file-id")
    await call.services.credit_files.read_file(call.principal, file_id)
    body = await call.json(NewPruefungswunsch)
    await call.services.credit_files.request_review(call.principal, file_id, body.comment)
    return created(f"{call.urls.credit_files}/{file_id}")


async def show_file(call: Call, file: CreditFile, media_type: str) -> Answer:
    headers = NO_STORE | {"Vary": "Accept"}
    if media_type == JSON:
        return json_answer(show_credit_file(file, call.urls), headers=headers)
    draw, name = DRAWN[media_type]
    body = await call.compute(draw, file.document, file.signature)
    headers |= {"Content-Disposition": f'inline; filename="kreditakte-{file.id}.{name}"'}
    if media_type == HTML:
        headers["Content-Security-Policy"] = POLICY
    return Answer(200, body, f"{media_type}; charset=utf-8" if media_type == HTML else media_type, headers)

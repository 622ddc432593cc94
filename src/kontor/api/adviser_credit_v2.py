"""For advisers: credit files of customers who allow it, and their reviews. Each read is audited before it happens."""

from typing import Any
from uuid import UUID

import msgspec

from kontor.api.adviser_v2 import COMMON
from kontor.api.answers import JSON, Answer, created, json_answer
from kontor.api.auth import require_scope
from kontor.api.customer_v2.credit_files import FILE, HTML, PDF, show_file
from kontor.api.media_types import choose_media_type
from kontor.api.operations import Call, Success, operation
from kontor.api.paging import DEFAULT_PAGE, CursorText, Limit, page_answer, read_cursor
from kontor.domain.operator_views import NIL
from kontor.domain.scopes import CUSTOMER_CREDIT
from kontor.services.credit_files import ReviewWriters
from kontor.wire.credit_file_reviews import (
    REVIEW_STATUSES_INSIDE,
    REVIEWS_INSIDE,
    Aktenumsatz,
    NewPruefung,
    PruefungEintrag,
    Pruefungswunsch,
    ReviewStatusWord,
    show_booking,
    show_request,
    show_review_entry,
)
from kontor.wire.credit_files import Kreditakte, confirm_document, read_contents, write_document

FILES = "/adviser/v2/credit-files"
HEAVY: dict[str, Any] = COMMON | {"is_heavy": True}


class ReviewsQuery(msgspec.Struct):
    status: ReviewStatusWord | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


@operation("GET", FILES, query=ReviewsQuery, success=Success(shape=list[PruefungEintrag]), **COMMON)
async def list_credit_file_reviews(call: Call) -> Answer:
    """List credit files that this adviser can review; needs `customer/credit` too.

    `UNGEPRUEFT`: nobody has looked. `ANGEFORDERT`: the customer asks for a review, also of a version that a review has
    made. `GEPRUEFT`: made by a review, or there is a newer version. Files whose Freigabe has ended or was withdrawn
    are left out.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    query = call.query(ReviewsQuery)
    status = None if query.status is None else REVIEW_STATUSES_INSIDE[query.status]
    after = read_cursor(query.cursor, tuple[UUID, UUID]) or (NIL, NIL)
    found = await call.services.credit_files.list_reviews(call.principal, status, after, query.limit)
    following = (found[-1].user_id, found[-1].file_id) if len(found) == query.limit else None
    return page_answer(call, [show_review_entry(entry, call.urls) for entry in found], following)


@operation(
    "GET",
    FILES + "/{file-id}",
    success=Success(shape=Kreditakte, other_media_types=(HTML, PDF)),
    errors=(404,),
    **HEAVY,
)
async def read_customer_credit_file(call: Call) -> Answer:
    """Read a credit file of a customer who allows it; needs `customer/credit` too.

    As the customer reads it, by `Accept`. 404 unless the Freigabe holds that the file was made for.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    file_id, media_type = call.path_uuid("file-id"), choose_media_type(call.header("accept"), (JSON, HTML, PDF))
    opened = await call.services.credit_files.open_as_adviser(call.principal, file_id)
    return await show_file(call, opened.file, media_type)


@operation(
    "GET",
    FILES + "/{file-id}/transactions",
    success=Success(shape=list[Aktenumsatz]),
    errors=(404,),
    **HEAVY,
)
async def list_credit_file_transactions(call: Call) -> Answer:
    """List the bookings behind a credit file, the newest first; needs `customer/credit` too.

    As they are now. 404 unless the Freigabe that the file was made for has `credit-bookings` too. Left out are bookings
    about barred subjects, and those that the customer has split.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    files = call.services.credit_files
    found = await files.list_file_bookings(call.principal, call.path_uuid("file-id"), read_contents)
    return json_answer([show_booking(booking) for booking in found])


@operation(
    "GET", FILES + "/{file-id}/review-request", success=Success(shape=Pruefungswunsch), errors=(404,), **COMMON
)  # fmt: skip
async def read_review_request(call: Call) -> Answer:
    """Read what the customer wants to be looked at; needs `customer/credit` too.

    404 where the customer has asked for nothing.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    found = await call.services.credit_files.find_request(call.principal, call.path_uuid("file-id"))
    return json_answer(show_request(found))


@operation(
    "POST",
    FILE + "/reviews",
    body=NewPruefung,
    success=Success(201, headers={"Location": "the new version, for advisers"}),
    errors=(404, 409),
    **HEAVY,
)
async def review_credit_file(call: Call) -> Answer:
    """Review a credit file of a customer who allows it; needs `customer/credit` too.

    `BESTAETIGT` keeps the values, `NEU_BERECHNET` computes them anew, such as after the customer has corrected a
    category. `korrekturen` are categories that hold in the file alone, from the new version on: the customer's data
    stay as they are, and what the customer corrects later counts more. Both make a new signed version with the comment,
    which refers to this one; this one stays. 409 where there is a newer one, where the file has 20 versions, or where
    the Freigabe does not allow `credit-bookings` and something is corrected.
    """
    require_scope(call.principal, CUSTOMER_CREDIT)
    files = call.services.credit_files
    opened = await files.open_as_adviser(call.principal, call.path_uuid("file-id"))
    body = await call.json(NewPruefung)
    writers, result = ReviewWriters(write_document, confirm_document, read_contents), REVIEWS_INSIDE[body.ergebnis]
    file = await files.review_file(call.principal, opened, result, body.comment, writers, body.list_wanted())
    return created(f"{call.urls.base}{FILES}/{file.id}")

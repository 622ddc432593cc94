"""What a user takes along, and the user's farewell."""

import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import JSON, NO_STORE, Answer, empty_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.services.statements import Span, name_owner
from kontor.wire.csv_exports import Dialect
from kontor.wire.export_files import MEDIA_TYPES, ExportFormat, name_file, write_file
from kontor.wire.exports import Export


class ExportQuery(msgspec.Struct, rename={"since": "from", "until": "to"}):
    format: Annotated[
        ExportFormat,
        Meta(description="json: everything; csv: transactions with tags; beancount, hledger, gnucash: bookkeeping"),
    ] = "json"
    since: Annotated[datetime.date, Meta(description="transactions booked from that day on")] | None = None
    until: Annotated[datetime.date, Meta(description="transactions booked until that day, included")] | None = None
    dialect: Annotated[
        Dialect,
        Meta(description="of csv. plain: comma, decimal point, English headings; german: for a German spreadsheet"),
    ] = "plain"


class ErasureQuery(msgspec.Struct):
    confirm: Annotated[str, Meta(description="the user's own username, as a sign of being sure")] | None = None


@operation(
    "GET",
    CUSTOMER + "/export",
    query=ExportQuery,
    success=Success(
        shape=Export,
        other_media_types=tuple(dict.fromkeys(media_type for media_type in MEDIA_TYPES.values() if media_type != JSON)),
        headers={"Content-Disposition": "attachment, with a file name"},
    ),
    is_heavy=True,
    **READ,
)
async def export_customer(call: Call) -> Answer:
    """Export what the user has: everything as JSON, or the transactions as CSV or as a book.

    The JSON document holds whatever is stored about the user, but for credentials and other secrets. `from` and `to`
    narrow the transactions.
    """
    query = call.query(ExportQuery)
    span = Span(query.since, query.until)
    owner = name_owner(call.principal)
    exports = call.services.exports
    held, at = await exports.begin(owner)
    headers = {
        **NO_STORE,
        "Content-Disposition": f'attachment; filename="{name_file(query.format, at, query.dialect)}"',
    }
    pieces = write_file(exports, owner, held, at, span, query.format, query.dialect)
    return Answer(200, media_type=MEDIA_TYPES[query.format], headers=headers, pieces=pieces)


@operation("DELETE", CUSTOMER, query=ErasureQuery, **MODIFY)
async def erase_customer(call: Call) -> Answer:
    """Erase the user and everything that is stored about it, at once and for good.

    Its tokens are dead with the answer. Records of payments are kept for as long as the tenant must keep them.
    """
    query = call.query(ErasureQuery)
    if query.confirm is None:
        raise InvalidError("is required: repeat the username, to erase the user for good", "confirm")
    await call.services.users.erase_own(call.principal, query.confirm)
    return empty_answer()

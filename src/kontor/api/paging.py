"""Pages of a list: the cursor says where the next one begins, and the header Link leads there."""

import base64
import binascii
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.operations import Call

T = TypeVar("T")
MAX_PAGE = 500
DEFAULT_PAGE = 100
Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE, description="page size")]
CursorText = Annotated[str, Meta(max_length=1000, description="from the Link of the page before")]


def read_cursor(text: str | None, expected: type[T]) -> T | None:
    if text is None:
        return None
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        cursor: T = msgspec.json.decode(decoded, type=expected)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise HttpError(400, "cursor: use the one from the Link header") from None
    if b"\\u0000" in decoded:  # the database could not even be asked
        raise HttpError(400, "cursor: use the one from the Link header")
    return cursor


def page_answer(call: Call, rows: list[Any], following: Any) -> Answer:
    """`following` is what `read_cursor` is to find again; None on the last page."""
    if following is None:
        return json_answer(rows)
    cursor = base64.urlsafe_b64encode(msgspec.json.encode(following)).decode().rstrip("=")
    query = urlencode(call.query_values() | {"cursor": cursor})
    address = call.urls.base + quote(call.request.scope["path"])
    return json_answer(rows, headers={"Link": f'<{address}?{query}>; rel="next"'})

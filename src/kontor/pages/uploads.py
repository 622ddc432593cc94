"""Forms with a file (`multipart/form-data`)."""

import asyncio
from io import BytesIO

from multipart import MultipartError, MultipartParser, parse_options_header

from kontor.pages.browser import MAX_FIELDS, MAX_FORM_BYTES, AnyRequest, BadRequestError, read_form_body

MULTIPART = "multipart/form-data"


def is_upload(request: AnyRequest) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == MULTIPART


async def read_upload(request: AnyRequest, largest_file: int) -> tuple[dict[str, list[str]], dict[str, bytes]]:
    """The fields and the files of a form, by name; each may come once. TooLargeFormError beyond the limit."""
    boundary = parse_options_header(request.headers.get("content-type", ""))[1].get("boundary")
    if not boundary:
        raise BadRequestError
    body = await read_form_body(request, largest_file + MAX_FORM_BYTES)
    return await asyncio.to_thread(_parse, body, boundary)


def _parse(body: bytes, boundary: str) -> tuple[dict[str, list[str]], dict[str, bytes]]:
    fields: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    parser = MultipartParser(
        BytesIO(body), boundary, len(body), strict=True, part_limit=MAX_FIELDS, spool_limit=len(body) + 1,
        memory_limit=len(body) + 1,
    )  # fmt: skip
    try:
        for part in parser:
            if part.name in fields or part.name in files:
                raise BadRequestError
            if part.filename is None:
                fields[part.name] = [part.value]
            else:
                files[part.name] = part.raw
    except (MultipartError, UnicodeDecodeError):
        raise BadRequestError from None
    return fields, files

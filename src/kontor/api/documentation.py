"""The API documentation: the OpenAPI document, and pages to read and try it. All assets are served from here."""

import gzip
from collections.abc import Sequence
from functools import lru_cache

from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from kontor.api.openapi import make_document
from kontor.api.operations import Operation
from kontor.api.reference import PACKAGE, Reference
from kontor.pages.assets import Assets
from kontor.pages.browser import AnyRequest
from kontor.wire.encoding import encode_json

BASE = "/docs"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
PUBLIC = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
PAGE = PUBLIC | {"Content-Security-Policy": PAGE_POLICY, "Cross-Origin-Opener-Policy": "same-origin"}


def documentation_routes(
    operations: Sequence[Operation], base_url: str, *, has_demo: bool = False
) -> list[HTTPRouteHandler]:
    """`has_demo`: the console has a sample user, whom the pages offer to log in as."""
    described = make_document(operations, base_url)
    document = encode_json(described)
    assets = Assets(PACKAGE, f"{BASE}/assets")
    reference = Reference(described, assets.url, has_demo=has_demo)

    async def read_document(request: AnyRequest) -> ASGIResponse:
        return _answer(request, document, "application/json", PUBLIC)

    async def read_overview(request: AnyRequest) -> ASGIResponse:
        return _answer(request, reference.draw(None), "text/html", PAGE)

    async def read_section(request: AnyRequest) -> ASGIResponse:
        slug = str(request.path_params["section"])
        if slug not in reference.slugs:
            raise NotFoundException
        return _answer(request, reference.draw(slug), "text/html", PAGE)

    routes = {
        "/openapi.json": ("openapi", read_document),
        BASE: ("docs", read_overview),
        f"{BASE}/{{section:str}}": ("docs section", read_section),
        f"{BASE}/assets/{{name:str}}": ("docs asset", assets.serve),
    }
    return [
        HTTPRouteHandler(path, http_method="GET", name=name, status_code=200)(handler)
        for path, (name, handler) in routes.items()
    ]


def _answer(request: AnyRequest, body: bytes, media_type: str, headers: dict[str, str]) -> ASGIResponse:
    """The same for everybody, so that its size tells nothing and it can be compressed."""
    if "gzip" in request.headers.get("accept-encoding", ""):
        return ASGIResponse(body=_compress(body), media_type=media_type, headers=headers | {"Content-Encoding": "gzip"})
    return ASGIResponse(body=body, media_type=media_type, headers=headers)


@lru_cache(maxsize=32)
def _compress(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)

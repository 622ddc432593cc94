"""The API documentation: the OpenAPI document, and a page to read and try it. All assets are served from here."""

from collections.abc import Sequence
from importlib import resources

from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from kontor.api.openapi import make_document
from kontor.api.operations import Operation
from kontor.wire.encoding import encode_json

# Swagger UI sets style attributes, hence the exception for styles; scripts come from here alone.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ASSETS = {  # of texts, Litestar adds the charset itself
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "docs.js": "text/javascript",
}
PAGE = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kontor API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="docs"><noscript>The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/docs.js"></script>
</body>
</html>
"""


PUBLIC = {"Cache-Control": "no-cache"}


def documentation_routes(operations: Sequence[Operation], base_url: str) -> list[HTTPRouteHandler]:
    document = encode_json(make_document(operations, base_url))

    @get("/openapi.json", name="openapi")
    async def read_document() -> ASGIResponse:
        return ASGIResponse(body=document, media_type="application/json", headers=PUBLIC)

    @get("/docs", name="docs")
    async def read_page() -> ASGIResponse:
        headers = {"Content-Security-Policy": PAGE_POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
        return ASGIResponse(body=PAGE, media_type="text/html", headers=PUBLIC | headers)

    def asset_route(name: str, media_type: str) -> HTTPRouteHandler:
        content = resources.files("kontor.api").joinpath("static", name).read_bytes()

        @get(f"/docs/{name}", name=f"docs {name}")
        async def read_asset() -> ASGIResponse:
            return ASGIResponse(body=content, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

        return read_asset

    return [read_document, read_page, *(asset_route(*asset) for asset in ASSETS.items())]

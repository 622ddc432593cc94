"""Files that pages load: kept by browsers for ever, and fetched anew when their content changes."""

import gzip
import hashlib
from dataclasses import dataclass
from importlib import resources

from litestar.response.base import ASGIResponse

from kontor.pages.browser import AnyRequest

SHARED = "kontor.pages"
NO_STORE = {"Cache-Control": "no-store"}
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png"}
MIN_COMPRESSED = 1024


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    compressed: bytes
    media_type: str
    version: str


class Assets:
    """The files in a package's folder `static/`, and those of all pages. They hold no secrets and may be compressed."""

    def __init__(self, package: str, base: str) -> None:
        self._base = base
        files = [file for name in (SHARED, package) for file in resources.files(name).joinpath("static").iterdir()]
        self._found = {file.name: _load(file.name, file.read_bytes()) for file in files if _ending(file.name) in TYPES}

    def url(self, name: str) -> str:
        return f"{self._base}/{name}?v={self._found[name].version}"

    def names(self) -> list[str]:
        return list(self._found)

    def read(self, name: str) -> bytes:
        return self._found[name].content

    async def serve(self, request: AnyRequest) -> ASGIResponse:
        asset = self._found.get(request.path_params["name"])
        if asset is None:
            return ASGIResponse(status_code=404, headers=NO_STORE, media_type="text/plain")
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        body = asset.content
        if len(body) >= MIN_COMPRESSED and "gzip" in request.headers.get("accept-encoding", ""):
            body = asset.compressed
            headers["Content-Encoding"] = "gzip"
        return ASGIResponse(body=body, media_type=asset.media_type, headers=headers)


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


def _load(name: str, content: bytes) -> Asset:
    version = hashlib.sha256(content).hexdigest()[:12]
    return Asset(content, gzip.compress(content, mtime=0), TYPES[_ending(name)], version)

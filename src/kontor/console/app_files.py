"""What makes the console an app: manifest, service worker, and the page for when there is no connection (ADR 0068)."""

import hashlib
import json
from typing import Any

from litestar.response.base import ASGIResponse

from kontor.console.rendering import choose_texts, draw, load_assets, load_texts
from kontor.console.visits import BASE
from kontor.pages.browser import AnyRequest, BadRequestError, read_query
from kontor.pages.texts import Texts

WORKER = f"{BASE}/service-worker.js"
MANIFEST = f"{BASE}/manifest.webmanifest"
OFFLINE = f"{BASE}/offline"
ICONS = (
    ("icon-192.png", "192x192", "any"),
    ("icon-512.png", "512x512", "any"),
    ("icon-maskable.png", "512x512", "maskable"),
)
KEPT = ("palette.css", "console.css", "icon.svg")
BLUE, LIGHT = "#1f5fbf", "#f4f6f9"
PUSH_TEXTS = "push."


async def serve_worker(request: AnyRequest) -> ASGIResponse:
    """In the language that the page names: a worker has no cookies of its own to look at."""
    texts = load_texts().get(read_query(request).get("language", ""))
    if texts is None:
        raise BadRequestError
    script = load_assets().read("service-worker.js").decode()
    body = f"const FACTS = {json.dumps(_describe(texts))};\n{script}"
    headers = {
        "Cache-Control": "no-cache",
        "Service-Worker-Allowed": BASE,
        "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
    }
    return ASGIResponse(body=body.encode(), media_type="text/javascript", headers=headers)


def _describe(texts: Texts) -> dict[str, Any]:
    facts = {
        "language": texts.language,
        "texts": {
            key.removeprefix(PUSH_TEXTS): text for key, text in texts.texts.items() if key.startswith(PUSH_TEXTS)
        },
        "offline": OFFLINE,
        "kept": [OFFLINE, *map(load_assets().url, KEPT)],
        "icon": load_assets().url("icon-192.png"),
        "alerts": f"{BASE}/alerts",
        "start": BASE,
    }
    return facts | {"version": hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]}


async def serve_manifest(request: AnyRequest) -> ASGIResponse:
    texts = choose_texts(request)
    manifest = {
        "id": BASE,
        "name": "Kontor",
        "short_name": "Kontor",
        "description": texts("devices.app"),
        "lang": texts.language,
        "start_url": BASE,
        "scope": BASE,
        "display": "standalone",
        "theme_color": BLUE,
        "background_color": LIGHT,
        "icons": [
            {"src": load_assets().url(name), "sizes": sizes, "type": "image/png", "purpose": purpose}
            for name, sizes, purpose in ICONS
        ],
    }
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
    return ASGIResponse(body=json.dumps(manifest).encode(), media_type="application/manifest+json", headers=headers)


async def show_offline(request: AnyRequest) -> ASGIResponse:
    """Nothing of whoever is signed in."""
    return draw("offline", choose_texts(request), {})

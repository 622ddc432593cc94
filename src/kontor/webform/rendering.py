"""Drawing pages: templates, assets and the headers that every page carries."""

import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar.response.base import ASGIResponse

from kontor.domain.redirects import Branding, FormSession
from kontor.domain.secrets import Secret
from kontor.pages.assets import NO_STORE, Assets
from kontor.pages.browser import make_token
from kontor.pages.formatting import format_bank_code
from kontor.pages.texts import Texts
from kontor.webform.pages import Page, display_name
from kontor.webform.texts import load_texts
from kontor.webform.theme import make_theme

BASE = "/customer/v2/webform"
# For pages that belong to no session, and so to no tenant.
NOBODY = Branding("Kontor", "Kontor")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kontor.webform"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bank_code"] = format_bank_code
    return environment


@cache
def load_assets() -> Assets:
    return Assets("kontor.webform", f"{BASE}/assets")


def draw(
    page: Page,
    texts: Texts,
    branding: Branding = NOBODY,
    session: FormSession | None = None,
    cookie: Secret | None = None,
    status: int = 200,
    is_demo: bool = False,
    **facts: Any,
) -> ASGIResponse:
    shared = {
        "foot": make_foot(branding, texts, is_demo=is_demo),
        "page": page,
        "t": texts,
        "languages": load_texts(),
        "tenant": display_name(branding),
        "branding": branding,
        "base": BASE,
        "asset": load_assets().url,
        "theme_version": hashlib.sha256(make_theme(branding).encode()).hexdigest()[:12] if branding.colours else None,
        "token": None if cookie is None else make_token(cookie, page.key),
        "session": session,
        "step_number": None,
        "payment": None,
    }
    body = _environment().get_template(f"{page.name}.html").render(shared | page.facts | facts)
    headers = NO_STORE | {
        "Content-Security-Policy": make_policy(branding),
        "Vary": "Accept-Language, Cookie",
    }
    return ASGIResponse(body=body.encode(), status_code=status, media_type="text/html", headers=headers)


def make_foot(branding: Branding, texts: Texts, *, is_demo: bool) -> dict[str, Any]:
    """Imprint, privacy notice and licence of the tenant. Kontor has a privacy notice of its own, the demo all three."""
    imprint = branding.find_note("imprint") or (f"{BASE}/imprint" if is_demo else None)
    privacy = branding.find_note("privacy") or f"{BASE}/privacy"
    licence = branding.find_note("licence") or (texts("info.licence_demo") if is_demo else None)
    links = (("imprint", imprint), ("privacy", privacy))
    return {"links": [(name, url) for name, url in links if url is not None], "licence": licence}


def make_policy(branding: Branding) -> str:
    """Nothing inline, nothing from elsewhere; framed only where the tenant listed it."""
    ancestors = " ".join(branding.frame_origins) or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        f" form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}"
    )


def see_other(url: str, set_cookie: str | None = None) -> ASGIResponse:
    headers = NO_STORE | {"Location": url}
    if set_cookie is not None:
        headers["Set-Cookie"] = set_cookie
    return ASGIResponse(status_code=303, headers=headers, media_type="text/plain")


def picture(data: bytes, media_type: str) -> ASGIResponse:
    """A drawing is only ever an image: nothing in it may run or load."""
    headers = {
        "Cache-Control": "private, max-age=300",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    }
    return ASGIResponse(body=data, media_type=media_type, headers=headers)

"""What a browser says, asks for and is answered while a test drives it."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response

from browser.tenant_site import TenantSite

# Chromium reports a page that comes with such a status as a resource that failed; it is what the tests ask for.
# And in a frame the focus stays with the page around it.
EXPECTED = re.compile(
    r"Failed to load resource: the server responded with a status of (400|403|404|410|422)"
    r"|Blocked autofocusing on a <input> element in a cross-origin subframe"
)
SECURE_HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
PUBLIC = "/docs"


@dataclass
class Watch:
    """Attached to every context of a test. `kontor` is the server's host, `sites` are all others that may be asked."""

    kontor: str
    sites: list[TenantSite] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    documents: list[Response] = field(default_factory=list)

    def attach(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", self._hear_error)
        context.on("request", self._note)
        context.on("response", self._read)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not EXPECTED.match(message.text):
            self.complaints.append(f"{message.type}: {message.text}")

    def _hear_error(self, error: object) -> None:
        self.complaints.append(f"uncaught: {getattr(error, 'error', error)}")

    def _note(self, request: Request) -> None:
        self.requests.append(request)

    def _read(self, response: Response) -> None:
        if response.request.resource_type == "document" and urlsplit(response.url).netloc == self.kontor:
            self.documents.append(response)

    @property
    def urls(self) -> list[str]:
        return [request.url for request in self.requests]

    def foreign_hosts(self) -> set[str]:
        asked = {urlsplit(url).netloc for url in self.urls if not url.startswith(("data:", "about:", "blob:"))}
        return (
            asked
            - {f"{host}:{site.port}" for site in self.sites for host in ("127.0.0.1", "localhost")}
            - {self.kontor}
        )

    def referrers(self) -> list[str]:
        """As the tenants' sites were told; what the browser's own tools say of redirects is not what is sent."""
        visits = [visit for site in self.sites for visit in site.visits]
        found = [visit.headers.get("Referer", "") for visit in visits]
        return [referrer for referrer in found if urlsplit(referrer).netloc == self.kontor]

    def weak_documents(self) -> list[str]:
        """Pages of ours whose headers are not as strict as they must be."""
        pages = [document for document in self.documents if "text/html" in document.headers.get("content-type", "")]
        return [page.url for page in pages if not _is_strict(page.headers, is_public=PUBLIC in page.url)]


def _is_strict(headers: dict[str, str], *, is_public: bool) -> bool:
    """A public page, which is the same for everybody, may be kept and asked about."""
    wanted = SECURE_HEADERS | ({"cache-control": "no-cache"} if is_public else {})
    policy = dict(part.strip().partition(" ")[::2] for part in headers.get("content-security-policy", "").split(";"))
    return (
        all(headers.get(name) == value for name, value in wanted.items())
        and policy.get("default-src") == "'none'"
        and policy.get("script-src", "'self'") == "'self'"
        and policy.get("style-src", "'self'") == "'self'"
        and policy.get("form-action", "'self'") in ("'self'", "'none'")
        and policy.get("base-uri") == "'none'"
        and "frame-ancestors" in policy
        and "unsafe" not in headers["content-security-policy"]
        and "*" not in headers["content-security-policy"]
    )

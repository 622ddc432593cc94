"""The tenant's own site: a page to come back to, and pages that embed the form. It remembers who asked for what."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

EMBEDDING_PAGE = """<!doctype html><html lang="en"><title>Shop</title><body>
<button id="popup">Popup</button><button id="frame">Frame</button><div id="place"></div>
<script src="{component}"></script>
<script>
  const query = new URLSearchParams(location.search);
  window.outcomes = []; window.events = []; window.messages = [];
  window.addEventListener("message", (event) => window.messages.push(event.data));
  document.addEventListener("kontor:outcome", (event) => window.events.push(event.detail));
  const open = (mode) => Kontor.open({{
    url: query.get("url"), mode, container: document.getElementById("place"),
    onOutcome: (outcome) => window.outcomes.push(outcome),
  }});
  document.getElementById("popup").addEventListener("click", () => open("popup"));
  document.getElementById("frame").addEventListener("click", () => open("frame"));
</script></body></html>"""


@dataclass
class Visit:
    url: str
    headers: dict[str, str]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.url).query, keep_blank_values=True)


@dataclass
class TenantSite:
    """`origin` is where it answers; `/shop` embeds the form, `/moved` sends on to another origin."""

    component: str
    visits: list[Visit] = field(default_factory=list)
    onward: str = ""

    def __enter__(self) -> "TenantSite":
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.visits.append(Visit(self.path, dict(self.headers.items())))
                if self.path.startswith("/moved"):
                    self.send_response(302)
                    self.send_header("Location", site.onward + self.path.removeprefix("/moved"))
                    self.end_headers()
                    return
                page = EMBEDDING_PAGE.format(component=site.component) if self.path.startswith("/shop") else PLAIN_PAGE
                self.send_response(204 if self.path == "/favicon.ico" else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                if self.path != "/favicon.ico":
                    self.wfile.write(page.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def visits_to(self, path: str) -> list[Visit]:
        return [visit for visit in self.visits if urlsplit(visit.url).path == path]


PLAIN_PAGE = (
    "<!doctype html><html lang='en'><link rel='icon' href='data:,'><title>Tenant</title><h1>Back at the tenant</h1>"
)

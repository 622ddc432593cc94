"""An assistant that a user lets read, from the other side: authorization code with PKCE."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx

from banking import BankCustomer
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS
from plain_http import plain_client
from timeouts import WAIT_TIMEOUT_SECONDS

BACK = "https://assistant.example/callback?from=kontor"
LOOPBACK = "http://127.0.0.1/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
FIELD = re.compile(r'name="(token|ticket)" value="([^"]+)"')
HREF = re.compile(r'<a href="([^"]+)" id="target"')
AUTHORIZE = "/auth/oauth2/authorize"
Token = dict[str, str]


@dataclass
class Assistant:
    client_id: str
    customer: BankCustomer
    address: str

    def query(self, **changes: str | None) -> dict[str, str]:
        query = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": BACK, "state": "s&1",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256", "scope": f"{CUSTOMER_READ} {CUSTOMER_TAGS}",
            "resource": f"{self.address}/mcp",
        } | changes  # fmt: skip
        return {name: value for name, value in query.items() if value is not None}

    def browser(self) -> httpx.Client:
        return plain_client(base_url=self.address, timeout=WAIT_TIMEOUT_SECONDS, headers={"Accept-Language": "en"})

    def sign_in(self, browser: httpx.Client, query: dict[str, str], password: str | None = None) -> httpx.Response:
        page = browser.get(AUTHORIZE, params=query)
        assert page.status_code == 200, page.text
        form = dict(FIELD.findall(page.text)) | {
            "action": "sign_in", "username": self.customer.username,
            "password": f"password of {self.customer.username}" if password is None else password,
        }  # fmt: skip
        return browser.post(AUTHORIZE, params=query, data=form)

    def agree(self, *, tags: bool = False, action: str = "agree", **changes: str | None) -> dict[str, str]:
        """What the assistant is told in the address that the browser goes back to."""
        query = self.query(**changes)
        with self.browser() as browser:
            consent = self.sign_in(browser, query)
            form = dict(FIELD.findall(consent.text)) | {"action": action} | ({"tags": "yes"} if tags else {})
            end = browser.post(AUTHORIZE, params=query, data=form)
            assert end.status_code == 200, end.text
        target = HREF.search(end.text)[1].replace("&amp;", "&")
        assert target.startswith(query["redirect_uri"])
        return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}

    def exchange(self, code: str, **changes: str) -> httpx.Response:
        form = {
            "grant_type": "authorization_code", "client_id": self.client_id, "code": code, "redirect_uri": BACK,
            "code_verifier": VERIFIER,
        } | changes  # fmt: skip
        return self.customer.http.post("/auth/oauth2/token", data=form)

    def refresh(self, token: str, **changes: str) -> httpx.Response:
        form = {"grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": token} | changes
        return self.customer.http.post("/auth/oauth2/token", data=form)

    def get_tokens(self, **facts: bool) -> Token:
        answer = self.exchange(self.agree(**facts)["code"])
        assert answer.status_code == 200, answer.text
        return answer.json()

    def can_read(self, token: Token) -> bool:
        headers = {"Authorization": f"Bearer {token['access_token']}"}
        return self.customer.http.get("/customer/v2/bankzugaenge", headers=headers).status_code == 200

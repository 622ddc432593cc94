"""The pages on which a user signs in and lets an assistant read (`/auth/oauth2/authorize`)."""

import hashlib
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from litestar.response.base import ASGIResponse

from kontor.config import Settings
from kontor.domain.errors import TooManyAttemptsError
from kontor.domain.scopes import CUSTOMER_TAGS
from kontor.domain.secrets import Secret
from kontor.pages.browser import (
    AnyRequest,
    Cookies,
    check_csrf,
    find_address,
    make_token,
    read_form,
    read_query,
)
from kontor.pages.texts import Texts
from kontor.services.bundle import Services
from kontor.services.identity import AuthorizationError, AuthorizationRequest, GrantError, UnknownAssistantError
from kontor.webform.pages import Page
from kontor.webform.rendering import draw, see_other
from kontor.webform.texts import choose_texts

AUTHORIZE = "/auth/oauth2/authorize"
MAX_FIELD_CHARACTERS = 1024


class AuthorizationPages:
    def __init__(self, settings: Settings, get_services: Callable[[], Services]) -> None:
        self._settings = settings
        self._services = get_services
        self._cookies = Cookies("kontor-authorize", settings.base_url.startswith("https://"))

    async def show(self, request: AnyRequest) -> ASGIResponse:
        texts = choose_texts(request)
        found = await self._find_request(request, texts)
        if not isinstance(found, AuthorizationRequest):
            return found
        cookie = self._cookies.read(request) or Secret(secrets.token_urlsafe(32))
        page = self._draw(request, "authorize_login", texts, found, cookie, username="", problem=None)
        page.headers["Set-Cookie"] = self._cookies.write(cookie)
        return page

    async def act(self, request: AnyRequest) -> ASGIResponse:
        texts = choose_texts(request)
        found = await self._find_request(request, texts)
        if not isinstance(found, AuthorizationRequest):
            return found
        form = {name: values[0][:MAX_FIELD_CHARACTERS] for name, values in (await read_form(request)).items()}
        cookie = self._cookies.read(request)
        if cookie is None:
            return self._draw_problem(texts, "expired", 400)
        check_csrf(request, cookie, form.get("token", ""), _step(found), self._settings.base_url)
        match form.get("action"):
            case "sign_in":
                return await self._sign_in(request, texts, found, cookie, form)
            case "agree":
                scopes = [CUSTOMER_TAGS] if form.get("tags") == "yes" else []
                try:
                    code = await self._services().authorizations.approve(found, form.get("ticket", ""), cookie, scopes)
                except AuthorizationError as error:
                    return self._leave(texts, found, {"error": error.error, "error_description": error.message})
                if code is None:
                    return self._draw(
                        request, "authorize_login", texts, found, cookie, status=422, username="", problem="expired"
                    )
                return self._leave(texts, found, {"code": code.reveal()})
        return self._leave(texts, found, {"error": "access_denied", "error_description": "The user did not agree."})

    async def _sign_in(
        self, request: AnyRequest, texts: Texts, found: AuthorizationRequest, cookie: Secret, form: dict[str, str]
    ) -> ASGIResponse:
        username = form.get("username", "").strip()
        address = find_address(request, self._settings.trusted_proxies)
        problem = "wrong"
        try:
            ticket = await self._services().authorizations.sign_in(
                found, username, Secret(form.get("password", "")), address, cookie
            )
        except GrantError:
            pass
        except TooManyAttemptsError:
            problem = "locked"
        else:
            facts: dict[str, Any] = {
                "ticket": ticket,
                "username": username,
                "offers_tags": CUSTOMER_TAGS in found.scopes,
            }
            return self._draw(request, "authorize_consent", texts, found, cookie, **facts)
        return self._draw(
            request, "authorize_login", texts, found, cookie, status=422, username=username, problem=problem
        )

    async def _find_request(self, request: AnyRequest, texts: Texts) -> AuthorizationRequest | ASGIResponse:
        """An answer where there is none: a page, or the way back to the client with an error."""
        query = read_query(request)
        authorizations = self._services().authorizations
        try:
            client, address = await authorizations.find_client(query)
        except UnknownAssistantError:
            return self._draw_problem(texts, "unknown", 400)
        try:
            return authorizations.read_request(client, address, query)
        except AuthorizationError as error:
            facts = {"error": error.error, "error_description": error.message}
            return see_other(self._target(address, query.get("state"), facts))

    def _leave(self, texts: Texts, found: AuthorizationRequest, facts: dict[str, str]) -> ASGIResponse:
        """By a page: browsers hold each hop of a redirect after a form against `form-action`."""
        target = self._target(found.redirect_address, found.state, facts)
        return self._draw_page(
            "authorize_end", texts, found.client.tenant_name, 200, target=target, client=_name(found)
        )

    def _target(self, address: str, state: str | None, facts: dict[str, str]) -> str:
        """With `iss`, so that a client of several servers is not confused (RFC 9207)."""
        values = facts | ({} if state is None else {"state": state}) | {"iss": self._settings.base_url}
        return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(values)}"

    def _draw(
        self,
        request: AnyRequest,
        name: str,
        texts: Texts,
        found: AuthorizationRequest,
        cookie: Secret,
        *,
        status: int = 200,
        **facts: Any,
    ) -> ASGIResponse:
        query = request.scope["query_string"].decode("latin-1")
        return self._draw_page(
            name,
            texts,
            found.client.tenant_name,
            status,
            action=f"{AUTHORIZE}?{query}",
            form_token=make_token(cookie, _step(found)),
            client=_name(found),
            host=urlsplit(found.redirect_address).hostname or urlsplit(found.redirect_address).scheme,
            **facts,
        )

    def _draw_problem(self, texts: Texts, problem: str, status: int) -> ASGIResponse:
        return self._draw_page("authorize_problem", texts, "Kontor", status, problem=problem)

    def _draw_page(self, name: str, texts: Texts, tenant: str, status: int, **facts: Any) -> ASGIResponse:
        page = Page(name, name)
        shown: dict[str, Any] = {"tenant": tenant, "languages": {}, "is_wrong_page": bool(facts.get("problem"))}
        drawn = draw(page, texts, status=status, is_demo=self._settings.demo, **shown, **facts)
        drawn.headers["X-Frame-Options"] = "DENY"
        return drawn


def _name(found: AuthorizationRequest) -> str:
    return found.client.description or found.client.name


def _step(found: AuthorizationRequest) -> str:
    """A form counts for the request that it was made for."""
    return "authorize " + hashlib.sha256(found.key.encode("utf-8", "surrogatepass")).hexdigest()

"""Signing in: the console asks the token endpoint as any client would, and keeps nothing but the token."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import msgspec
from litestar.exceptions import NotFoundException
from litestar.response.base import ASGIResponse

from kontor.config import Settings
from kontor.console.clients import ConsoleClient, Sample
from kontor.console.rendering import choose_texts, draw, see_other
from kontor.console.sessions import Role, Session, SessionCookies
from kontor.console.visits import BASE, Form, field_of
from kontor.domain.scopes import ADVISER_READ
from kontor.pages.assets import NO_STORE
from kontor.pages.browser import AnyRequest, CsrfError, origin_of, read_form, read_query
from kontor_client import ApiError, AsyncKontor, KontorClientError
from kontor_client.sessions import Login, client_login, user_login

OPERATOR_HOME = f"{BASE}/ops"
ADVISER_HOME = f"{BASE}/adviser"
Connect = Callable[[AnyRequest, str | None], AsyncKontor]


class SigningIn:
    def __init__(
        self,
        settings: Settings,
        cookies: SessionCookies,
        connect: Connect,
        clients: Mapping[str, ConsoleClient],
        sample: Sample | None,
        sample_adviser: Sample | None,
    ) -> None:
        self._settings = settings
        self._cookies = cookies
        self._connect = connect
        self._clients = clients
        self._samples = {
            action: offered
            for action, offered in (("sample", sample), ("sample_adviser", sample_adviser))
            if offered is not None and offered.tenant in clients
        }

    # Users

    async def show_user_form(self, request: AnyRequest) -> ASGIResponse:
        query = read_query(request)
        return self._draw_user_form(request, query.get("next", ""), notice=query.get("notice"))

    async def sign_in_user(self, request: AnyRequest) -> ASGIResponse:
        form = await self._read_own_form(request)
        following = field_of(form, "next")
        sample = self._samples.get(field_of(form, "action"))
        if sample is not None:
            tenant, username, password = sample.tenant, sample.username, sample.password.reveal()
        else:
            tenant, username = field_of(form, "tenant"), field_of(form, "username").strip()
            password = field_of(form, "password")
        client = self._clients.get(tenant)
        if client is None or not username or not password:
            return self._draw_user_form(request, following, problem="incomplete", tenant=tenant, username=username)
        login = user_login(client.username, client.secret.reveal(), username, password)
        try:
            answer = await self._get_token(request, login)
        except ApiError as error:
            problem = name_user_problem(error)
            return self._draw_user_form(request, following, problem=problem, tenant=tenant, username=username)
        before = self._cookies.read(request, is_operator=False)
        if before is not None:
            await self.revoke(request, before)
        is_adviser = ADVISER_READ in answer["scope"].split()
        session = Session(answer["access_token"], Role.USER, username, tenant, is_adviser, answer["user"])
        home = ADVISER_HOME if is_adviser else BASE
        return see_other(_safe_next(following, home), [self._cookies.write(session)])

    async def issue_demo_token(self, request: AnyRequest) -> ASGIResponse:
        """A token of the sample user, for the pages that explain the API; anybody can sign in as this user here."""
        await self._read_own_form(request)
        sample = self._samples.get("sample")
        if sample is None:
            raise NotFoundException
        client = self._clients[sample.tenant]
        login = user_login(client.username, client.secret.reveal(), sample.username, sample.password.reveal())
        try:
            answer = await self._get_token(request, login)
        except ApiError as error:
            refusal = msgspec.json.encode({"message": error.text})
            return ASGIResponse(body=refusal, media_type="application/json", status_code=error.status, headers=NO_STORE)
        body = msgspec.json.encode({"access_token": answer["access_token"], "username": sample.username})
        return ASGIResponse(body=body, media_type="application/json", headers=NO_STORE)

    def _draw_user_form(
        self,
        request: AnyRequest,
        following: str,
        *,
        problem: str | None = None,
        notice: str | None = None,
        tenant: str = "",
        username: str = "",
    ) -> ASGIResponse:
        facts = {
            "tenants": list(self._clients), "samples": self._samples, "next": following, "problem": problem,
            "notice": notice if notice in ("expired", "erased") else None, "tenant": tenant, "username": username,
            "here": f"{BASE}/sign-in",
        }  # fmt: skip
        return draw("sign_in", choose_texts(request), facts, 200 if problem is None else 422)

    # Operators

    async def show_operator_form(self, request: AnyRequest) -> ASGIResponse:
        query = read_query(request)
        return self._draw_operator_form(request, query.get("next", ""), notice=query.get("notice"))

    async def sign_in_operator(self, request: AnyRequest) -> ASGIResponse:
        """With an operator's token, or as a tenant's admin client."""
        form = await self._read_own_form(request)
        following = field_of(form, "next")
        try:
            if field_of(form, "action") == "client":
                client = field_of(form, "client").strip()
                answer = await self._get_token(request, client_login(client, field_of(form, "secret")))
                session = Session(answer["access_token"], Role.ADMIN, client, client.partition("/")[0])
            else:
                token = field_of(form, "operator_token").strip()
                if not token.isascii() or not token.isprintable():
                    return self._draw_operator_form(request, following, problem="wrong")
                session = Session(token, Role.OPERATOR, "operator")
            async with self._connect(request, session.token) as api:
                await api.request("GET", "/ops/v1/tenants", params={"limit": 1})
        except ApiError as error:
            return self._draw_operator_form(request, following, problem=name_problem(error))
        return see_other(_safe_next(following, OPERATOR_HOME), [self._cookies.write(session)])

    def _draw_operator_form(
        self, request: AnyRequest, following: str, *, problem: str | None = None, notice: str | None = None
    ) -> ASGIResponse:
        facts = {
            "next": following, "problem": problem, "notice": notice if notice == "expired" else None,
            "here": f"{BASE}/ops/sign-in",
        }  # fmt: skip
        return draw("operator_sign_in", choose_texts(request), facts, 200 if problem is None else 422)

    # Both

    async def revoke(self, request: AnyRequest, session: Session) -> None:
        """A user's token ends with the session. An operator's was made on the command line, and ends there."""
        client = self._clients.get(session.tenant or "")
        if session.role is not Role.USER or client is None:
            return
        # Whatever the service says, the browser forgets the token.
        with suppress(KontorClientError):
            async with self._connect(request, None) as api:
                login = client_login(client.username, client.secret.reveal()).call
                content = urlencode({"token": session.token}).encode()
                await api.request("POST", "/auth/oauth2/revoke", content=content, headers=login.headers)

    async def _get_token(self, request: AnyRequest, login: Login) -> dict[str, Any]:
        async with self._connect(request, None) as api:
            answer = await api.request("POST", login.call.path, content=login.call.content, headers=login.call.headers)
        answered: dict[str, Any] = answer.json()
        return answered

    async def _read_own_form(self, request: AnyRequest) -> Form:
        """Before anybody is signed in there is no cookie to bind a token to: the browser says where it comes from."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site not in (None, "same-origin", "none") or origin not in (
            None,
            "null",
            origin_of(self._settings.console_address),
        ):
            raise CsrfError
        return await read_form(request)


def name_user_problem(error: ApiError) -> str:
    """That the console's own client is refused is no fault of the user's."""
    return "client" if error.text.startswith("invalid_client") else name_problem(error)


def name_problem(error: ApiError) -> str:
    if error.status in (401, 403):
        return "wrong"
    return "locked" if error.status == 429 else "failed"


def _safe_next(following: str, otherwise: str) -> str:
    """Only ever a page of the console."""
    if following.startswith(f"{BASE}/") and "//" not in following and "\\" not in following:
        return following
    return otherwise

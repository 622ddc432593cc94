"""The console's routes. Whatever goes wrong, a person sees a page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import quote, unquote

import httpx
import msgspec
import structlog
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp

from kontor.config import Settings
from kontor.console import app_files
from kontor.console.clients import read_clients, read_sample
from kontor.console.downloads import Download
from kontor.console.gateway import ForwardingTransport, Gateway, segment
from kontor.console.rendering import (
    allow_form_host,
    choose_texts,
    compress_page,
    draw,
    group_views,
    load_assets,
    load_texts,
    see_other,
)
from kontor.console.sessions import Session, SessionCookies, renew_session, write_dialogue
from kontor.console.signing_in import SigningIn
from kontor.console.views import VIEWS
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor.domain.languages import FALLBACK_LANGUAGE
from kontor.domain.secrets import Secret
from kontor.pages.browser import (
    AnyRequest,
    BadRequestError,
    CsrfError,
    TooLargeFormError,
    check_csrf,
    make_token,
    origin_of,
    read_form,
    read_query,
    write_language,
)
from kontor.pages.uploads import is_upload, read_upload
from kontor.services.runtime import Clock
from kontor_client import ApiError, AsyncKontor

log = structlog.get_logger(__name__)

FORGERY_STEP = "console"
OPENED_PREFIXES = ("/customer/v2", "/providers/v2", "/tags/v1", "/ops/v1", "/ai/v1", "/adviser/v2")
Handler = Callable[[AnyRequest], Awaitable[ASGIResponse]]


def make_routes(settings: Settings, get_api: Callable[[], ASGIApp]) -> list[HTTPRouteHandler]:
    console = Console(settings, get_api)
    signing_in = console.signing_in
    routes: list[tuple[str, str, Handler]] = [
        ("GET", f"{BASE}/sign-in", signing_in.show_user_form),
        ("POST", f"{BASE}/sign-in", signing_in.sign_in_user),
        ("GET", f"{BASE}/ops/sign-in", signing_in.show_operator_form),
        ("POST", f"{BASE}/ops/sign-in", signing_in.sign_in_operator),
        ("POST", f"{BASE}/demo-token", signing_in.issue_demo_token),
        ("POST", f"{BASE}/sign-out", console.sign_out),
        ("POST", f"{BASE}/language", console.choose_language),
        ("GET", f"{BASE}/json", console.open_json),
        ("GET", f"{BASE}/data/export", console.download_export),
        ("GET", f"{BASE}/statements/{{access:str}}/{{product:str}}/{{statement:str}}", console.download_statement),
        ("GET", f"{BASE}/contracts/{{contract:str}}/cancellation", console.download_cancellation),
        ("GET", f"{BASE}/debits/{{debit:str}}/letter", console.download_debit_return),
        ("GET", f"{BASE}/credit-files/{{file:str}}/pdf", console.download_credit_file),
        ("GET", f"{BASE}/credit-reviews/{{file:str}}/pdf", console.download_credit_file),
        ("GET", f"{BASE}/assets/{{name:str}}", load_assets().serve),
        ("GET", app_files.WORKER, app_files.serve_worker),
        ("GET", app_files.MANIFEST, app_files.serve_manifest),
        ("GET", app_files.OFFLINE, app_files.show_offline),
        ("GET", "/", console.open_start),
    ]
    made = [_make_route(console, *route) for route in routes]
    for view in VIEWS:
        made.append(_make_route(console, "GET", view.url, console.make_show(view)))
        if view.actions:
            made.append(_make_route(console, "POST", view.url, console.make_act(view)))
    return made


def draw_missing(request: AnyRequest) -> ASGIResponse:
    """For addresses below /console that no page has."""
    return draw("problem", choose_texts(request), {"kind": "missing"}, 404)


def _make_route(console: "Console", method: str, path: str, handler: Handler) -> HTTPRouteHandler:
    async def handle(request: AnyRequest) -> ASGIResponse:
        scope: dict[str, Any] = request.scope  # type: ignore[assignment]
        scope["kontor.operation"] = f"console {path.removeprefix(BASE) or '/'}"
        try:
            response = allow_form_host(await handler(request), console.form_host)
            return compress_page(request, renew_session(request, response))
        except TooLargeFormError:
            return console.draw_problem(request, "too_large", 413)
        except BadRequestError:
            return console.draw_problem(request, "bad_request", 400)
        except CsrfError:
            return console.draw_problem(request, "forged", 403)
        except NotFoundException:
            raise
        except Exception:
            log.exception("console.failed", path=path)
            return console.draw_problem(request, "defect", 500)

    return HTTPRouteHandler(path, http_method=method, name=f"console {method} {path}", status_code=200)(handle)  # type: ignore[arg-type]


class Console:
    def __init__(self, settings: Settings, get_api: Callable[[], ASGIApp]) -> None:
        self._settings = settings
        self._get_api = get_api
        self._clock = Clock(settings.today, settings.clock)
        self._is_https = settings.console_address.startswith("https://")
        self._cookies = SessionCookies(is_https=self._is_https, idle_seconds=settings.console_idle_seconds)
        self.form_host = None if settings.console_url is None else origin_of(settings.base_url)
        self.signing_in = SigningIn(
            settings, self._cookies, self._connect,
            read_clients(settings.console_clients),
            read_sample(settings.console_sample),
            read_sample(settings.console_sample_adviser, "KONTOR_CONSOLE_SAMPLE_ADVISER"),
        )  # fmt: skip

    # Pages

    def make_show(self, view: View) -> Handler:
        async def show(request: AnyRequest) -> ASGIResponse:
            session = await self._find_session(request, is_operator=view.is_operator)
            if session is None:
                return self._ask_to_sign_in(request, view)
            query = read_query(request)
            async with self._connect(request, session.token) as client:
                visit = self._visit(request, session, view, client, query)
                try:
                    facts = await view.show(visit)
                except RedirectTo as target:
                    return _redirect(target, self._keep(target))
                except ApiError as error:
                    return self._draw_refusal(visit, view, error)
                return self._draw(visit, view, facts)

        return show

    def make_act(self, view: View) -> Handler:
        async def act(request: AnyRequest) -> ASGIResponse:
            session = await self._find_session(request, is_operator=view.is_operator)
            if session is None:
                return self._ask_to_sign_in(request, view)
            form, file = await _read_form(request, view)
            self._refuse_forged(request, session, field_of(form, "token"))
            action = view.actions.get(field_of(form, "action"))
            if action is None:
                raise BadRequestError
            async with self._connect(request, session.token) as client:
                visit = self._visit(request, session, view, client, read_query(request), file)
                try:
                    facts = await action(visit, form)
                except RedirectTo as target:
                    ended = [self._cookies.forget(is_operator=view.is_operator)] if target.ends_session else []
                    return _redirect(target, [*ended, *self._keep(target)])
                except ApiError as error:
                    return self._draw_refusal(visit, view, error)
                if facts is None:
                    return see_other(str(request.url.path))
                return self._draw(visit, view, facts, status=facts.get("status", 422))

        return act

    def _open(self, request: AnyRequest, client: AsyncKontor) -> Gateway:
        return Gateway(client, choose_texts(request).language)

    def _visit(
        self,
        request: AnyRequest,
        session: Session,
        view: View,
        client: AsyncKontor,
        query: dict[str, str],
        file: bytes | None = None,
    ) -> Visit:
        scope: dict[str, Any] = request.scope  # type: ignore[assignment]
        scope["kontor.tenant"] = session.tenant
        wanted = choose_texts(request)
        texts = wanted if view.is_for_customers or not wanted.is_unreviewed else load_texts()[FALLBACK_LANGUAGE]
        api = Gateway(client, texts.language)
        urls = (self._settings.base_url, self._settings.console_address)
        return Visit(request, api, session, texts, query, *urls, self._clock.today(), file)

    def _draw(self, visit: Visit, view: View, facts: Facts, status: int = 200) -> ASGIResponse:
        shared = self._frame(visit, view) | {"calls": visit.api.calls, "base_url": self._settings.base_url}
        return draw(view.name, visit.texts, shared | facts, status)

    def _frame(self, visit: Visit, view: View) -> Facts:
        notice = visit.query.get("notice")
        key = f"notices.{notice}"
        return {
            "view": view,
            "wanted": choose_texts(visit.request),
            "session": visit.session,
            "groups": group_views(VIEWS, view),
            "token": self._make_token(visit.session),
            "notice": visit.texts(key) if notice and key in visit.texts.texts else None,
            "today": visit.today,
            "here": visit.request.url.path,
        }

    def _draw_refusal(self, visit: Visit, view: View, error: ApiError) -> ASGIResponse:
        """What the API refused, in words. A token that is no longer valid ends the session."""
        if _ends_session(error):
            return self._ask_to_sign_in(visit.request, view)
        facts = self._frame(visit, view) | {"error": error, "calls": visit.api.calls}
        return draw("refusal", visit.texts, facts | {"base_url": self._settings.base_url}, error.status)

    def draw_problem(self, request: AnyRequest, kind: str, status: int) -> ASGIResponse:
        return draw("problem", choose_texts(request), {"kind": kind}, status)

    async def open_start(self, request: AnyRequest) -> ASGIResponse:
        """For people; programs are told that there is nothing."""
        if "text/html" not in request.headers.get("accept", ""):
            raise NotFoundException
        return see_other(BASE)

    # Actions that belong to no page

    async def sign_out(self, request: AnyRequest) -> ASGIResponse:
        form = await read_form(request)
        is_operator = field_of(form, "role") == "operator"
        session = self._cookies.read(request, is_operator=is_operator)
        if session is not None:
            self._refuse_forged(request, session, field_of(form, "token"))
            await self.signing_in.revoke(request, session)
        where = f"{BASE}/ops/sign-in" if is_operator else f"{BASE}/sign-in"
        return see_other(where, [self._cookies.forget(is_operator=is_operator)])

    async def choose_language(self, request: AnyRequest) -> ASGIResponse:
        """It changes nothing but what this browser shows, so no token is asked for."""
        form = await read_form(request)
        language, back = field_of(form, "language"), field_of(form, "back", BASE)
        if language not in load_texts() or not back.startswith(BASE) or back.startswith("//"):
            raise BadRequestError
        return see_other(back, [write_language(language, is_https=self._is_https)])

    async def open_json(self, request: AnyRequest) -> ASGIResponse:
        """The whole answer to a reading call, as the page's own panel shows only its beginning."""
        path = read_query(request).get("path", "")
        if not _can_be_opened(path):
            raise BadRequestError
        is_operator = path.startswith("/ops/")
        sign_in = f"{BASE}/ops/sign-in" if is_operator else f"{BASE}/sign-in"
        session = await self._find_session(request, is_operator=is_operator)
        if session is None:
            return see_other(sign_in)
        async with self._connect(request, session.token) as client:
            try:
                answer = await self._open(request, client).send("GET", path)
            except ApiError as error:
                if _ends_session(error):
                    return see_other(f"{sign_in}?notice=expired", [self._cookies.forget(is_operator=is_operator)])
                return self.draw_problem(request, "bad_request", error.status)
        try:
            body = msgspec.json.format(answer.content, indent=2) if answer.content else b"null"
        except msgspec.DecodeError:  # a picture, a table: nothing that this page shows
            raise BadRequestError from None
        headers = {
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        }
        return ASGIResponse(body=body, media_type="application/json", headers=headers)

    async def download_export(self, request: AnyRequest) -> ASGIResponse:
        """The API's export, as a file for the browser."""
        return await self._download(request, "/customer/v2/export", read_query(request), f"{BASE}/data")

    async def download_statement(self, request: AnyRequest) -> ASGIResponse:
        access, product, statement = (
            segment(str(request.path_params[name])) for name in ("access", "product", "statement")
        )
        path = f"/customer/v2/bankzugaenge/{access}/{product}/kontoauszuege/{statement}"
        return await self._download(request, path, {}, f"{BASE}/statements")

    async def download_cancellation(self, request: AnyRequest) -> ASGIResponse:
        """The letter that cancels a contract. A field that is left empty says nothing."""
        contract = segment(str(request.path_params["contract"]))
        query = {name: value for name, value in read_query(request).items() if value}
        path = f"/customer/v2/ai/contracts/{contract}/cancellation"
        return await self._download(request, path, query, f"{BASE}/contracts/{contract}")

    async def download_debit_return(self, request: AnyRequest) -> ASGIResponse:
        """The letter that returns a direct debit."""
        path = f"/customer/v2/lastschriften/{segment(str(request.path_params['debit']))}/rueckgabe"
        return await self._download(request, path, read_query(request), f"{BASE}/contracts")

    async def download_credit_file(self, request: AnyRequest) -> ASGIResponse:
        """As PDF, for the customer or for an adviser."""
        file = segment(str(request.path_params["file"]))
        page = request.url.path.removesuffix("/pdf")
        path = "/adviser/v2" if page.startswith(f"{BASE}/credit-reviews/") else "/customer/v2/ai"
        return await self._download(request, f"{path}/credit-files/{file}", {}, page, "application/pdf")

    async def _download(
        self, request: AnyRequest, path: str, query: dict[str, str], page: str, accept: str | None = None
    ) -> ASGIResponse:
        """A file of the API; `page` is where somebody gets who has to sign in first."""
        session = await self._find_session(request, is_operator=False)
        if session is None:
            return see_other(f"{BASE}/sign-in?next={page}")

        def refuse(status: int) -> ASGIResponse:
            if status in (401, 403):
                return see_other(f"{BASE}/sign-in?next={page}&notice=expired")
            return self.draw_problem(request, "gone" if status == 404 else "bad_request", status)

        return Download(self._get_api(), request, session.token, self._settings.base_url, path, query, refuse, accept)

    # Parts

    def _keep(self, target: RedirectTo) -> list[str]:
        return [] if target.kept is None else [write_dialogue(target.kept, is_https=self._is_https)]

    def _connect(self, request: AnyRequest, token: str | None) -> AsyncKontor:
        """A client of the API in this process, that counts as the browser: failed logins are counted by address."""
        address = request.client
        transport = httpx.ASGITransport(
            app=self._get_api(),  # type: ignore[arg-type]
            raise_app_exceptions=False,
            client=("127.0.0.1", 0) if address is None else (address.host, address.port),
        )
        return AsyncKontor(self._settings.base_url, token, transport=ForwardingTransport(transport, request), retries=0)

    async def _find_session(self, request: AnyRequest, *, is_operator: bool) -> Session | None:
        """None where nobody has asked for a page for too long: then its token ends, too."""
        session = self._cookies.read(request, is_operator=is_operator)
        if session is None:
            return None
        if self._cookies.is_idle(session):
            await self.signing_in.revoke(request, session)
            return None
        self._cookies.note(request, session)
        return session

    def _ask_to_sign_in(self, request: AnyRequest, view: View) -> ASGIResponse:
        """With a notice for whoever was signed in: the browser forgets that session."""
        was_signed_in = self._cookies.read(request, is_operator=view.is_operator) is not None
        where = f"{BASE}/ops/sign-in" if view.is_operator else f"{BASE}/sign-in"
        here = request.url.path
        query = f"?next={quote(here, safe='')}" if here != BASE else ""
        if was_signed_in:
            query += f"{'&' if query else '?'}notice=expired"
            return see_other(where + query, [self._cookies.forget(is_operator=view.is_operator)])
        return see_other(where + query)

    def _make_token(self, session: Session) -> str:
        return make_token(Secret(session.token), FORGERY_STEP)

    def _refuse_forged(self, request: AnyRequest, session: Session, token: str) -> None:
        check_csrf(request, Secret(session.token), token, FORGERY_STEP, self._settings.console_address)


async def _read_form(request: AnyRequest, view: View) -> tuple[Form, bytes | None]:
    """The fields of a page's form, and the file that was sent with it."""
    if not view.largest_file or not is_upload(request):
        return await read_form(request, view.repeatable), None
    fields, files = await read_upload(request, view.largest_file)
    return fields, files.get("file")


def _can_be_opened(path: str) -> bool:
    """Whether it is a call behind a page: of the documented API, and nothing that leads out of it."""
    if not (path.isascii() and path.isprintable()) or "\\" in path:
        return False
    place = unquote(path.partition("?")[0])
    return ".." not in place.split("/") and any(f"{place}/".startswith(f"{prefix}/") for prefix in OPENED_PREFIXES)


def _ends_session(error: ApiError) -> bool:
    return error.status == 401 or error.is_token_invalid


def _redirect(target: RedirectTo, cookies: Sequence[str] = ()) -> ASGIResponse:
    url, mark, fragment = target.url.partition("#")
    if target.notice is not None:
        url += f"{'&' if '?' in url else '?'}notice={target.notice}"
    return see_other(url + mark + fragment, cookies)

"""The web form's routes. Each request finds the session anew, and shows or changes it where it stands now."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import structlog
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse

from kontor.config import Settings
from kontor.domain.clocks import BERLIN
from kontor.domain.disruptions import is_degraded
from kontor.domain.providers import Provider
from kontor.domain.redirects import FormStep, RedirectOutcome
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.secrets import Secret
from kontor.pages.assets import NO_STORE
from kontor.pages.browser import (
    AnyRequest,
    BadRequestError,
    Cookies,
    CsrfError,
    check_csrf,
    read_form,
    read_query,
    write_language,
)
from kontor.pages.formatting import format_date, format_time
from kontor.pages.texts import Texts
from kontor.services.bundle import Services
from kontor.services.redirects import FormView, PaymentFormView, SessionGoneError, StaleStepError
from kontor.webform.actions import act
from kontor.webform.authorization import AUTHORIZE, AuthorizationPages
from kontor.webform.login_inputs import EnteredNames
from kontor.webform.pages import Page, display_name, make_page, pages_of
from kontor.webform.payment_pages import write_payee_text
from kontor.webform.rendering import (
    BASE,
    NOBODY,
    draw,
    load_assets,
    picture,
    see_other,
)
from kontor.webform.search import search, show_banks
from kontor.webform.submissions import FormSubmission
from kontor.webform.texts import choose_texts, load_texts
from kontor.webform.theme import make_theme

log = structlog.get_logger(__name__)

STEP = f"{BASE}/step"
Handler = Callable[[AnyRequest], Awaitable[ASGIResponse]]


def make_routes(settings: Settings, get_services: Callable[[], Services]) -> list[HTTPRouteHandler]:
    form = Form(settings, get_services)
    routes: list[tuple[str, str, str, Handler]] = [
        ("GET", BASE, "open", form.open),
        ("GET", STEP, "show", form.show),
        ("POST", STEP, "act", form.act),
        ("GET", f"{BASE}/providers", "search", form.search),
        ("GET", f"{BASE}/progress", "progress", form.tell_progress),
        ("GET", f"{BASE}/return", "return", form.come_back),
        ("GET", f"{BASE}/logo", "logo", form.show_logo),
        ("GET", f"{BASE}/imprint", "imprint", form.show_imprint),
        ("GET", f"{BASE}/privacy", "privacy", form.show_privacy),
        ("GET", f"{BASE}/theme.css", "theme", form.show_theme),
        ("GET", f"{BASE}/embed.js", "embed", form.show_component),
        ("GET", f"{BASE}/assets/{{name:str}}", "asset", load_assets().serve),
    ]
    authorization = AuthorizationPages(settings, get_services)
    routes += [
        ("GET", AUTHORIZE, "authorize", authorization.show),
        ("POST", AUTHORIZE, "authorize act", authorization.act),
    ]
    return [_make_route(form, *route) for route in routes]


def _make_route(form: "Form", method: str, path: str, name: str, handler: Handler) -> HTTPRouteHandler:
    """Whatever goes wrong, a person sees a page."""

    async def handle(request: AnyRequest) -> ASGIResponse:
        scope: dict[str, Any] = request.scope  # type: ignore[assignment]
        scope["kontor.operation"] = f"webform {name}"
        texts = choose_texts(request)
        try:
            return await handler(request)
        except SessionGoneError:
            return form.draw_notice(texts, "expired", RedirectOutcome.SESSION_EXPIRED, 410)
        except BadRequestError:
            return form.draw_notice(texts, "error", RedirectOutcome.ERROR, 400)
        except CsrfError:
            return form.draw_notice(texts, "error", RedirectOutcome.ERROR, 403)
        except Exception:
            log.exception("webform.failed", operation=name)
            return form.draw_notice(texts, "defect", RedirectOutcome.ERROR, 500)

    return HTTPRouteHandler(path, http_method=method, name=f"webform {name}", status_code=200)(handle)  # type: ignore[arg-type]


class Form:
    def __init__(self, settings: Settings, get_services: Callable[[], Services]) -> None:
        self._settings = settings
        self._services = get_services
        self._is_https = settings.base_url.startswith("https://")
        self._cookies = Cookies("kontor-form", self._is_https)
        self._entered = EnteredNames(is_https=self._is_https)

    # Pages

    async def open(self, request: AnyRequest) -> ASGIResponse:
        """The tenant sent the user here. The handle is exchanged for a cookie, and leaves the address bar."""
        if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
            return ASGIResponse(status_code=204, headers=NO_STORE, media_type="text/plain")
        query = read_query(request)
        display = query.get("display", "")
        try:
            cookie = await self._services().redirects.open_session(
                Secret(query.get("session", "")),
                query.get("callbackUrl"),
                self._cookies.read(request),
                is_framed=display in ("popup", "frame"),
            )
        except SessionGoneError:
            return self.draw_notice(choose_texts(request), "used", RedirectOutcome.ERROR, 410)
        language = (await self._services().redirects.find_session(cookie)).options.language
        start = f"{STEP}?lang={language}" if language in load_texts() else STEP
        return see_other(start, self._cookies.write(cookie, is_framed=display == "frame"))

    async def show(self, request: AnyRequest) -> ASGIResponse:
        query = read_query(request)
        if query.get("lang") in load_texts():
            return see_other(STEP, write_language(query["lang"], is_https=self._is_https))
        view, cookie = await self._find(request)
        texts = pages_of(view).override_texts(choose_texts(request, view.session))
        if view.session.step is FormStep.END:
            return self._end(view, texts)
        return await self._draw(
            view, self._recall(request, view, make_page(view, texts)), cookie, texts, query.get("q", "")
        )

    async def act(self, request: AnyRequest) -> ASGIResponse:
        """A page's form. It counts only when its page is still the current one."""
        form = await read_form(request, repeatable=("account",))
        cookie = self._cookies.read(request)
        if cookie is None:
            raise SessionGoneError
        step = form.get("step", [""])[0]
        check_csrf(request, cookie, form.get("token", [""])[0], step, self._settings.base_url)
        view, _ = await self._find(request)
        if view.session.step is FormStep.END:
            return see_other(STEP)
        texts = pages_of(view).override_texts(choose_texts(request, view.session))
        page = make_page(view, texts)
        if page.key != step:
            return see_other(STEP)
        try:
            again = await act(page, FormSubmission(self._services().redirects, view, texts, form))
        except StaleStepError:
            again = None
        if again is None:
            return see_other(STEP, self._entered.write(view, form) if page.name == "credentials" else None)
        return await self._draw(view, again, cookie, texts, form.get("q", [""])[0], status=422)

    async def come_back(self, request: AnyRequest) -> ASGIResponse:
        """The bank sends the user here. What the bank's page put into the address goes to the connector as it is."""
        try:
            session = await self._services().redirects.find_session(self._cookies.read(request))
        except SessionGoneError:
            return draw(Page("returned", "returned"), choose_texts(request), reentry=None)
        await self._services().redirects.answer(
            session, AnswerKind.RETURNED, request.scope["query_string"].decode("latin-1")
        )
        return see_other(STEP)

    async def show_imprint(self, request: AnyRequest) -> ASGIResponse:
        """The demo's own; tenants have theirs elsewhere."""
        if not self._settings.demo:
            return self.draw_notice(choose_texts(request), "error", RedirectOutcome.ERROR, 404)
        return await self._draw_info(request, "imprint")

    async def show_privacy(self, request: AnyRequest) -> ASGIResponse:
        return await self._draw_info(request, "privacy")

    async def _draw_info(self, request: AnyRequest, kind: str) -> ASGIResponse:
        """A text in a window of its own, so that the session goes on where it is."""
        texts, branding = choose_texts(request), NOBODY
        with suppress(SessionGoneError):
            session = await self._services().redirects.find_session(self._cookies.read(request))
            texts, branding = choose_texts(request, session), await self._services().redirects.find_branding(session)
        paragraphs = texts(f"info.{kind}_text", tenant=display_name(branding)).split("\n\n")
        page = Page("info", "info", {"kind": kind, "paragraphs": paragraphs})
        return draw(page, texts, branding, is_demo=self._settings.demo)

    # For the pages' scripts

    async def search(self, request: AnyRequest) -> ASGIResponse:
        await self._services().redirects.find_session(self._cookies.read(request))
        query = read_query(request).get("q", "")
        return _json(await self._search(query, choose_texts(request)))

    async def tell_progress(self, request: AnyRequest) -> ASGIResponse:
        """Which page is the current one. For a confirmation in an app, the bank is asked first."""
        try:
            view, _ = await self._find(request)
            authorisation = pages_of(view).find_authorisation()
            if authorisation is not None and authorisation.position.state is ScaState.CONFIRMATION:
                await self._services().redirects.answer(view.session, AnswerKind.CONFIRMED, "")
                view, _ = await self._find(request)
        except SessionGoneError:
            return _json({"step": None})
        return _json({"step": make_page(view, choose_texts(request)).key})

    # Assets

    async def show_logo(self, request: AnyRequest) -> ASGIResponse:
        redirects = self._services().redirects
        logo = await redirects.find_logo(await redirects.find_session(self._cookies.read(request)))
        if logo is None:
            return ASGIResponse(status_code=404, headers=NO_STORE, media_type="text/plain")
        return picture(logo, "image/png" if logo.startswith(b"\x89PNG") else "image/svg+xml")

    async def show_theme(self, request: AnyRequest) -> ASGIResponse:
        redirects = self._services().redirects
        branding = await redirects.find_branding(await redirects.find_session(self._cookies.read(request)))
        headers = {"Cache-Control": "private, max-age=900"}
        return ASGIResponse(body=make_theme(branding).encode(), media_type="text/css", headers=headers)

    async def show_component(self, request: AnyRequest) -> ASGIResponse:
        headers = {"Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}
        return ASGIResponse(body=load_assets().read("embed.js"), media_type="text/javascript", headers=headers)

    # Parts

    async def _find(self, request: AnyRequest) -> tuple[FormView, Secret]:
        cookie = self._cookies.read(request)
        redirects = self._services().redirects
        session = await redirects.find_session(cookie)
        assert cookie is not None
        scope: dict[str, Any] = request.scope  # type: ignore[assignment]
        scope["kontor.tenant"] = session.principal.tenant_name
        try:
            return await redirects.view(session), cookie
        except StaleStepError:  # it moved on in another tab while it was being looked at
            return await redirects.view(await redirects.find_session(cookie)), cookie

    async def _search(self, query: str, texts: Texts) -> dict[str, Any]:
        return await search(self._services().providers, query, texts, is_demo=self._settings.demo)

    def _recall(self, request: AnyRequest, view: FormView, page: Page) -> Page:
        """After a refused login: what was entered in this browser, without secrets."""
        if page.name != "credentials":
            return page
        return replace(page, facts=page.facts | {"values": self._entered.read(request, view)})

    async def _find_health(self, provider: Provider, texts: Texts) -> str | None:
        """In words, where the bank is not doing well."""
        found = await self._services().providers.read_statistics(provider.id)
        if found.down_since is not None:
            local = found.down_since.astimezone(BERLIN)
            day, time = format_date(local.date(), texts.language), format_time(local, texts.language)
            return texts("credentials.down", day=day, time=time)
        rate = Decimal(found.successes) / found.fetches if found.fetches else Decimal(1)
        return texts("credentials.disturbed") if is_degraded(found.fetches, rate) else None

    async def _draw(
        self, view: FormView, page: Page, cookie: Secret, texts: Texts, query: str, status: int = 200
    ) -> ASGIResponse:
        facts: dict[str, Any] = {"error": None} | page.facts
        if page.name == "provider":
            facts |= {
                "query": query,
                "found": await self._search(query, texts),
                "has_sources": isinstance(view, PaymentFormView) and bool(view.sources),
                "own": await show_banks(
                    self._services().providers,
                    await self._services().redirects.list_own_banks(view.session),
                    texts,
                ),
            }
        if page.name == "payees" and isinstance(view, PaymentFormView):
            shown = write_payee_text(facts, texts)
            payment = view.payment.payment
            await self._services().redirects.payments.note_shown(view.session, payment, shown, texts.language)
        if page.name == "credentials" and view.provider is not None:
            facts["health"] = await self._find_health(view.provider, texts)
        page = Page(page.name, pages_of(view).make_key(page.name), facts)
        return draw(
            page, texts, view.branding, view.session, cookie, status, self._settings.demo, provider=view.provider
        )

    def _end(self, view: FormView, texts: Texts) -> ASGIResponse:
        """Back to the tenant. Without a safe place to go, and in a popup or frame, the form ends on its own page.

        The page leads on by itself. A redirect would be the end of a form's way, and browsers hold every further hop,
        also those at the tenant, against `form-action`.
        """
        session = view.session
        assert session.outcome is not None
        target = self._services().redirects.target(session)
        facts = {"outcome": session.outcome, "target": target, "reentry": session.outcome} | pages_of(
            view
        ).describe_end(texts)
        return draw(Page("end", "end", facts), texts, view.branding, session, is_demo=self._settings.demo)

    def draw_notice(self, texts: Texts, kind: str, reentry: RedirectOutcome, status: int) -> ASGIResponse:
        """A page for who has no session (any more)."""
        page = Page("notice", "notice")
        return draw(page, texts, status=status, is_demo=self._settings.demo, kind=kind, reentry=reentry)


def _json(value: Any) -> ASGIResponse:
    return ASGIResponse(body=msgspec.json.encode(value), media_type="application/json", headers=NO_STORE)

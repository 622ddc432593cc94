"""Drawing the console's pages."""

import gzip
import io
import secrets
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from litestar.response.base import ASGIResponse

from kontor.console.api_texts import tell
from kontor.console.entry_filters import link_entries
from kontor.console.visits import BASE, View
from kontor.domain.languages import FALLBACK_LANGUAGE
from kontor.pages import texts as page_texts
from kontor.pages.assets import MIN_COMPRESSED, NO_STORE, Assets
from kontor.pages.browser import AnyRequest
from kontor.pages.formatting import BERLIN, conventions_of, format_amount, format_iban, format_number
from kontor.pages.texts import Texts

PACKAGE = "kontor.console"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = NO_STORE | {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Vary": "Accept-Language, Cookie",
}
MAX_NAME_LENGTH = 100  # in the header of a compressed page
URL_SIGNS = "%/?#[]@!$&'()*+,;=:"
MONTHS = {
    "de": ("Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."),
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "fr": ("janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."),
    "pl": ("sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"),
    "tr": ("Oca", "Şub", "Mar", "Nis", "May", "Haz", "Tem", "Ağu", "Eyl", "Eki", "Kas", "Ara"),
    "uk": ("січ.", "лют.", "бер.", "квіт.", "трав.", "черв.", "лип.", "серп.", "вер.", "жовт.", "лист.", "груд."),
}


def load_texts() -> dict[str, Texts]:
    return page_texts.load_texts(PACKAGE)


def choose_texts(request: AnyRequest) -> Texts:
    return page_texts.choose_texts(request, PACKAGE)


@cache
def load_assets() -> Assets:
    return Assets(PACKAGE, f"{BASE}/assets")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name, function in FILTERS.items():
        environment.filters[name] = function
    environment.globals["entries_url"] = link_entries
    return environment


def draw(template: str, texts: Texts, facts: dict[str, Any], status: int = 200) -> ASGIResponse:
    shared = {"t": texts, "languages": load_texts(), "base": BASE, "asset": load_assets().url}
    body = _environment().get_template(f"{template}.html").render(shared | facts)
    return ASGIResponse(body=body.encode(), status_code=status, media_type="text/html", headers=HEADERS)


def compress_page(request: AnyRequest, response: ASGIResponse) -> ASGIResponse:
    """Pages hold a token and repeat words of their address: a name of random length hides how well both compress."""
    is_page = response.headers.get("content-type", "").startswith("text/html")
    if not is_page or len(response.body) < MIN_COMPRESSED or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    packed = io.BytesIO()
    name = "0" * secrets.randbelow(MAX_NAME_LENGTH)
    with gzip.GzipFile(name, "wb", compresslevel=6, fileobj=packed, mtime=0) as file:
        file.write(response.body)
    response.body = packed.getvalue()
    response.content_length = len(response.body)
    response.headers["Content-Length"] = str(response.content_length)
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = f"{response.headers.get('vary', '')}, Accept-Encoding".removeprefix(", ")
    return response


def allow_form_host(response: ASGIResponse, host: str | None) -> ASGIResponse:
    """Forms of the console may lead on to the web form at another host: browsers hold redirects against the policy."""
    policy = response.headers.get("content-security-policy")
    if host is not None and policy is not None:
        response.headers["Content-Security-Policy"] = policy.replace("form-action 'self'", f"form-action 'self' {host}")
    return response


def see_other(url: str, cookies: Sequence[str] = ()) -> ASGIResponse:
    location = quote(url, safe=URL_SIGNS)  # a header has no other signs; what is written as %xx already stays
    response = ASGIResponse(status_code=303, headers=NO_STORE | {"Location": location}, media_type="text/plain")
    for cookie in cookies:
        response.headers.add("Set-Cookie", cookie)
    return response


def group_views(views: Sequence[View], shown: View) -> dict[str, list[View]]:
    """The navigation of the area that a view belongs to: views by group, in their order."""
    groups: dict[str, list[View]] = {}
    for view in views:
        is_near = (view.is_operator, view.is_adviser) == (shown.is_operator, shown.is_adviser)
        if view.group is not None and is_near:
            groups.setdefault(view.group, []).append(view)
    return groups


# Filters: numbers and times as people read them, in the page's language


def _language(context: Context) -> str:
    texts: Texts = context["t"]
    return texts.language


@pass_context
def money(context: Context, value: Any, currency: str | None = "EUR") -> str:
    return "–" if value is None else format_amount(Decimal(str(value)), currency, _language(context))


@pass_context
def whole_money(context: Context, value: Any, currency: str | None = "EUR") -> str:
    """Without cents, where they would only distract."""
    if value is None:
        return "–"
    language = _language(context)
    text = format_amount(Decimal(str(value)).quantize(Decimal(1)), currency, language)
    return text.replace(f"{conventions_of(language).decimal}00", "")


@pass_context
def day(context: Context, value: Any) -> str:
    """A date or a timestamp of the API as a day; `15.11.2026` or `15 Nov 2026`."""
    found = read_day(value)
    return "–" if found is None else write_day(found, _language(context))


@pass_context
def short_day(context: Context, value: Any) -> str:
    """Without the year, where space is short; `15.11.`, `15 Nov`, `15/11`."""
    found = read_day(value)
    if found is None:
        return "–"
    return found.strftime(conventions_of(_language(context)).yearless_day)


@pass_context
def moment(context: Context, value: Any) -> str:
    """A timestamp of the API as day and time in Berlin."""
    if not isinstance(value, str | datetime):
        return "–"
    local = _read_moment(value) if isinstance(value, str) else value.astimezone(BERLIN)
    return f"{day(context, local.date())}, {local:%H:%M}"


@pass_context
def month(context: Context, value: Any) -> str:
    found = read_day(value)
    return "–" if found is None else name_month(found, _language(context))


@pass_context
def number(context: Context, value: Any, digits: int = 0) -> str:
    if value is None:
        return "–"
    return format_number(Decimal(str(value)), digits, _language(context))


@pass_context
def percent(context: Context, value: Any, digits: int = 0) -> str:
    """0.973 as `97 %`."""
    if value is None:
        return "–"
    text = number(context, Decimal(str(value)) * 100, digits)
    return conventions_of(_language(context)).percent.format(number=text)


def write_day(value: date, language: str) -> str:
    return value.strftime(conventions_of(language).day)


def name_month(value: date, language: str) -> str:
    return f"{MONTHS[language if language in MONTHS else FALLBACK_LANGUAGE][value.month - 1]} {value.year}"


def read_day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.astimezone(BERLIN).date()
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        return None
    if len(value) == 7:
        value += "-01"
    if len(value) == 10:
        return date.fromisoformat(value)
    return _read_moment(value).date()


def _read_moment(text: str) -> datetime:
    """A timestamp of the API. Without an offset it is wall time in Berlin."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=BERLIN) if found.tzinfo is None else found.astimezone(BERLIN)


@pass_context
def size(context: Context, value: int) -> str:
    if value < 1024:
        return f"{value} B"
    is_large = value >= 1024**2
    return f"{number(context, value / (1024**2 if is_large else 1024), 1)} {'MB' if is_large else 'kB'}"


@pass_context
def told(context: Context, text: str) -> str:
    """A text of the API in the page's language."""
    return tell(text, _language(context))


def main_category(system_name: str | None) -> str:
    """The class for its colour: `LIVING_GROCERIES` has that of `living`."""
    return (system_name or "other").partition("_")[0].lower()


FILTERS: dict[str, Any] = {
    "money": money, "whole_money": whole_money, "day": day, "short_day": short_day, "moment": moment, "month": month,
    "number": number, "percent": percent, "size": size, "iban": format_iban, "main_category": main_category,
    "told": told,
}  # fmt: skip

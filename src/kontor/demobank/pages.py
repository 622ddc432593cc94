"""The demo bank's own pages, in German or English as the browser asks. They look like a bank's, not like ours."""

from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from kontor.domain.languages import DEFAULT_LANGUAGE, choose_language
from kontor.pages.formatting import format_date
from kontor.pages.texts import Texts, load_texts

PACKAGE = "kontor.demobank"
STYLE = "/demobank/style.css"
HTML = "text/html; charset=utf-8"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Vary": "Accept-Language",
}
MAX_FORM = 4096
ORDER_PARTS = ("name", "iban", "amount", "purpose")
Orders = Sequence[Sequence[str]]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(PACKAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def read_style() -> bytes:
    return resources.files(PACKAGE).joinpath("style.css").read_bytes()


def draw_question(accepted: str, action: str, orders: Orders) -> bytes:
    """Of a customer who is logged in: access to accounts, or the orders to pay. `accepted` is `Accept-Language`."""
    return _draw("pay" if orders else "confirm", accepted, action=action, orders=orders)


def draw_login(
    accepted: str,
    action: str,
    login: str,
    *,
    kind: str,
    orders: Orders = (),
    until: date | None = None,
    problem: str | None = None,
) -> bytes:
    """Logging in and deciding in one; `kind` and `problem` name texts."""
    return _draw(
        "authorise", accepted, action=action, login=login, kind=kind, orders=orders, until=until, problem=problem
    )


def draw_gone(accepted: str) -> bytes:
    """For what was decided before, or has ended."""
    return _draw("gone", accepted)


def name_problem(code: str) -> str:
    """The text about a refused login."""
    return {"PSU_CREDENTIALS_INVALID": "wrong", "SERVICE_BLOCKED": "blocked"}.get(code, "failed")


def _draw(name: str, accepted: str, *, until: date | None = None, orders: Orders = (), **facts: object) -> bytes:
    known = load_texts(PACKAGE)
    texts = known[choose_language(accepted, known)]
    shown = {
        "t": texts,
        "style": STYLE,
        "until": "" if until is None else format_date(until, texts.language),
        "orders": [_describe(order, texts) for order in orders],
    }
    return _environment().get_template(f"{name}.html").render(facts | shown).encode()


def _describe(order: Sequence[str], texts: Texts) -> list[tuple[str, str]]:
    """Names and values; orders are stored as a German page shows them."""
    parts = dict(zip(ORDER_PARTS, order, strict=True))
    if texts.language != DEFAULT_LANGUAGE:
        parts["amount"] = parts["amount"].replace(",", ".")
    return [(texts(f"order.{name}"), value) for name, value in parts.items() if value]

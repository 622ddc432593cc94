"""From where a session stands to the page that shows it. No page decides anything: it is drawn from a view."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from kontor.domain.login_formats import compile_format
from kontor.domain.providers import LoginField, Provider
from kontor.domain.redirects import Branding
from kontor.domain.sca_machine import MAX_WRONG_TANS
from kontor.pages.formatting import embed_picture, format_time, is_numeric
from kontor.pages.texts import Texts
from kontor.services.redirects import MAX_WRONG_LOGINS, AccessFormView, FormView, PaymentFormView
from kontor.webform.access_pages import AccessPages
from kontor.webform.authorisations import Authorisation
from kontor.webform.flicker import make_flicker_code, make_frames
from kontor.webform.flow_pages import FlowPages
from kontor.webform.payment_pages import PaymentPages


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is the template; `key` names this very moment, so that a page that is older can be told apart."""

    name: str
    key: str
    facts: dict[str, Any] = field(default_factory=dict)


def pages_of(view: FormView) -> FlowPages:
    match view:
        case AccessFormView():
            return AccessPages(view)
        case PaymentFormView():
            return PaymentPages(view)
    return FlowPages(view)


def make_page(view: FormView, texts: Texts, **extra: Any) -> Page:
    pages = pages_of(view)
    name = pages.find_name()
    facts: dict[str, Any] = {}
    if name in _FACTS:
        facts |= _FACTS[name](view, texts)
    if name in pages.facts:
        facts |= pages.facts[name](texts)
    facts |= pages.describe(name, texts)
    return Page(name, pages.make_key(name), facts | extra)


def display_name(branding: Branding) -> str:
    return branding.display_name or branding.tenant_name


# What the pages show in every flow


def _legal_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    tenant = display_name(view.branding)
    text = view.branding.legal_text or texts("legal.text", tenant=tenant)
    paragraphs = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
    return {"paragraphs": paragraphs, "version": view.branding.legal_version}


def _credentials_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    assert view.provider is not None
    return {
        "fields": [_field_facts(login_field) for login_field in view.provider.login_fields],
        "values": {},
        "errors": {},
        "attempts_left": MAX_WRONG_LOGINS - view.session.wrong_logins,
    }


def _field_facts(field: LoginField) -> dict[str, Any]:
    pattern = compile_format(field.format).html_pattern()
    return {
        "key": field.key,
        "label": field.label,
        "hint": field.hint,
        "is_secret": field.is_secret,
        "pattern": pattern,
        "is_numeric": is_numeric(pattern),
        "autocomplete": "current-password" if field.is_secret else "username",
    }


def describe_problems(provider: Provider, values: dict[str, str], wrong: list[str], texts: Texts) -> dict[str, str]:
    """What is wrong with each field, in words that say what is expected instead."""
    problems = {}
    for login_field in provider.login_fields:
        if login_field.label not in wrong:
            continue
        if not values.get(login_field.key):
            problems[login_field.key] = texts("credentials.missing", label=login_field.label)
            continue
        expected = compile_format(login_field.format).describe_de() if texts.language == "de" else login_field.hint
        key = "credentials.malformed" if expected else "credentials.malformed_plain"
        problems[login_field.key] = texts(key, label=login_field.label, expected=expected)
    return problems


def _authorisation(view: FormView) -> Authorisation:
    authorisation = pages_of(view).find_authorisation()
    assert authorisation is not None
    return authorisation


def _method_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    methods = _authorisation(view).methods
    return {"choices": [{"value": method.code, "name": method.name, "hint": method.hint} for method in methods]}


def _medium_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    media = _authorisation(view).media
    return {
        "choices": [
            {"value": medium.name, "name": medium.name, "hint": texts(f"medium.class.{medium.medium_class.lower()}")}
            for medium in media
        ]
    }


def _tan_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    authorisation = _authorisation(view)
    challenge = authorisation.challenge
    seconds = max(0, round((authorisation.expires_at - datetime.now(UTC)).total_seconds()))
    code = make_flicker_code(challenge.hhd_uc) if challenge and challenge.hhd_uc else None
    return {
        "challenge": challenge,
        "medium": authorisation.medium,
        "seconds": seconds,
        "until": format_time(authorisation.expires_at, texts.language),
        "picture": embed_picture(challenge.photo) if challenge else None,
        "is_qr": challenge is not None and "qr" in challenge.method_name.lower(),
        "frames": " ".join(make_frames(code)) if code else None,
        "is_unreadable": bool(challenge and challenge.hhd_uc and code is None),
        "start_code": challenge.hhd if challenge else None,
        "is_wrong": authorisation.is_last_tan_wrong,
        "attempts_left": MAX_WRONG_TANS - authorisation.position.wrong_tans,
    }


def _confirmation_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    return {"challenge": _authorisation(view).challenge, "medium": _authorisation(view).medium}


def _redirect_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    """A link that is no web address is not shown: a bank's connector may be wrong, a script may not run."""
    url = _authorisation(view).redirect_url or ""
    is_usable = urlsplit(url).scheme in ("https", "http")
    return {"url": url if is_usable else None, "host": urlsplit(url).hostname}


_FACTS = {
    "legal": _legal_facts,
    "credentials": _credentials_facts,
    "method": _method_facts,
    "medium": _medium_facts,
    "tan": _tan_facts,
    "confirmation": _confirmation_facts,
    "redirect": _redirect_facts,
}

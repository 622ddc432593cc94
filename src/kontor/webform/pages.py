"""From where a session stands to the page that shows it. No page decides anything: it is drawn from a view."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from kontor.domain.login_formats import compile_format
from kontor.domain.providers import LoginField, Provider
from kontor.domain.redirects import Branding, Failure, FormStep, UseCase
from kontor.domain.sca_machine import MAX_WRONG_TANS, ScaState
from kontor.pages.formatting import embed_picture, format_time, is_numeric
from kontor.pages.texts import Texts
from kontor.services.redirects import MAX_WRONG_LOGINS, FormView, is_beginning
from kontor.services.sca import DIALOGUE_LIFETIME
from kontor.webform.accounts import show_account
from kontor.webform.authorisations import Authorisation, find_authorisation
from kontor.webform.flicker import make_flicker_code, make_frames
from kontor.webform.payment_pages import (
    connecting_facts,
    credentials_facts,
    describe_payment,
    describe_step,
    failed_facts,
    find_payment_name,
    make_payment_key,
    payees_facts,
    payment_facts,
    source_facts,
)

RETRY_AFTER = timedelta(seconds=45)  # a beginning that takes longer may have died with its process
SCA_PAGES = {
    ScaState.METHOD: "method",
    ScaState.MEDIUM: "medium",
    ScaState.TAN: "tan",
    ScaState.CONFIRMATION: "confirmation",
    ScaState.REDIRECT: "redirect",
}
STEP_NUMBERS = {"provider": 1, "credentials": 2, "connecting": 2, "accounts": 4}
LATE_FAILURES = (Failure.WRONG_TAN, Failure.TOO_LATE, Failure.REFUSED, Failure.NO_METHOD)
STEP_COUNT = 4
STEP_NAMES = ("one", "two", "three", "four")


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is the template; `key` names this very moment, so that a page that is older can be told apart."""

    name: str
    key: str
    facts: dict[str, Any] = field(default_factory=dict)


def make_page(view: FormView, texts: Texts, **extra: Any) -> Page:
    name = find_name(view)
    make_facts = _FACTS.get(name)
    facts = {} if make_facts is None else make_facts(view, texts)
    number = _step_number(name, view) if view.session.use_case is UseCase.CREATE_ACCOUNT else None
    if number is not None:
        facts |= {
            "step_number": number,
            "step_count": STEP_COUNT,
            "step_name": texts(f"steps.{STEP_NAMES[number - 1]}"),
        }
    if view.payment is not None:
        facts |= describe_step(name, view, texts) | {"payment": describe_payment(name, view, texts)}
    return Page(name, make_key(name, view), facts | extra)


def find_name(view: FormView) -> str:
    if view.payment is not None:
        return find_payment_name(view, SCA_PAGES)
    step = view.session.step
    if step is not FormStep.SCA:
        return step.lower()
    if view.consent is None or is_beginning(view.consent):
        return "connecting"
    return SCA_PAGES.get(view.consent.dialogue.position.state, "connecting")


def make_key(name: str, view: FormView) -> str:
    session = view.session
    if view.payment is not None:
        return make_payment_key(name, view)
    if name == "credentials":
        provider = "" if session.provider_id is None else session.provider_id.hex
        return f"{name}-{provider}-{session.wrong_logins}"
    if session.step in (FormStep.SCA, FormStep.FAILED) and session.dialogue_id is not None:
        tries = view.consent.dialogue.position.wrong_tans if view.consent else 0
        return f"{name}-{session.dialogue_id.hex[:12]}-{tries}"
    return name


def _step_number(name: str, view: FormView) -> int | None:
    if name in ("legal", "end"):
        return None
    if name == "failed":
        return 3 if view.session.notice in LATE_FAILURES else 2
    return STEP_NUMBERS.get(name, 3)


def display_name(branding: Branding) -> str:
    return branding.display_name or branding.tenant_name


# What the pages show


def _legal_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    tenant = display_name(view.branding)
    text = view.branding.legal_text or texts("legal.text", tenant=tenant)
    paragraphs = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
    return {"paragraphs": paragraphs, "version": view.branding.legal_version}


def _credentials_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    assert view.provider is not None
    facts = {
        "fields": [_field_facts(one) for one in view.provider.login_fields],
        "values": {},
        "errors": {},
        "attempts_left": MAX_WRONG_LOGINS - view.session.wrong_logins,
        "can_choose_again": view.session.use_case is UseCase.CREATE_ACCOUNT,
        "asks_account": False,
    }
    return facts if view.payment is None else facts | credentials_facts(view)


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
    for one in provider.login_fields:
        if one.label not in wrong:
            continue
        if not values.get(one.key):
            problems[one.key] = texts("credentials.missing", label=one.label)
            continue
        expected = compile_format(one.format).describe_de() if texts.language == "de" else one.hint
        key = "credentials.malformed" if expected else "credentials.malformed_plain"
        problems[one.key] = texts(key, label=one.label, expected=expected)
    return problems


def _connecting_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    if view.payment is not None:
        return connecting_facts(view)
    if view.consent is None:
        return {"can_retry": False}
    age = datetime.now(UTC) - (view.consent.dialogue.expires_at - DIALOGUE_LIFETIME)
    return {"can_retry": age > RETRY_AFTER}


def _authorisation(view: FormView) -> Authorisation:
    found = find_authorisation(view)
    assert found is not None
    return found


def _method_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    methods = _authorisation(view).methods
    return {"choices": [{"value": one.code, "name": one.name, "hint": one.hint} for one in methods]}


def _medium_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    media = _authorisation(view).media
    return {
        "choices": [
            {"value": one.name, "name": one.name, "hint": texts(f"medium.class.{one.medium_class.lower()}")}
            for one in media
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


def _accounts_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    return {"accounts": [show_account(one, texts) for one in view.offered], "error": None}


def _failed_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    if view.payment is not None:
        return failed_facts(view, texts)
    failure = view.session.notice
    assert failure is not None
    return {
        "text_key": f"failed.{failure.lower()}.text",
        "detail": None,
        "failure": failure.lower(),
        "can_retry": failure.can_retry,
        "can_choose_again": view.session.use_case is UseCase.CREATE_ACCOUNT,
    }


_FACTS = {
    "legal": _legal_facts,
    "credentials": _credentials_facts,
    "connecting": _connecting_facts,
    "method": _method_facts,
    "medium": _medium_facts,
    "tan": _tan_facts,
    "confirmation": _confirmation_facts,
    "redirect": _redirect_facts,
    "accounts": _accounts_facts,
    "failed": _failed_facts,
    "payment": payment_facts,
    "source": source_facts,
    "payees": payees_facts,
}

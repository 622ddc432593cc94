"""The pages of a payment. As all pages they are drawn from a view, and decide nothing."""

import hashlib
from datetime import UTC, date, datetime, timedelta
from typing import Any

from kontor.domain.payments import Order, PayeeMatch, Payment, PaymentKind, PaymentState
from kontor.domain.redirects import FormStep
from kontor.domain.sca_machine import ScaState
from kontor.pages.formatting import format_amount, format_date, format_iban
from kontor.pages.texts import Texts
from kontor.services.payments import PaymentView
from kontor.services.redirects import FormView
from kontor.webform.accounts import show_account

RETRY_AFTER = timedelta(seconds=45)  # a check that takes longer may have died with its process
SHOWN_ORDERS = 5  # of a bulk; the others are folded up
_STEP_NAMES = {"payment": "review", "source": "source", "provider": "source", "credentials": "source"}
_UNDISTURBED = ("payment", "payees", "unknown", "legal", "end")


def _paying(view: FormView) -> PaymentView:
    assert view.payment is not None
    return view.payment


def find_payment_name(view: FormView, sca_pages: dict[ScaState, str]) -> str:
    step = view.session.step
    if step is FormStep.CHECKING:
        return "connecting"
    if step is not FormStep.SCA:
        return step.lower()
    payment = _paying(view).payment
    state = payment.dialogue.position.state
    if payment.state is PaymentState.DRAFT or (payment.fence is not None and _is_beginning(payment)):
        return "connecting"
    if payment.fence is not None and not (payment.state is PaymentState.OPEN and state is ScaState.CONFIRMATION):
        return "working"
    return "payees" if payment.dialogue.is_payee_open else sca_pages.get(state, "working")


def _is_beginning(payment: Payment) -> bool:
    return payment.dialogue.position.state is ScaState.METHOD and not payment.dialogue.methods


def make_payment_key(name: str, view: FormView) -> str:
    """Another order, account, word of the bank or attempt is another page: what is sent from it does not count."""
    payment, session = _paying(view).payment, view.session
    if name in ("connecting", "working", "unknown", "confirmation"):
        return f"{name}-{payment.id.hex[:8]}-{'' if session.dialogue_id is None else session.dialogue_id.hex[:8]}"
    facts = (
        payment.given,
        payment.is_instant,
        payment.execution_date,
        payment.product_key,
        payment.provider_id,
        payment.dialogue.payees,
        payment.dialogue.position.wrong_tans,
        session.wrong_logins,
        session.provider_id,
        session.dialogue_id,
    )
    return f"{name}-{payment.id.hex[:8]}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"


def describe_step(name: str, view: FormView, texts: Texts) -> dict[str, Any]:
    """Which of how many steps: to look at it, to choose the account, to authorise."""
    if name in ("legal", "end", "failed", "unknown"):
        return {}
    names = ["review", "authorise"] if view.session.is_source_fixed else ["review", "source", "authorise"]
    here = _STEP_NAMES.get(name, "authorise")
    here = here if here in names else "authorise"
    return {
        "step_number": names.index(here) + 1,
        "step_count": len(names),
        "step_name": texts(f"payment_steps.{here}"),
    }


def describe_payment(name: str, view: FormView, texts: Texts) -> dict[str, Any] | None:
    """What is paid, to whom, when and from where; on most pages as a short reminder only."""
    if view.payment is None:
        return None
    payment, language = view.payment.payment, texts.language
    orders = [_show_order(one, texts) for one in payment.given]
    total = sum((one.amount for one in payment.orders[1:]), payment.orders[0].amount)
    return {
        "orders": orders,
        "shown": orders[:SHOWN_ORDERS],
        "folded": orders[SHOWN_ORDERS:],
        "is_bulk": payment.kind is PaymentKind.BULK,
        "total": format_amount(total, payment.orders[0].currency, language),
        "when": _tell_when(payment.execution_date, texts, is_instant=payment.is_instant),
        "is_instant": payment.is_instant,
        "account": _find_account(view, texts) if name != "source" else None,
        "is_matched": view.session.is_payee_matched and view.session.step is FormStep.SCA,
        "is_reminder": name not in _UNDISTURBED,
    }


def _show_order(one: Order, texts: Texts) -> dict[str, Any]:
    return {
        "recipient": one.recipient,
        "iban": format_iban("".join(one.iban.split()).upper()),
        "amount": format_amount(one.amount, one.currency, texts.language),
        "purpose": one.purpose,
        "reference": one.end_to_end_id,
        "beneficiary": one.ultimate_creditor,
    }


def _tell_when(day: date | None, texts: Texts, *, is_instant: bool) -> str:
    if day is not None:
        return format_date(day, texts.language)
    return texts("payment.now_instant" if is_instant else "payment.now")


def _find_account(view: FormView, texts: Texts) -> dict[str, Any] | None:
    """The account to pay from, once it is chosen."""
    payment = _paying(view).payment
    if payment.lease_key is None:
        return None
    bank = None if view.provider is None else view.provider.name
    for one in view.access.products if view.access else ():
        if one.id == payment.product_id:
            return show_account(one, texts) | {"bank": bank}
    key = payment.product or ""
    return {"name": format_iban(key) if len(key) > 14 and key.isalnum() else key, "number": None, "bank": bank}


# What the pages show


def payment_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    payment = _paying(view).payment
    is_editable = payment.is_editable and payment.kind is not PaymentKind.BULK
    return {
        "is_editable": is_editable,
        "is_source_fixed": view.session.is_source_fixed,
        "values": list_values(payment, texts.language) if is_editable else {},
        "currency": payment.orders[0].currency,
        "errors": {},
    }


def list_values(payment: Payment, language: str) -> dict[str, str]:
    """The order as it stands in the fields of the page."""
    order = payment.given[0]
    amount = f"{order.amount:.2f}"
    return {
        "recipient": order.recipient,
        "iban": format_iban("".join(order.iban.split()).upper()),
        "amount": amount.replace(".", ",") if language == "de" else amount,
        "purpose": order.purpose,
        "date": "" if payment.execution_date is None else payment.execution_date.isoformat(),
        "instant": "yes" if payment.is_instant else "",
    }


def source_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    groups = [
        {
            "bank": view.banks.get(one.access.provider_id),
            "accounts": [show_account(product, texts) for product in one.products],
        }
        for one in view.sources
    ]
    return {"groups": groups}


def credentials_facts(view: FormView) -> dict[str, Any]:
    """Beyond the bank's own fields: the account, unless the tenant has chosen it."""
    payment = _paying(view).payment
    iban = next(
        (one.product.iban for one in (view.access.products if view.access else ()) if one.id == payment.product_id),
        None,
    )
    return {
        "asks_account": not view.session.is_source_fixed,
        "account_value": format_iban(iban) if iban and payment.provider_id == view.session.provider_id else "",
        "can_choose_again": not view.session.is_source_fixed,
    }


def connecting_facts(view: FormView) -> dict[str, Any]:
    since = view.session.checking_at
    is_checking = view.session.step is FormStep.CHECKING and since is not None
    return {"can_retry": is_checking and since is not None and datetime.now(UTC) - since > RETRY_AFTER}


def payees_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    payment = _paying(view).payment
    pairs = zip(payment.given, payment.dialogue.payees, strict=False)
    payees = [
        _show_order(order, texts) | {"match": result.match.lower(), "suggestion": result.suggested_name}
        for order, result in pairs
        if result.match is not PayeeMatch.MATCH
    ]
    is_draft = payment.state is PaymentState.DRAFT
    is_changeable = is_draft and payment.is_editable and payment.kind is not PaymentKind.BULK
    worst = min((one["match"] for one in payees), key=_SEVERITY.index, default="not_possible")
    return {
        "payees": payees,
        "match": worst,
        "suggestion": payees[0]["suggestion"] if is_changeable and len(payees) == 1 else None,
        "is_changeable": is_changeable,
    }


_SEVERITY = ("no_match", "not_possible", "close_match")


def failed_facts(view: FormView, texts: Texts) -> dict[str, Any]:
    """What can still be done: nothing, once it was ordered and the bank has said no."""
    payment, failure = _paying(view).payment, view.session.notice
    assert failure is not None
    is_draft = payment.state is PaymentState.DRAFT
    key = f"failed.{failure.lower()}.payment"
    return {
        "failure": failure.lower(),
        "text_key": key if key in texts.texts else f"failed.{failure.lower()}.text",
        "can_retry": is_draft and failure.can_retry,
        "can_choose_again": is_draft and not view.session.is_source_fixed,
        "detail": payment.detail,
    }

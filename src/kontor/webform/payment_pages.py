"""The pages of a payment. As all pages they are drawn from a view, and decide nothing."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kontor.domain.clocks import BERLIN
from kontor.domain.payments import Order, PayeeMatch, PayeeWarningKind, Payment, PaymentKind, PaymentState
from kontor.domain.redirects import FormStep
from kontor.domain.sca_machine import ScaState
from kontor.pages.formatting import conventions_of, format_amount, format_date, format_iban
from kontor.pages.texts import Texts
from kontor.services.redirects import PaymentFormView
from kontor.webform.accounts import show_account
from kontor.webform.authorisations import Authorisation, make_authorisation
from kontor.webform.flow_pages import SCA_PAGES, FlowPages
from kontor.webform.texts import override_texts

RETRY_AFTER = timedelta(seconds=45)  # a check that takes longer may have died with its process
SHOWN_ORDERS = 5  # of a bulk; the others are folded up
_STEP_NAMES = {"payment": "review", "source": "source", "provider": "source", "credentials": "source"}
_UNDISTURBED = ("payment", "payees", "unknown", "legal", "end")
_SEVERITY = ("no_match", "not_possible", "close_match")


class PaymentPages(FlowPages):
    def __init__(self, view: PaymentFormView) -> None:
        super().__init__(view)
        self._view = view
        self._payment = view.payment.payment

    @property
    def facts(self) -> Mapping[str, Callable[[Texts], dict[str, Any]]]:
        return {
            "payment": self._show_payment,
            "source": self._show_sources,
            "credentials": self._show_credentials,
            "connecting": self._show_connecting,
            "payees": self._show_payees,
            "failed": self._show_failed,
        }

    def override_texts(self, texts: Texts) -> Texts:
        subject = _find_subject(self._payment)
        return texts if subject is None else override_texts(texts, subject)

    def find_name(self) -> str:
        step = self.session.step
        if step is FormStep.CHECKING:
            return "connecting"
        if step is not FormStep.SCA:
            return step.lower()
        payment = self._payment
        state = payment.dialogue.position.state
        if payment.state is PaymentState.DRAFT or (payment.fence is not None and _is_beginning(payment)):
            return "connecting"
        if payment.fence is not None and not (payment.state is PaymentState.OPEN and state is ScaState.CONFIRMATION):
            return "working"
        return "payees" if payment.dialogue.is_payee_open else SCA_PAGES.get(state, "working")

    def make_key(self, name: str) -> str:
        """Another order, account, word of the bank or attempt is another page: what is sent from it does not count."""
        payment, session = self._payment, self.session
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

    def describe(self, name: str, texts: Texts) -> dict[str, Any]:
        return self._describe_step(name, texts) | {"payment": self._describe_payment(name, texts)}

    def find_authorisation(self) -> Authorisation | None:
        if not self._payment.state.is_under_way:
            return None
        # A form is over before its payment is.
        expires_at = min(self._payment.expires_at, self.session.expires_at)
        return make_authorisation(self._payment.dialogue, self._view.payment.secrets.challenge, expires_at)

    def describe_end(self, texts: Texts) -> dict[str, Any]:
        shown = self._describe_payment("end", texts)
        orders = shown["orders"]
        done = {"total": shown["total"], "recipient": orders[0]["recipient"] if len(orders) == 1 else None}
        return {"texts": "payment_end", "kind": str(self._payment.state), "done": done}

    def _describe_step(self, name: str, texts: Texts) -> dict[str, Any]:
        """Which of how many steps: to look at it, to choose the account, to authorise."""
        if name in ("legal", "end", "failed", "unknown"):
            return {}
        names = ["review", "authorise"] if self.session.is_source_fixed else ["review", "source", "authorise"]
        here = _STEP_NAMES.get(name, "authorise")
        here = here if here in names else "authorise"
        return {
            "step_number": names.index(here) + 1,
            "step_count": len(names),
            "step_name": texts(f"payment_steps.{here}"),
        }

    def _describe_payment(self, name: str, texts: Texts) -> dict[str, Any]:
        """What is paid, to whom, when and from where; on most pages as a short reminder only."""
        payment, language = self._payment, texts.language
        mandates = (
            [None] * len(payment.given) if payment.debit is None else [mandate.id for mandate in payment.debit.mandates]
        )
        orders = [
            _show_order(order, texts) | {"mandate": mandate}
            for order, mandate in zip(payment.given, mandates, strict=True)
        ]
        total = sum((order.amount for order in payment.orders[1:]), payment.orders[0].amount)
        return {
            "orders": orders,
            "shown": orders[:SHOWN_ORDERS],
            "folded": orders[SHOWN_ORDERS:],
            "is_bulk": payment.is_bulk,
            "total": format_amount(total, payment.orders[0].currency, language),
            "when": _tell_when(payment, texts),
            "is_instant": payment.is_instant,
            "account": self._find_account(texts) if name != "source" else None,
            "is_matched": self.session.is_payee_matched and self.session.step is FormStep.SCA,
            "is_reminder": name not in _UNDISTURBED,
        }

    def _find_account(self, texts: Texts) -> dict[str, Any] | None:
        """The account to pay from, once it is chosen."""
        payment = self._payment
        if payment.lease_key is None:
            return None
        bank = None if self._view.provider is None else self._view.provider.name
        for stored_product in self._view.access.products if self._view.access else ():
            if stored_product.id == payment.product_id:
                return show_account(stored_product, texts) | {"bank": bank}
        key = payment.product or ""
        return {"name": format_iban(key) if len(key) > 14 and key.isalnum() else key, "number": None, "bank": bank}

    def _show_payment(self, texts: Texts) -> dict[str, Any]:
        payment = self._payment
        is_editable = payment.is_editable and payment.kind is not PaymentKind.BULK
        return {
            "is_editable": is_editable,
            "is_source_fixed": self.session.is_source_fixed,
            "values": list_values(payment, texts.language) if is_editable else {},
            "currency": payment.orders[0].currency,
            "errors": {},
        }

    def _show_sources(self, texts: Texts) -> dict[str, Any]:
        groups = [
            {
                "bank": self._view.banks.get(source.access.provider_id),
                "accounts": [show_account(product, texts) for product in source.products],
            }
            for source in self._view.sources
        ]
        return {"groups": groups}

    def _show_credentials(self, texts: Texts) -> dict[str, Any]:
        """Beyond the bank's own fields: the account, unless the tenant has chosen it."""
        payment = self._payment
        iban = next(
            (
                stored_product.product.iban
                for stored_product in (self._view.access.products if self._view.access else ())
                if stored_product.id == payment.product_id
            ),
            None,
        )
        return {
            "asks_account": not self.session.is_source_fixed,
            "account_value": format_iban(iban) if iban and payment.provider_id == self.session.provider_id else "",
            "can_choose_again": not self.session.is_source_fixed,
        }

    def _show_connecting(self, texts: Texts) -> dict[str, Any]:
        since = self.session.checking_at
        is_checking = self.session.step is FormStep.CHECKING and since is not None
        return {"can_retry": is_checking and since is not None and datetime.now(UTC) - since > RETRY_AFTER}

    def _show_payees(self, texts: Texts) -> dict[str, Any]:
        payment = self._payment
        pairs = zip(payment.given, payment.dialogue.payees, strict=False)
        payees = [
            _show_order(order, texts) | {"match": result.match.lower(), "suggestion": result.suggested_name}
            for order, result in pairs
            if result.match is not PayeeMatch.MATCH
        ]
        is_draft = payment.state is PaymentState.DRAFT
        is_changeable = is_draft and payment.is_editable and payment.kind is not PaymentKind.BULK
        warnings = self._describe_warnings(texts) if is_draft else []
        worst = min(
            (payee["match"] for payee in payees), key=_SEVERITY.index, default="changed" if warnings else "not_possible"
        )
        return {
            "payees": payees,
            "warnings": warnings,
            "match": worst,
            "suggestion": payees[0]["suggestion"] if is_changeable and len(payees) == 1 else None,
            "is_changeable": is_changeable,
        }

    def _describe_warnings(self, texts: Texts) -> list[dict[str, Any]]:
        """Payees whose name or IBAN was another one in earlier orders."""
        found = []
        for warning in self._payment.dialogue.warnings:
            is_iban = warning.kind is PayeeWarningKind.OTHER_IBAN
            known = format_iban(warning.known) if is_iban else warning.known
            shown = _show_order(self._payment.given[warning.number - 1], texts)
            found.append(shown | {"known": known, "label": f"payees.{warning.kind.lower()}"})
        return found

    def _show_failed(self, texts: Texts) -> dict[str, Any]:
        """What can still be done: nothing, once it was ordered and the bank has said no."""
        payment, failure = self._payment, self.session.notice
        assert failure is not None
        is_draft = payment.state is PaymentState.DRAFT
        key = f"failed.{failure.lower()}.payment"
        return {
            "failure": failure.lower(),
            "text_key": key if key in texts.texts else f"failed.{failure.lower()}.text",
            "can_retry": is_draft and failure.can_retry,
            "can_choose_again": is_draft and not self.session.is_source_fixed,
            "detail": payment.detail,
        }


def write_payee_text(facts: Mapping[str, Any], texts: Texts) -> str:
    """What the page of unmatched payees says, as it is kept with the payment."""
    match = facts["match"]
    lines = [texts(f"payees.{match}.title"), texts(f"payees.{match}.text")]
    for warning in facts["warnings"]:
        lines += [f"{texts('payees.given')}: {warning['recipient']}", f"{texts('payment.iban')}: {warning['iban']}"]
        lines.append(f"{texts(warning['label'])}: {warning['known']}")
    if facts["warnings"] and match != "changed":
        lines += [texts("payees.changed.text"), texts("payees.changed.advice")]
    for payee in facts["payees"]:
        lines.append(f"{texts('payees.given')}: {payee['recipient']}")
        if payee["suggestion"]:
            lines.append(f"{texts('payees.known')}: {payee['suggestion']}")
        lines += [f"{texts('payment.iban')}: {payee['iban']}", f"{texts('payment.amount')}: {payee['amount']}"]
        if len(facts["payees"]) > 1:
            lines.append(f"{texts('payees.result')}: {texts('payees.' + payee['match'] + '.short')}")
    lines.append(texts(f"payees.{match}.advice"))
    return "\n".join(lines if match in ("not_possible", "changed") else [*lines, texts("payees.liability")])


def _is_beginning(payment: Payment) -> bool:
    return payment.dialogue.position.state is ScaState.METHOD and not payment.dialogue.methods


def _show_order(order: Order, texts: Texts) -> dict[str, Any]:
    return {
        "recipient": order.recipient,
        "iban": format_iban("".join(order.iban.split()).upper()),
        "amount": format_amount(order.amount, order.currency, texts.language),
        "purpose": order.purpose,
        "reference": order.end_to_end_id,
        "beneficiary": order.ultimate_creditor,
    }


def _find_subject(payment: Payment) -> str | None:
    """What is done with a standing order, that debits are collected, or that a transfer is to be executed later.

    None for all other payments.
    """
    if payment.debit is not None:
        return "debit"
    if payment.standing is not None:
        return payment.standing.action.lower()
    ordered_on = payment.created_at.astimezone(BERLIN).date()
    return "dated" if payment.execution_date is not None and payment.execution_date > ordered_on else None


def _tell_when(payment: Payment, texts: Texts) -> str:
    if payment.standing is not None:
        schedule = payment.standing.schedule
        period = texts(f"standing_order.{schedule.period.lower()}")
        first = format_date(schedule.first, texts.language)
        if schedule.last is None:
            return texts("standing_order.from", period=period, first=first)
        last = format_date(schedule.last, texts.language)
        return texts("standing_order.until", period=period, first=first, last=last)
    if payment.execution_date is not None:
        return format_date(payment.execution_date, texts.language)
    return texts("payment.now_instant" if payment.is_instant else "payment.now")


def list_values(payment: Payment, language: str) -> dict[str, str]:
    """The order as it stands in the fields of the page."""
    order = payment.given[0]
    amount = f"{order.amount:.2f}"
    return {
        "recipient": order.recipient,
        "iban": format_iban("".join(order.iban.split()).upper()),
        "amount": amount.replace(".", conventions_of(language).decimal),
        "purpose": order.purpose,
        "date": "" if payment.execution_date is None else payment.execution_date.isoformat(),
        "instant": "yes" if payment.is_instant else "",
    }

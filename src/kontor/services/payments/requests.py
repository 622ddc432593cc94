"""What a caller orders, and the payment that is made of it."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec

from kontor.domain.direct_debits import ENGLISH_DEBIT_FIELDS, DebitFields, DebitsNotAllowedError, check_debits
from kontor.domain.languages import DEFAULT_LANGUAGE
from kontor.domain.mandates import DebitInstruction
from kontor.domain.order_checks import ENGLISH_FIELDS, OrderFields, check_execution_date, check_orders
from kontor.domain.payments import Order, Payment, PaymentDialogue, PaymentKind, PaymentState
from kontor.domain.principals import Principal, user_of
from kontor.domain.schedules import StandingAction, StandingInstruction
from kontor.services.payments.debtors import Debtor

DIALOGUE_LIFETIME = timedelta(minutes=15)
LEGACY_LIFETIME = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """What a caller orders, besides from where. `fields` are the caller's names for what may be wrong."""

    kind: PaymentKind
    given: tuple[Order, ...]
    is_instant: bool = False
    execution_date: date | None = None
    payment_id: UUID | None = None
    idempotency_key: str | None = None
    verification_id: UUID | None = None
    customer_ip: str | None = None
    callback_url: str | None = None
    prefers_rejection: bool = False
    asks_settings: bool = False
    is_payee_accepted: bool = False
    is_editable: bool = False
    wanted_method: str | None = None
    wanted_medium: str | None = None
    fields: OrderFields = ENGLISH_FIELDS
    standing: StandingInstruction | None = None
    debit: DebitInstruction | None = None
    debit_fields: DebitFields = ENGLISH_DEBIT_FIELDS
    language: str = DEFAULT_LANGUAGE


def make_payment(
    principal: Principal, debtor: Debtor | None, request: PaymentRequest, state: PaymentState, today: date
) -> Payment:
    """A payment that was found good.

    Raises OrderError for what no bank is to see, DebitsNotAllowedError for direct debits that nobody may order.
    """
    orders, debit = check_request(principal, request, today)
    assert principal.user_pseudonym is not None
    now = datetime.now(UTC)
    lifetime = LEGACY_LIFETIME if request.kind is PaymentKind.LEGACY else DIALOGUE_LIFETIME
    payment = Payment(
        id=request.payment_id or uuid4(),
        user_id=user_of(principal),
        tenant_id=principal.tenant_id,
        pseudonym=principal.user_pseudonym,
        kind=request.kind,
        state=state,
        orders=orders,
        given=request.given,
        is_instant=request.is_instant,
        request_digest=_digest_request(debtor, orders, replace(request, debit=debit)),
        created_at=now,
        expires_at=now + lifetime,
        execution_date=request.execution_date,
        prefers_rejection=request.prefers_rejection,
        asks_settings=request.asks_settings,
        is_payee_accepted=request.is_payee_accepted,
        is_editable=request.is_editable,
        customer_ip=request.customer_ip,
        callback_url=request.callback_url,
        idempotency_key=request.idempotency_key,
        dialogue=PaymentDialogue(wanted_method=request.wanted_method, wanted_medium=request.wanted_medium),
        standing=request.standing,
        debit=debit,
    )
    return payment if debtor is None else attach_debtor(payment, debtor)


def check_request(
    principal: Principal, request: PaymentRequest, today: date
) -> tuple[tuple[Order, ...], DebitInstruction | None]:
    """Orders and direct debit as the bank gets them. Raises as `make_payment`."""
    if request.debit is not None:
        check_collector(principal)
        return check_debits(request.given, request.debit, request.execution_date, today, request.debit_fields)
    if request.standing is not None and request.standing.action is StandingAction.DELETE:
        orders = request.given  # as the bank has it
    else:
        orders = check_orders(request.given, is_bulk=request.kind is PaymentKind.BULK, fields=request.fields)
    check_execution_date(request.execution_date, today, request.fields, is_instant=request.is_instant)
    return orders, None


def check_collector(principal: Principal) -> None:
    if not principal.may_collect:
        raise DebitsNotAllowedError("This client was not made for direct debits.")


def attach_debtor(payment: Payment, debtor: Debtor) -> Payment:
    return replace(
        payment,
        provider_id=debtor.provider_id,
        access_id=debtor.access_id,
        product_id=debtor.product_id,
        product_key=debtor.product_key,
        product=debtor.product,
        lease_key=debtor.lease_key,
    )


def _digest_request(debtor: Debtor | None, orders: tuple[Order, ...], request: PaymentRequest) -> bytes:
    """Equal for equal requests. Credentials are encrypted anew each time, so the login stands for them."""
    is_deletion = request.standing is not None and request.standing.action is StandingAction.DELETE
    return _digest(
        str(request.kind),
        None if debtor is None else [debtor.lease_key.hex(), debtor.product_key],
        [] if is_deletion else msgspec.to_builtins(orders),
        request.is_instant,
        None if request.execution_date is None else request.execution_date.isoformat(),
        None if request.payment_id is None else str(request.payment_id),
        *_list_standing_facts(request.standing),
        *_list_debit_facts(request.debit),
    )


def _list_standing_facts(standing: StandingInstruction | None) -> list[Any]:
    """What the caller has said of a standing order. Its name at the bank may change between two equal requests."""
    if standing is None:
        return []
    facts = [str(standing.action), str(standing.order_id)]
    if standing.action is not StandingAction.DELETE:
        schedule = standing.schedule
        facts += [str(schedule.period), str(schedule.first), str(schedule.last)]
    return facts


def _list_debit_facts(debit: DebitInstruction | None) -> list[Any]:
    return [] if debit is None else [msgspec.to_builtins(debit)]


def is_same_order(one: Payment, other: Payment) -> bool:
    """Would both pay the same, from the same account?"""

    def list_facts(payment: Payment) -> tuple[object, ...]:
        debtor = payment.provider_id, payment.access_id, payment.product_key, payment.lease_key
        order = payment.orders, payment.given, payment.is_instant, payment.execution_date
        return *order, payment.standing, payment.debit, *debtor

    return list_facts(one) == list_facts(other)


def digest_order(payment: Payment) -> bytes:
    """What makes two orders the same: debtor, IBAN, amount, purpose, date."""
    assert payment.lease_key is not None
    return _digest(
        payment.lease_key.hex(),
        payment.product_key,
        [[order.iban, str(order.amount), order.purpose] for order in payment.orders],
        None if payment.execution_date is None else payment.execution_date.isoformat(),
        *_list_standing_facts(payment.standing),
        *_list_debit_facts(payment.debit),
    )


def _digest(*parts: Any) -> bytes:
    return hashlib.sha256(json.dumps(parts).encode()).digest()

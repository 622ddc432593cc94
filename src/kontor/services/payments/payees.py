"""Payees that a user has paid, and the limits and holds that the user sets for them.

What an order may be is decided in the transaction that stores it, under locks of the payees' rows: of two orders at
once the second sees the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from kontor.domain.clocks import BERLIN
from kontor.domain.errors import NotFoundError
from kontor.domain.order_checks import ENGLISH_FIELDS, OrderError, OrderFields, OrderProblem
from kontor.domain.payee_evidence import note_warnings
from kontor.domain.payees import (
    Payee,
    PayeeSettings,
    PayeeUse,
    change_settings,
    find_warnings,
    gather_payees,
    name_payee,
)
from kontor.domain.payments import PayeeWarning, Payment, PaymentKind
from kontor.domain.principals import Principal, user_of
from kontor.domain.schedules import StandingAction
from kontor.services.security import auditing
from kontor.storage import payees, standing_orders
from kontor.storage.database import Connection, Database


@dataclass(slots=True)
class Wanted:
    """What is ordered for one IBAN, and where it is named first."""

    fields: OrderFields
    number: int | None
    amount: Decimal = Decimal(0)


class Payees:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_payees(self, principal: Principal) -> list[Payee]:
        """The one that was paid last first."""
        async with self._database.connect(principal.user_id) as connection:
            return await _list(connection, user_of(principal))

    async def read_payee(self, principal: Principal, payee_id: UUID) -> Payee:
        return _find(await self.list_payees(principal), payee_id)

    async def change_payee(self, principal: Principal, payee_id: UUID, changes: dict[str, object]) -> None:
        """`changes` are fields of PayeeSettings. Raises NotFoundError for whom the user has never paid."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            payee = _find(await _list(connection, user_id), payee_id)
            await payees.add_settings(connection, user_id, payee_id, payee.iban)
            known = (await payees.lock_settings(connection, user_id, [payee_id]))[payee_id]
            wanted = {"max_amount": known.max_amount, "hold_hours": known.hold_hours} | changes
            now = datetime.now(UTC)
            changed = change_settings(known, PayeeSettings(**wanted), now)  # type: ignore[arg-type]
            await payees.save_settings(connection, user_id, payee, changed, now)
            subject = f"user {principal.user_pseudonym} payee {payee_id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "payee.change", subject)

    async def check(self, connection: Connection, payment: Payment, fields: OrderFields = ENGLISH_FIELDS) -> None:
        """In the transaction that stores the order. Raises OrderError for what the user's own rules do not allow."""
        await self.check_all(connection, [(payment, fields)])

    async def check_all(self, connection: Connection, made: Sequence[tuple[Payment, OrderFields]]) -> None:
        """As `check`, for payments of one user that are ordered together: their amounts are added up."""
        paying = [each for each in made if each[0].debit is None and not _is_deletion(each[0])]
        if not paying:
            return
        wanted: dict[str, Wanted] = {}
        for payment, fields in paying:
            for number, order in enumerate(payment.orders):
                first = Wanted(fields, number if payment.is_bulk else None)
                wanted.setdefault(order.iban, first).amount += order.amount
        first_payment = paying[0][0]
        ids = {name_payee(first_payment.user_id, iban): iban for iban in wanted}
        settings = await payees.lock_settings(connection, first_payment.user_id, list(ids))
        if settings:
            by_iban = {ids[payee_id]: each for payee_id, each in settings.items()}
            await _check_limits(connection, [payment for payment, _ in paying], wanted, by_iban)
            uses = await payees.list_uses(connection, first_payment.user_id, list(by_iban))
            _check_holds(gather_payees(first_payment.user_id, uses, settings), wanted)

    async def warn(self, payment: Payment) -> Payment:
        """The payment with what differs from earlier orders. The user decides about it before the bank is asked.

        The legacy form cannot ask: there the warning comes with the question for the TAN. What the caller was told
        with a verification is not asked again.
        """
        warnings = await self.find_warnings(payment)
        told = () if payment.evidence is None else payment.evidence.warnings
        if not warnings or set(warnings) <= set(told):
            return payment
        is_open = payment.kind is not PaymentKind.LEGACY
        dialogue = replace(payment.dialogue, warnings=warnings, is_warning_open=is_open, is_payee_open=is_open)
        evidence = note_warnings(payment.evidence, warnings, datetime.now(UTC))
        return replace(payment, dialogue=dialogue, evidence=evidence)

    async def find_warnings(self, payment: Payment) -> tuple[PayeeWarning, ...]:
        """The payee of a standing order that is changed is known as the order has it now, whoever created it."""
        if payment.debit is not None or _is_deletion(payment):
            return ()
        async with self._database.connect(payment.user_id) as connection:
            uses = await payees.list_uses(connection, payment.user_id)
            uses += await _list_changed(connection, payment)
        return find_warnings(payment.orders, uses)


async def _list(connection: Connection, user_id: UUID) -> list[Payee]:
    settings = await payees.list_settings(connection, user_id)
    return gather_payees(user_id, await payees.list_uses(connection, user_id), settings)


def _find(found: list[Payee], payee_id: UUID) -> Payee:
    for payee in found:
        if payee.id == payee_id:
            return payee
    raise NotFoundError


async def _list_changed(connection: Connection, payment: Payment) -> list[PayeeUse]:
    wanted = payment.standing
    if wanted is None or wanted.order_id is None or payment.product_id is None:
        return []
    found = await standing_orders.find_order(connection, payment.user_id, payment.product_id, wanted.order_id)
    if found is None:
        return []
    order = found.standing.order
    return [PayeeUse(order.recipient, order.iban, payment.created_at, payment.created_at)]


def _is_deletion(payment: Payment) -> bool:
    return payment.standing is not None and payment.standing.action is StandingAction.DELETE


async def _check_limits(
    connection: Connection,
    made: Sequence[Payment],
    wanted: Mapping[str, Wanted],
    settings: Mapping[str, PayeeSettings],
) -> None:
    """`wanted` and `settings` are by IBAN."""
    payment, ids = made[0], [payment.id for payment in made]
    day = payment.created_at.astimezone(BERLIN).date()
    since = datetime.combine(day, time(), BERLIN)
    until = datetime.combine(day + timedelta(days=1), time(), BERLIN)
    sums = await payees.sum_ordered(connection, payment.user_id, ids, list(settings), since, until)
    for iban, each in settings.items():
        limit, ordered, order = each.max_amount, sums.get(iban, Decimal(0)), wanted[iban]
        if limit is not None and ordered + order.amount > limit:
            left = max(Decimal(0), limit - ordered)
            message = f"exceeds the limit of {limit} a day for this payee; {left:.2f} are left today"
            raise OrderError(OrderProblem.PAYEE_LIMIT, message, order.fields.name(order.fields.amount, order.number))


def _check_holds(found: Sequence[Payee], wanted: Mapping[str, Wanted]) -> None:
    for payee in found:
        end, order = payee.find_hold_end(), wanted[payee.iban]
        if end is not None and end > datetime.now(UTC):
            until = end.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M:%S")
            field = order.fields.name(order.fields.iban, order.number)
            raise OrderError(OrderProblem.PAYEE_HOLD, f"orders to this payee are refused until {until}", field)

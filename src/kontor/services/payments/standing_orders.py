"""Standing orders: what is stored of them, what a caller may do with them, and what a settled payment makes of them.

Each action is a payment: stored, authenticated, sent at most once and looked up as any other.
"""

from dataclasses import replace
from datetime import date
from uuid import UUID, uuid5

from kontor.domain.errors import NotFoundError
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import Order, Payment, PaymentState
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product
from kontor.domain.schedules import Schedule, StandingAction, StandingInstruction
from kontor.domain.standing_orders import (
    StandingOrder,
    StandingState,
    StoredStandingOrder,
    check_schedule,
    is_new_payee,
)
from kontor.services.payments.requests import PaymentRequest
from kontor.services.runtime import Clock
from kontor.storage import products, standing_orders
from kontor.storage.database import Connection, Database


class StandingOrders:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def list_orders(self, principal: Principal, access_id: str, product_id: UUID) -> list[StoredStandingOrder]:
        """As they are stored; the bank is not asked. Raises NotFoundError for a product that is not the user's."""
        async with self._database.connect(principal.user_id) as connection:
            if not await products.has_product(connection, user_of(principal), access_id, product_id):
                raise NotFoundError
            return await standing_orders.list_orders(connection, user_of(principal), product_id)

    async def find_order(
        self, principal: Principal, access_id: str, product_id: UUID, order_id: UUID
    ) -> tuple[StoredStandingOrder, Product]:
        async with self._database.connect(principal.user_id) as connection:
            stored = await products.find_product(connection, user_of(principal), access_id, product_id)
            found = await standing_orders.find_order(connection, user_of(principal), product_id, order_id)
        if stored is None or found is None:
            raise NotFoundError
        return found, stored.product

    def find_today(self) -> date:
        return self._clock.today()

    def create(self, request: PaymentRequest, product: Product, schedule: Schedule) -> PaymentRequest:
        """The request of a new standing order. Raises OrderError for what no bank is to see."""
        check_standing(product, StandingAction.CREATE)
        check_schedule(schedule, self._clock.today())
        return replace(request, standing=StandingInstruction(StandingAction.CREATE, schedule))

    def change(
        self, request: PaymentRequest, product: Product, known: StoredStandingOrder, schedule: Schedule
    ) -> PaymentRequest:
        """A payee is verified again only with a new IBAN."""
        check_standing(product, StandingAction.CHANGE)
        before = known.standing.schedule
        check_schedule(schedule, self._clock.today(), before)
        if schedule.first == before.first:
            schedule = replace(schedule, day=before.day)
        instruction = StandingInstruction(StandingAction.CHANGE, schedule, known.standing.key, known.id)
        is_new = is_new_payee(StandingAction.CHANGE, _normalise(request.given[0]), known.standing.order)
        return replace(request, standing=instruction, is_payee_accepted=not is_new)

    @staticmethod
    def delete(request: PaymentRequest, product: Product, known: StoredStandingOrder) -> PaymentRequest:
        check_standing(product, StandingAction.DELETE)
        standing = known.standing
        instruction = StandingInstruction(StandingAction.DELETE, standing.schedule, standing.key, known.id)
        return replace(request, given=(standing.order,), standing=instruction, is_payee_accepted=True)

    async def check_active(self, payment: Payment) -> None:
        """Before it is stored: an order that has ended can neither be changed nor deleted. Raises OrderError."""
        wanted = payment.standing
        if wanted is None or wanted.order_id is None or payment.product_id is None:
            return
        async with self._database.connect(payment.user_id) as connection:
            found = await standing_orders.find_order(connection, payment.user_id, payment.product_id, wanted.order_id)
        if found is None or found.find_state(self._clock.today()) is StandingState.ENDED:
            raise OrderError(OrderProblem.NOT_POSSIBLE, "this standing order has ended")


def check_standing(product: Product, action: StandingAction) -> None:
    if action not in product.standing_order_actions:
        raise OrderError(OrderProblem.NOT_POSSIBLE, f"the bank cannot {action.lower()} standing orders of this product")


def _normalise(order: Order) -> Order:
    return replace(order, iban=order.iban.replace(" ", "").upper())


def find_standing_id(payment: Payment) -> UUID | None:
    """Our id of the standing order that a payment is about, also of one that it is to create."""
    if payment.standing is None:
        return None
    return payment.standing.order_id or uuid5(payment.bank_id, "standing order")


async def apply_standing(connection: Connection, payment: Payment, key: str | None) -> None:
    """In the transaction that stores the bank's word: the standing order as it is from now on."""
    wanted, order_id = payment.standing, find_standing_id(payment)
    is_done = payment.state in (PaymentState.EXECUTED, PaymentState.ACCEPTED)
    if wanted is None or order_id is None or not is_done or payment.product_id is None:
        return
    standing = StandingOrder(payment.orders[0], wanted.schedule, key or wanted.key)
    changed = StoredStandingOrder(
        order_id, payment.product_id, standing, is_listed=wanted.action is not StandingAction.DELETE
    )
    if wanted.action is StandingAction.CREATE:
        await standing_orders.insert_order(connection, payment.user_id, changed)
    else:
        await standing_orders.update_order(connection, payment.user_id, changed)

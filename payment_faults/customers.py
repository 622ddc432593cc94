"""A customer who wants one order paid once: orders it, answers the bank, and after a crash repeats what was lost.

The same keys each time. Everything the customer is shown is noted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from kontor.connectors.base import Cancel, ChooseMedium, ChooseMethod, Poll, Returned, Tan
from kontor.connectors.demo.authentication import TANS
from kontor.connectors.demo.scenarios import CHIP_TAN, LIST_TAN, MOCK_TAN, PHOTO_TAN
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order, PayeeResult, PaymentKind, PaymentState
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.domain.schedules import Period, Schedule
from kontor.domain.secrets import Secret
from kontor.domain.standing_orders import StoredStandingOrder
from kontor.services.bundle import Services
from kontor.services.payments import Debtor, PaymentNotOpenError, PaymentRequest, PaymentView
from payment_faults.environment import Payer, today
from payment_faults.plans import Entrance, Form, Sca, Scenario

IBANS = ("DE89370400440532013000", "DE02120300000000202051")
ADDRESS, CALLBACK = "8.8.8.8", "https://example.com/back"
WRONG_TAN = "7"
MAX_STEPS = 12
FIRST_DAYS = 10  # from today to the first execution of a standing order, and to the collection of direct debits
CREDITOR_ID = "DE98ZZZ09999999999"
METHODS = {
    Sca.TAN: MOCK_TAN.code,
    Sca.WRONG_TAN: MOCK_TAN.code,
    Sca.PHOTO: PHOTO_TAN.code,
    Sca.CHIP: CHIP_TAN.code,
}


@dataclass
class Customer:
    """`confirm_page` is what the customer does on the bank's page: it returns the address that leads back.

    `standing_id` is the standing order that is to be changed or deleted.
    """

    payer: Payer
    scenario: Scenario
    name: str
    confirm_page: Callable[[str], str]
    told: list[str] = field(default_factory=list)
    payment_id: UUID | None = None
    standing_id: UUID | None = None

    @property
    def orders(self) -> tuple[Order, ...]:
        form, number = self.scenario.form, 2 if self.scenario.form.is_bulk else 1
        reference = f"E2E{self.name[:20]}" if self.scenario.has_own_reference else None
        # A changed standing order pays more; only another account makes the bank verify the payee again.
        amount = Decimal("0.02" if form is Form.STANDING_CHANGE else "0.01")
        ibans = IBANS[1:] if form is Form.STANDING_CHANGE and self.scenario.sca is Sca.PAYEE else IBANS
        return tuple(
            Order(
                f"Erika Mustermann {ibans[index][2:4]}",
                ibans[index],
                amount,
                purpose=self.name,
                end_to_end_id=reference,
            )
            for index in range(number)
        )

    async def pay(self, services: Services) -> None:
        """Until the bank has decided, or nobody knows. After a crash it begins with the same order again."""
        view = self._note(await self._order(services))
        for _ in range(MAX_STEPS):
            if not view.payment.state.is_under_way:
                return
            view = self._note(await self._answer(services, view))

    async def cancel(self, services: Services) -> None:
        assert self.payment_id is not None
        view = await services.payments.answer(self.payer.principal, self.payment_id, AnswerKind.CANCEL, Cancel())
        self._note(view)

    async def read(self, services: Services) -> None:
        if self.payment_id is not None:
            self._note(await services.payments.read_payment(self.payer.principal, self.payment_id))

    def _note(self, view: PaymentView) -> PaymentView:
        self.payment_id = view.payment.id
        self.told.append(str(view.payment.state))
        return view

    # Ordering

    async def _order(self, services: Services) -> PaymentView:
        payer, scenario = self.payer, self.scenario
        if scenario.entrance is Entrance.WEB_FORM:
            return await self._order_in_form(services)
        request = await self._complete(services, self._make_request(self._find_kind()))
        debtors = services.payments.debtors
        if scenario.entrance is Entrance.NEWER:
            debtor = await debtors.find_stored(payer.principal, payer.access_id, payer.product_id, request.kind)
        else:
            is_legacy = scenario.entrance is Entrance.LEGACY
            if is_legacy:
                request = self._make_request(PaymentKind.LEGACY)
            product = str(payer.product_id) if is_legacy else payer.iban
            debtor = await debtors.find_opened(
                payer.principal, payer.provider, payer.credentials, product, request.kind
            )
        return await services.payments.initiate(payer.principal, debtor, request)

    def _find_kind(self) -> PaymentKind:
        form = self.scenario.form
        if form.is_standing:
            return PaymentKind.STANDING_ORDER
        if form.is_debit:
            return PaymentKind.DIRECT_DEBIT
        return PaymentKind.BULK if form.is_bulk else PaymentKind.SINGLE

    async def _complete(self, services: Services, request: PaymentRequest) -> PaymentRequest:
        """With what is to be done about a standing order, as the API's endpoints do it."""
        form, payer, standing = self.scenario.form, self.payer, services.payments.standing_orders
        if not form.is_standing:
            return request
        product = await services.payments.debtors.find_product(payer.principal, payer.access_id, payer.product_id)
        schedule = Schedule(Period.MONTH_ONE, today() + timedelta(days=FIRST_DAYS))
        if form is Form.STANDING:
            return standing.create(request, product, schedule)
        known = await self._find_standing(services)
        if form is Form.STANDING_CHANGE:
            return standing.change(request, product, known, replace(schedule, period=Period.MONTH_THREE))
        return standing.delete(request, product, known)

    async def _find_standing(self, services: Services) -> StoredStandingOrder:
        assert self.standing_id is not None
        payer, standing = self.payer, services.payments.standing_orders
        known, _ = await standing.find_order(payer.principal, payer.access_id, payer.product_id, self.standing_id)
        return known

    def _make_request(self, kind: PaymentKind) -> PaymentRequest:
        form, is_legacy = self.scenario.form, kind is PaymentKind.LEGACY
        days = FIRST_DAYS if form.is_debit else 3
        return PaymentRequest(
            kind,
            self.orders,
            is_instant=form.is_instant,
            execution_date=today() + timedelta(days=days) if form.is_scheduled or form.is_debit else None,
            payment_id=None if is_legacy or self._is_form else uuid5(NAMESPACE_URL, self.name),
            idempotency_key=self.name if is_legacy or self._is_form else None,
            customer_ip=ADDRESS,
            callback_url=None if is_legacy else CALLBACK,
            is_payee_accepted=is_legacy or form.is_debit,
            wanted_method=METHODS[self.scenario.sca] if is_legacy else None,
            debit=self._make_instruction() if form.is_debit else None,
        )

    def _make_instruction(self) -> DebitInstruction:
        mandates = tuple(Mandate(f"M-{number}", today() - timedelta(days=90)) for number in range(len(self.orders)))
        return DebitInstruction(DebitScheme.CORE, CREDITOR_ID, SequenceType.RCUR, mandates)

    @property
    def _is_form(self) -> bool:
        return self.scenario.entrance is Entrance.WEB_FORM

    async def _order_in_form(self, services: Services) -> PaymentView:
        payer, drafts = self.payer, services.payment_drafts
        request = await self._complete(services, self._make_request(self._find_kind()))
        debtor: Debtor | None = None
        if self.scenario.form.is_standing or self.scenario.form.is_debit:  # which belong to a product already
            debtors = services.payments.debtors
            debtor = await debtors.find_stored(payer.principal, payer.access_id, payer.product_id, request.kind)
        draft = await services.payments.store_draft(payer.principal, debtor, request)
        self.payment_id = draft.id
        accepted: tuple[PayeeResult, ...] = ()
        if draft.state is PaymentState.DRAFT:
            if debtor is None:
                await drafts.choose_product(payer.principal, draft.id, payer.access_id, payer.product_id)
            if self.scenario.sca is Sca.PAYEE:
                accepted = await drafts.verify(payer.principal, draft.id, ADDRESS)
        return await drafts.start(
            payer.principal, draft.id, customer_ip=ADDRESS, callback_url=CALLBACK, accepted_payees=accepted
        )

    # Answering

    async def _answer(self, services: Services, view: PaymentView) -> PaymentView:
        payments, principal, payment = services.payments, self.payer.principal, view.payment
        dialogue = payment.dialogue
        try:
            if dialogue.is_payee_open:
                return await payments.accept_payees(principal, payment.id)
            match dialogue.position.state:
                case ScaState.METHOD:
                    choice = ChooseMethod(dialogue.methods[-1].code)
                    return await payments.answer(principal, payment.id, AnswerKind.METHOD, choice)
                case ScaState.MEDIUM:
                    medium = ChooseMedium(dialogue.media[-1].name)
                    return await payments.answer(principal, payment.id, AnswerKind.MEDIUM, medium)
                case ScaState.TAN:
                    tan = Tan(Secret(self._read_tan(view)))
                    return await payments.answer(principal, payment.id, AnswerKind.TAN, tan)
                case ScaState.CONFIRMATION:
                    return await payments.answer(principal, payment.id, AnswerKind.CONFIRMED, Poll())
                case ScaState.REDIRECT:
                    assert dialogue.redirect_url is not None
                    query = urlsplit(self.confirm_page(dialogue.redirect_url)).query
                    return await payments.answer(principal, payment.id, AnswerKind.RETURNED, Returned(query))
        except PaymentNotOpenError as error:
            return error.view
        return await payments.read_payment(principal, payment.id)

    def _read_tan(self, view: PaymentView) -> str:
        dialogue = view.payment.dialogue
        is_first = dialogue.position.wrong_tans == 0
        if self.scenario.sca is Sca.WRONG_TAN and is_first and not dialogue.is_last_tan_wrong:
            return WRONG_TAN
        return TANS.get(METHODS.get(self.scenario.sca, ""), TANS[LIST_TAN.code])  # which is even, as mockTAN wants it

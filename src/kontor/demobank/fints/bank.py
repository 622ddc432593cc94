"""The bank: takes a message, gives the answer. Whatever comes in, what goes out is FinTS."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from kontor.connectors.demo.memory import Bank
from kontor.connectors.demo.people.numbers import DEMO_BANK_CODE
from kontor.demobank.faults import UNDISTURBED, Fault, FaultInjector, LostAnswerError, Visit
from kontor.demobank.fints import (
    account_statements,
    accounts,
    challenges,
    dated_transfers,
    direct_debits,
    payee_checks,
    standing_orders,
    statements,
    transfers,
)
from kontor.demobank.fints.customers import CONSENT_DAYS, Customer, Customers
from kontor.demobank.fints.dialogues import Dialogue, Dialogues, TooManyDialoguesError, TrustedSystems
from kontor.demobank.fints.fault_hooks import answer_with_faults
from kontor.demobank.fints.initialisation import DialogueInitialisation
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.messages import ONE_STEP, Envelope, Request, read_request, write_response
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import BUSINESSES, STATEMENTS, VERIFIED_ORDERS, is_switched_off, list_versions
from kontor.demobank.fints.segments import Segment, WireError
from kontor.domain.clocks import BERLIN

NO_DIALOGUE = "0"
LOCK_SECONDS = 30
_OPENING = frozenset(("HKIDN", "HKVVB", "HKSYN"))
# What a customer may ask for before being authenticated.
_BEFORE_AUTHENTICATION = frozenset(("HKTAB",))
_READING = frozenset(("HKSAL", "HKKAZ", "HKCAZ", "DKKKU"))
_BOOKINGS = ("HKKAZ", "HKCAZ", "DKKKU")


@dataclass(frozen=True, slots=True)
class FintsOptions:
    """`address` is told to clients, without a scheme. `page_rows` bookings are sent at once; then clients ask on.

    If there are `products`, only programs of these registrations are let in. `modes` are ways of real banks, `faults`
    go wrong.
    """

    address: str
    page_rows: int = 500
    slow_seconds: float = 200
    is_under_maintenance: bool = False
    products: frozenset[str] = frozenset()
    modes: frozenset[Mode] = frozenset()
    faults: FaultInjector | None = None


class FintsBank:
    def __init__(
        self, bank: Bank, options: FintsOptions, read_time: Callable[[], datetime], dialogues: Dialogues | None = None
    ) -> None:
        self._options = options
        self._read_time = read_time
        self._customers = Customers(bank, options.slow_seconds)
        self._dialogues = Dialogues() if dialogues is None else dialogues
        self._trusted = TrustedSystems()
        self._receipts = account_statements.Receipts()
        self._entrance = DialogueInitialisation(self._customers, self._trusted, options.address, options.products)

    def answer(self, message: bytes) -> bytes:
        try:
            request = read_request(message)
        except WireError as error:
            return self._refuse(Envelope(), error.code)
        if self._options.faults is None:
            return self._respond(request, UNDISTURBED)
        return answer_with_faults(self._options.faults, request, lambda visit: self._respond(request, visit))

    def _respond(self, request: Request, visit: Visit) -> bytes:
        envelope = Envelope(request.dialogue_id, request.number, request.signature)
        if self._options.is_under_maintenance:
            return self._refuse(envelope, "9030")
        try:
            if request.dialogue_id == NO_DIALOGUE:
                dialogue = self._dialogues.open()
            else:
                found = self._dialogues.find(request.dialogue_id)
                if found is not None and visit.fault is Fault.EARLY_END:
                    self._dialogues.close(found)
                    found = None
                if found is None:
                    return self._refuse(envelope, "9010", "Der Dialog ist unbekannt oder abgelaufen.")
                dialogue = found
        except TooManyDialoguesError:
            return self._refuse(envelope, "9030", "Zu viele Dialoge. Bitte versuchen Sie es später.")
        return self._answer_in(dialogue, request, envelope, visit)

    def _answer_in(self, dialogue: Dialogue, request: Request, envelope: Envelope, visit: Visit) -> bytes:
        """One message at a time: the next one of the same dialogue waits."""
        if not dialogue.lock.acquire(timeout=LOCK_SECONDS):
            return self._refuse(envelope, "9010", "Der Dialog ist noch mit einer anderen Nachricht beschäftigt.")
        exchange = MessageExchange(request, dialogue, self._find_today(), self._options.modes, visit=visit)
        try:
            self._handle(exchange)
        except WireError as error:
            exchange.abort(None, error.code)
        except ConnectionError:
            exchange.abort(None, "9030")
        except LostAnswerError:
            self._dialogues.close(dialogue)
            raise
        finally:
            dialogue.lock.release()
        if exchange.is_over:
            self._dialogues.close(dialogue)
        return write_response(envelope, dialogue.id, exchange.assemble(), DEMO_BANK_CODE, self._read_time())

    def _handle(self, exchange: MessageExchange) -> None:
        request, dialogue = exchange.request, exchange.dialogue
        if Mode.PROFILE_CHECKED in exchange.modes and not _has_right_profile(exchange):
            exchange.abort(None, "9010", "Ungültiger Signaturaufbau: Fehler im Segmentaufbau.")
            return
        if request.dialogue_id == NO_DIALOGUE:
            if request.number != 1:
                exchange.abort(None, "9010", "Ein Dialog beginnt mit der Nachricht 1.")
                return
            self._entrance.begin(exchange)
        else:
            dialogue.message_number += 1
            if request.number != dialogue.message_number:
                exchange.abort(None, "9010", "Die Nachrichtennummer ist nicht die erwartete.")
                return
            if not _is_signed_alike(exchange):
                exchange.abort(None, "9340")
                return
        for segment in request.segments:
            if exchange.is_over:
                return
            self._handle_segment(exchange, segment)

    def _handle_segment(self, exchange: MessageExchange, segment: Segment) -> None:
        """Segments that only come along with others are dealt with there."""
        is_opening = exchange.request.dialogue_id == NO_DIALOGUE
        code = segment.code
        if code in _OPENING:
            if not is_opening:
                exchange.reply(segment, "9130")
        elif code == "HKEND":
            exchange.reply(segment, "0100")
            exchange.is_over = True
        elif exchange.dialogue.is_anonymous:
            # hbci4java offers a TAN even here, where nobody could have one.
            if code != "HKTAN":
                exchange.reply(segment, "9130")
        elif code == "HKTAN":
            self._handle_tan(exchange, segment)
        elif code == "HKVPP":
            if exchange.find("HKTAN") is None:
                payee_checks.poll(exchange, self._customers, self._find_customer(exchange), segment)
        elif code == "HKVPA":
            if not any(exchange.find(order) for order in VERIFIED_ORDERS):
                payee_checks.approve(exchange, segment)
        else:
            self._handle_order(exchange, segment)

    def _handle_tan(self, exchange: MessageExchange, segment: Segment) -> None:
        if segment.version not in challenges.VERSIONS:
            exchange.reply(segment, "9150")
        elif segment.read(1) in (challenges.SECOND_STEP, challenges.STATUS):
            waiting = challenges.answer(exchange, self._customers, segment)
            if waiting is None:
                return
            exchange.reply(segment, "0020", "Die TAN ist richtig.")
            if waiting.order is None:
                self._open_dialogue(exchange, segment)
            else:
                self._execute(exchange, replace(waiting.order, number=segment.number))
        elif segment.read(1) != challenges.FIRST_STEP:
            exchange.reply(segment, "9120", "Dieser TAN-Prozess wird nicht unterstützt.")
        elif len(exchange.request.segments) == 1:
            exchange.reply(segment, "9130")
        elif segment.number not in exchange.replies and not exchange.has_errors:
            # Orders that came along were carried out without it.
            challenges.waive(exchange, segment)

    def _open_dialogue(self, exchange: MessageExchange, segment: Segment) -> None:
        dialogue = exchange.dialogue
        dialogue.is_open = True
        self._trusted.trust(exchange.login, dialogue.system_id, exchange.today + timedelta(days=CONSENT_DAYS))
        self._entrance.welcome(exchange, segment, self._find_customer(exchange))
        if dialogue.is_synchronised:
            # hbci4java looks for it in the last answer only.
            self._entrance.tell_system_id(exchange, segment)

    def _handle_order(self, exchange: MessageExchange, order: Segment) -> None:
        if order.code not in BUSINESSES or is_switched_off(order.code, exchange.modes):
            exchange.reply(order, "9140")
            return
        if order.version not in list_versions(order.code, exchange.modes):
            exchange.reply(order, "9150")
            return
        if not exchange.dialogue.is_open and order.code not in _BEFORE_AUTHENTICATION:
            exchange.abort(order, "9075")
            return
        if Mode.PIN_REFUSED_LATER in exchange.modes and order.code in _READING:
            exchange.reply(order, "9942")
            return
        if order.code in STATEMENTS and account_statements.needs_tan(exchange):
            exchange.abort(order, "9075")
            return
        if order.code in _BOOKINGS:
            tan_request = challenges.find_first_step(exchange)
            if statements.needs_tan(exchange, self._customers, self._find_customer(exchange), order):
                if tan_request is None:
                    exchange.abort(order, "9075")
                else:
                    step = self._customers.begin_authentication(exchange.login)
                    challenges.challenge(exchange, self._customers, tan_request, step, order)
                return
        self._execute(exchange, order)

    def _execute(self, exchange: MessageExchange, order: Segment) -> None:
        customer = self._find_customer(exchange)
        match order.code:
            case "HKSPA":
                accounts.show_accounts(exchange, customer, order)
            case "HKSAL":
                accounts.show_balance(exchange, customer, order)
            case "HKTAB":
                accounts.show_media(exchange, customer, order)
            case "HKWPD":
                statements.show_holdings(exchange, self._customers, customer, order)
            case "HKKAZ" | "HKCAZ" | "DKKKU":
                statements.show_bookings(exchange, self._customers, customer, order, self._options.page_rows)
            case "HKKAU":
                rows = self._options.page_rows
                account_statements.show_list(exchange, self._customers, customer, order, rows, self._receipts)
            case "HKEKA" | "HKEKP":
                account_statements.show_statement(exchange, self._customers, customer, order, self._receipts)
            case "HKQTG":
                account_statements.acknowledge(exchange, self._customers, customer, order, self._receipts)
            case "HKCSB":
                dated_transfers.show_list(exchange, self._customers, customer, order, self._options.page_rows)
            case "HKCDB":
                standing_orders.show_list(exchange, self._customers, customer, order, self._options.page_rows)
            case "HKDBS" | "HKBBS":
                direct_debits.show_list(exchange, self._customers, customer, order, self._options.page_rows)
            case _:
                transfers.transfer(exchange, self._customers, customer, order)

    def _find_customer(self, exchange: MessageExchange) -> Customer:
        """As the books are now: other dialogues and other ways to the bank change them as well."""
        if exchange.customer is None:
            exchange.customer = self._customers.find(exchange.login, exchange.today)
        return exchange.customer

    def _refuse(self, envelope: Envelope, code: str, text: str | None = None) -> bytes:
        request = Request(envelope.dialogue_id, envelope.number, (), envelope.signature)
        exchange = MessageExchange(request, Dialogue(envelope.dialogue_id), self._find_today())
        exchange.abort(None, code, text)
        return write_response(envelope, envelope.dialogue_id, exchange.assemble(), DEMO_BANK_CODE, self._read_time())

    def _find_today(self) -> date:
        return self._read_time().astimezone(BERLIN).date()


def _has_right_profile(exchange: MessageExchange) -> bool:
    """One step is the profile's version 1, two steps are version 2, in signature and envelope alike."""
    signature = exchange.request.signature
    if signature is None:
        return True
    expected = "1" if signature.security_function == ONE_STEP else "2"
    return signature.profiles == (expected, expected)


def _is_signed_alike(exchange: MessageExchange) -> bool:
    """Is the message from who began the dialogue? An anonymous one stays anonymous."""
    dialogue, signature = exchange.dialogue, exchange.request.signature
    if signature is None or dialogue.is_anonymous:
        return signature is None and dialogue.is_anonymous
    return (
        signature.login == dialogue.login
        and signature.pin == dialogue.pin
        and signature.security_function == dialogue.security_function
    )

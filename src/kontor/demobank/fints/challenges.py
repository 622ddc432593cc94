"""HKTAN: the bank asks for a TAN or a confirmation in the app, and reads the answer."""

import secrets
import struct
import time

from kontor.connectors.base import (
    ChooseMedium,
    ChooseMethod,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedTan,
    Paid,
    Poll,
    Step,
    Tan,
)
from kontor.connectors.demo.authentication import TANS
from kontor.demobank.faults import LostAnswerError
from kontor.demobank.fints.customers import Customers
from kontor.demobank.fints.dialogues import MAX_WRONG_TANS, Pending, make_room
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import VERIFIED_ORDERS, find_method, is_decoupled, must_name_medium
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.domain.payments import PaymentOutcome
from kontor.domain.sca import Challenge, ScaMedium
from kontor.domain.secrets import Secret

FIRST_STEP, SECOND_STEP, STATUS = "4", "2", "S"
NO_REFERENCE, NO_CHALLENGE = "noref", "nochallenge"
VALID_SECONDS = 300
EVEN_TAN = "2"  # right for mockTAN
VERSIONS = (6, 7)
SUCCESS_TEXTS = {
    PaymentOutcome.EXECUTED: "Auftrag ausgeführt.",
    PaymentOutcome.ACCEPTED: "Auftrag entgegengenommen.",
}


def find_first_step(exchange: MessageExchange) -> Segment | None:
    """The HKTAN that comes along with an order."""
    tan_request = exchange.find("HKTAN")
    return tan_request if tan_request is not None and tan_request.read(1) == FIRST_STEP else None


def execute_without_tan(exchange: MessageExchange, customers: Customers, order: Segment, step: Step) -> None:
    """Pay although nobody was asked: the bank answers its own questions."""
    function = find_method(exchange.dialogue.security_function, exchange.modes)
    following: Step | None = step
    while following is not None:
        match following:
            case NeedMethod(_, state):
                following = customers.answer(state, ChooseMethod(function), exchange.today)
            case NeedMedium(media, state):
                following = customers.answer(state, ChooseMedium(media[0].name), exchange.today)
            case NeedConfirmation(_, state):
                following = customers.answer(state, Poll(), exchange.today)
            case NeedTan(_, state):
                following = customers.answer(state, Tan(Secret(TANS.get(function, EVEN_TAN))), exchange.today)
            case _:
                report_payment(exchange, order, following, find_standing_answer(step))
                return


def waive(exchange: MessageExchange, tan_request: Segment | None) -> None:
    """Tell a client that offered a TAN that none is needed."""
    if tan_request is None:
        return
    exchange.reply(tan_request, "3076")
    add_no_challenge(exchange, tan_request)


def add_no_challenge(exchange: MessageExchange, tan_request: Segment) -> None:
    exchange.add(make_segment("HITAN", tan_request.version, FIRST_STEP, None, NO_REFERENCE, NO_CHALLENGE), tan_request)


def challenge(
    exchange: MessageExchange, customers: Customers, tan_request: Segment, step: Step, order: Segment | None = None
) -> bool:
    """Carry a step of the bank's on until it is a challenge. False, with a reply, if that is not possible."""
    function = exchange.dialogue.security_function
    if Mode.METHOD_WITHDRAWN in exchange.modes and isinstance(step, NeedMethod) and _is_withdrawn(step, function):
        exchange.reply(tan_request, "9260")
        exchange.reply(None, "3070")
        exchange.reply(None, "3999")
        return False
    if tan_request.version not in VERSIONS or (is_decoupled(function) and tan_request.version < 7):
        exchange.reply(tan_request, "9380")
        return False
    today = exchange.today
    following: Step | None = step
    if isinstance(step, NeedMethod):
        following = customers.answer(step.state, ChooseMethod(find_method(function, exchange.modes)), today)
    if isinstance(following, NeedMedium):
        name = tan_request.read(11).strip()
        if Mode.DEVICE_UNKNOWN in exchange.modes and name not in [medium.name for medium in following.media]:
            _refuse_device(exchange, tan_request)
            return False
        medium = _choose_medium(following.media, name, function)
        if medium is None:
            exchange.reply(tan_request, "9955")
            return False
        following = customers.answer(following.state, ChooseMedium(medium.name), today)
    if not isinstance(following, NeedTan | NeedConfirmation):
        exchange.reply(tan_request, "9380")
        return False
    reference = secrets.token_hex(12)
    make_room(exchange.dialogue.pending)
    exchange.dialogue.pending[reference] = Pending(following.state, time.monotonic() + VALID_SECONDS, order)
    _announce(exchange, tan_request, is_for_app=isinstance(following, NeedConfirmation))
    exchange.add(_make_challenge(tan_request, reference, following.challenge), tan_request)
    return True


def _is_withdrawn(step: NeedMethod, function: str) -> bool:
    return len(step.methods) > 1 and step.methods[0].code == function


def _refuse_device(exchange: MessageExchange, tan_request: Segment) -> None:
    """While logging in, that is the end of the dialogue."""
    exchange.reply(None, "3905")
    exchange.reply(tan_request, "9955", "Auftrag nicht ausgeführt - Die Gerätebezeichnung ist unbekannt.")
    exchange.is_over = exchange.is_aborted = not exchange.dialogue.is_open


def _announce(exchange: MessageExchange, tan_request: Segment, *, is_for_app: bool) -> None:
    """Say that there is a challenge, unless it comes with the result of a payee check that was asked for again."""
    if exchange.find("HKTAN") is None:
        return
    asked = tan_request
    if Mode.ASKS_ELSEWHERE in exchange.modes:
        asked = next(filter(None, map(exchange.find, ("HKIDN", *VERIFIED_ORDERS))), tan_request)
        if is_for_app:
            exchange.reply(asked, "0030")
    exchange.reply(asked, "3955" if is_for_app else "0030")


def _choose_medium(media: tuple[ScaMedium, ...], name: str, function: str) -> ScaMedium | None:
    """The only one, whatever it is called: clients that know no names make one up. Otherwise the one that is named."""
    if len(media) == 1 or (not name and not must_name_medium(function)):
        return media[0]
    return next((medium for medium in media if medium.name == name), None)


def _make_challenge(tan_request: Segment, reference: str, challenge: Challenge) -> Segment:
    picture: bytes | None = None
    if challenge.photo is not None:
        picture = b"".join(struct.pack(">H", len(part)) + part for part in (b"image/png", challenge.photo))
    elif challenge.hhd_uc is not None:
        picture = challenge.hhd_uc.encode("ascii")
    return make_segment("HITAN", tan_request.version, FIRST_STEP, None, reference, challenge.instructions, picture)


def answer(exchange: MessageExchange, customers: Customers, tan_request: Segment) -> Pending | None:
    """The second step. What was waiting, if the customer is authenticated now and there is something left to do."""
    reference = tan_request.read(5)
    waiting = exchange.dialogue.pending.get(reference)
    if waiting is None:
        exchange.reply(tan_request, "9951", "Zu dieser Auftragsreferenz ist keine TAN offen.")
        return None
    if tan_request.read(7) == "J":
        del exchange.dialogue.pending[reference]
        exchange.reply(tan_request, "0020", "Auftrag storniert.")
        return None
    if waiting.valid_until < time.monotonic():
        del exchange.dialogue.pending[reference]
        exchange.reply(tan_request, "9951")
        return None
    step = _ask(exchange, customers, tan_request, waiting)
    match step:
        case NeedConfirmation(_, state):
            waiting.state = state
            exchange.reply(tan_request, "3956")
            if Mode.TERSE_CONFIRMATION in exchange.modes:
                return None
            exchange.add(make_segment("HITAN", tan_request.version, STATUS, None, reference), tan_request)
            return None
        case Failed(FailureKind.WRONG_TAN):
            _count_wrong_tan(exchange, tan_request, waiting, reference)
            return None
    if step is None or not customers.pays_twice:
        del exchange.dialogue.pending[reference]
    if Mode.TERSE_CONFIRMATION not in exchange.modes:
        exchange.add(make_segment("HITAN", tan_request.version, tan_request.read(1), None, reference), tan_request)
    if step is None:
        exchange.dialogue.has_fresh_sca = True
        return waiting
    report_payment(exchange, tan_request, step, find_standing_answer(waiting))
    return None


def _ask(exchange: MessageExchange, customers: Customers, tan_request: Segment, waiting: Pending) -> Step | None:
    process, signature = tan_request.read(1), exchange.request.signature
    if process == STATUS:
        return customers.answer(waiting.state, Poll(), exchange.today)
    tan = Secret("") if signature is None or signature.tan is None else signature.tan
    return customers.answer(waiting.state, Tan(tan), exchange.today)


def _count_wrong_tan(exchange: MessageExchange, tan_request: Segment, waiting: Pending, reference: str) -> None:
    """The third wrong TAN in a row ends the dialogue, and with it what it was about."""
    waiting.wrong_tans += 1
    if waiting.wrong_tans < MAX_WRONG_TANS:
        exchange.reply(tan_request, "9941")
        return
    del exchange.dialogue.pending[reference]
    exchange.abort(tan_request, "9941", "TAN ungültig - Auftrag nach drei Fehlversuchen abgelehnt.")


def find_standing_answer(asked: Step | Pending) -> str | None:
    """The segment that names a standing order which was created or changed."""
    standing = (getattr(asked, "state", None) or {}).get("job", {}).get("standing") or {}
    return {"CREATE": "HICDE", "CHANGE": "HICDN"}.get(standing.get("action", ""))


def report_payment(exchange: MessageExchange, to: Segment, step: Step, standing_answer: str | None = None) -> None:
    """What became of an order that was sent."""
    match step:
        case Done(Paid(outcome) as paid):
            if Mode.ORDER_ACCEPTED in exchange.modes:
                outcome = PaymentOutcome.ACCEPTED
            exchange.reply(to, "0020" if outcome is PaymentOutcome.EXECUTED else "0010", SUCCESS_TEXTS.get(outcome))
            if standing_answer is not None:
                exchange.add(make_segment(standing_answer, 1, paid.standing_key), to)
        case Failed(FailureKind.UNREACHABLE):
            raise LostAnswerError
        case Failed(_, detail):
            exchange.reply(to, "9210", detail)
        case _:
            exchange.reply(to, "9210")

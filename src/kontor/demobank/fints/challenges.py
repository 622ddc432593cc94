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
from kontor.demobank.fints.customers import Customers
from kontor.demobank.fints.dialogues import MAX_WRONG_TANS, Pending, make_room
from kontor.demobank.fints.parameters import is_decoupled, must_name_medium
from kontor.demobank.fints.segments import Segment, make_segment
from kontor.demobank.fints.turns import Turn
from kontor.domain.payments import PaymentOutcome
from kontor.domain.sca import Challenge, ScaMedium
from kontor.domain.secrets import Secret

FIRST_STEP, SECOND_STEP, STATUS = "4", "2", "S"
NO_REFERENCE, NO_CHALLENGE = "noref", "nochallenge"
VALID_SECONDS = 300
VERSIONS = (6, 7)
SUCCESS_TEXTS = {
    PaymentOutcome.EXECUTED: "Auftrag ausgeführt.",
    PaymentOutcome.ACCEPTED: "Auftrag entgegengenommen.",
}


class LostAnswerError(Exception):
    """The connection ends without an answer: what became of the order, nobody says."""


def find_first_step(turn: Turn) -> Segment | None:
    """The HKTAN that comes along with an order."""
    found = turn.find("HKTAN")
    return found if found is not None and found.read(1) == FIRST_STEP else None


def waive(turn: Turn, tan_request: Segment | None) -> None:
    """Tell a client that offered a TAN that none is needed."""
    if tan_request is None:
        return
    turn.reply(tan_request, "3076")
    turn.add(make_segment("HITAN", tan_request.version, FIRST_STEP, None, NO_REFERENCE, NO_CHALLENGE), tan_request)


def challenge(turn: Turn, customers: Customers, tan_request: Segment, step: Step, order: Segment | None = None) -> bool:
    """Carry a step of the bank's on until it is a challenge. False, with a reply, if that is not possible."""
    function = turn.dialogue.security_function
    if tan_request.version not in VERSIONS or (is_decoupled(function) and tan_request.version < 7):
        turn.reply(tan_request, "9380")
        return False
    today = turn.today
    following: Step | None = step
    if isinstance(step, NeedMethod):
        following = customers.answer(step.state, ChooseMethod(function), today)
    if isinstance(following, NeedMedium):
        medium = _choose_medium(following.media, tan_request.read(11).strip(), function)
        if medium is None:
            turn.reply(tan_request, "9955")
            return False
        following = customers.answer(following.state, ChooseMedium(medium.name), today)
    if not isinstance(following, NeedTan | NeedConfirmation):
        turn.reply(tan_request, "9380")
        return False
    reference = secrets.token_hex(12)
    make_room(turn.dialogue.pending)
    turn.dialogue.pending[reference] = Pending(following.state, time.monotonic() + VALID_SECONDS, order)
    turn.reply(tan_request, "0030" if isinstance(following, NeedTan) else "3955")
    turn.add(_make_challenge(tan_request, reference, following.challenge), tan_request)
    return True


def _choose_medium(media: tuple[ScaMedium, ...], name: str, function: str) -> ScaMedium | None:
    """The only one, whatever it is called: clients that know no names make one up. Otherwise the one that is named."""
    if len(media) == 1 or (not name and not must_name_medium(function)):
        return media[0]
    return next((one for one in media if one.name == name), None)


def _make_challenge(tan_request: Segment, reference: str, one: Challenge) -> Segment:
    picture: bytes | None = None
    if one.photo is not None:
        picture = b"".join(struct.pack(">H", len(part)) + part for part in (b"image/png", one.photo))
    elif one.hhd_uc is not None:
        picture = one.hhd_uc.encode("ascii")
    return make_segment("HITAN", tan_request.version, FIRST_STEP, None, reference, one.instructions, picture)


def answer(turn: Turn, customers: Customers, tan_request: Segment) -> Pending | None:
    """The second step. What was waiting, if the customer is authenticated now and there is something left to do."""
    reference = tan_request.read(5)
    waiting = turn.dialogue.pending.get(reference)
    if waiting is None:
        turn.reply(tan_request, "9951", "Zu dieser Auftragsreferenz ist keine TAN offen.")
        return None
    if tan_request.read(7) == "J":
        del turn.dialogue.pending[reference]
        turn.reply(tan_request, "0020", "Auftrag storniert.")
        return None
    if waiting.valid_until < time.monotonic():
        del turn.dialogue.pending[reference]
        turn.reply(tan_request, "9951")
        return None
    step = _ask(turn, customers, tan_request, waiting)
    match step:
        case NeedConfirmation(_, state):
            waiting.state = state
            turn.reply(tan_request, "3956")
            turn.add(make_segment("HITAN", tan_request.version, STATUS, None, reference), tan_request)
            return None
        case Failed(FailureKind.WRONG_TAN):
            _count_wrong_tan(turn, tan_request, waiting, reference)
            return None
    del turn.dialogue.pending[reference]
    turn.add(make_segment("HITAN", tan_request.version, tan_request.read(1), None, reference), tan_request)
    if step is None:
        turn.dialogue.has_fresh_sca = True
        return waiting
    report_payment(turn, tan_request, step)
    return None


def _ask(turn: Turn, customers: Customers, tan_request: Segment, waiting: Pending) -> Step | None:
    process, signature = tan_request.read(1), turn.request.signature
    if process == STATUS:
        return customers.answer(waiting.state, Poll(), turn.today)
    tan = Secret("") if signature is None or signature.tan is None else signature.tan
    return customers.answer(waiting.state, Tan(tan), turn.today)


def _count_wrong_tan(turn: Turn, tan_request: Segment, waiting: Pending, reference: str) -> None:
    """The third wrong TAN in a row ends the dialogue, and with it what it was about."""
    waiting.wrong_tans += 1
    if waiting.wrong_tans < MAX_WRONG_TANS:
        turn.reply(tan_request, "9941")
        return
    del turn.dialogue.pending[reference]
    turn.abort(tan_request, "9941", "TAN ungültig - Auftrag nach drei Fehlversuchen abgelehnt.")


def report_payment(turn: Turn, to: Segment, step: Step) -> None:
    """What became of an order that was sent."""
    match step:
        case Done(Paid(outcome)):
            turn.reply(to, "0020" if outcome is PaymentOutcome.EXECUTED else "0010", SUCCESS_TEXTS.get(outcome))
        case Failed(FailureKind.UNREACHABLE):
            raise LostAnswerError
        case Failed(_, detail):
            turn.reply(to, "9210", detail)
        case _:
            turn.reply(to, "9210")

"""What all dialogues have in common: logging in, choosing method and medium, and the customer's answers to challenges.

A dialogue's state is JSON: where it stands (`stage`), the job, the session, and what was collected so far. It holds no
PIN and no TAN. Method and medium are chosen without asking until the bank wants the customer to authenticate; then the
customer chooses where there is more than one.
"""

from datetime import timedelta

from fints.segments.base import FinTS3Segment

from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Context,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedTan,
    Poll,
    State,
    Step,
    Tan,
)
from kontor.connectors.fints.challenges import list_media, read_challenge
from kontor.connectors.fints.codes import CONFIRMATION_OPEN, CONFIRMATION_WANTED, DIALOGUE_OVER, TAN_WANTED
from kontor.connectors.fints.parameters import NO_SYSTEM_ID, Method
from kontor.connectors.fints.sessions import RefusedError, Reply, Session
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.job_state import deserialize_job
from kontor.domain.sca import Challenge, ScaMedium
from kontor.domain.secrets import Secret

CONSENT_DAYS = 180


class Dialogue:
    """One step of a dialogue; see the subclasses for what happens once the customer is logged in."""

    has_left = False  # whether an order may be on its way

    def __init__(self, session: Session, state: State, context: Context) -> None:
        self.session = session
        self.state = dict(state)
        self.context = context
        self.job = deserialize_job(state["job"])
        if "session" in state:
            session.take_up(state["session"], state["method"], state["medium"])

    # To be done by each kind

    def proceed(self) -> Step:
        """Logged in: the job itself."""
        raise NotImplementedError

    def go_on(self, stage: str, answer: Answer) -> Step:
        """An answer for a stage that is not of the login."""
        return Failed(FailureKind.REJECTED, "this answer does not fit the open step")

    def confirm(self, stage: str, reply: Reply) -> Step:
        """The bank has taken the customer's TAN, or confirmation, in a stage that is not of the login."""
        raise NotImplementedError

    # Steps

    def begin(self) -> Step:
        if self.session.parameters.system_id == NO_SYSTEM_ID:
            self.session.synchronise()
        return self.log_in()

    def resume(self, answer: Answer) -> Step:
        stage = self.state["stage"]
        match stage, answer:
            case "method", ChooseMethod(code):
                if code not in [one.code for one in self.session.parameters.list_methods()]:
                    return Failed(FailureKind.REJECTED, "unknown method")
                self.state |= {"method": code, "is_method_chosen": True, "medium": None}
                return self.log_in()
            case "medium", ChooseMedium(name):
                if name not in self.state["media"]:
                    return Failed(FailureKind.REJECTED, "unknown medium")
                self.state |= {"medium": name, "is_medium_chosen": True}
                return self.log_in()
            case _, Tan(value) if "reference" in self.state:
                return self._send_tan(stage, value)
            case _, Poll() if "reference" in self.state:
                return self._poll(stage)
        return self.go_on(stage, answer)

    def log_in(self) -> Step:
        method = self._choose_method()
        media: tuple[ScaMedium, ...] = ()
        medium = self.state.get("medium")
        if method is not None and method.needs_medium and medium is None:
            media = self._ask_media()
            medium = media[0].name if media else None
        reply = self.session.open(method, medium)
        self.state |= {"method": None if method is None else method.code, "medium": medium}
        if not reply.has(TAN_WANTED, CONFIRMATION_WANTED):
            return self.proceed()
        return self._ask_choice(media) or self.ask_customer("login", reply)

    def _choose_method(self) -> Method | None:
        methods = self.session.parameters.list_methods()
        if self.session.bank.quirks.has_one_step:
            return None
        return next((one for one in methods if one.code == self.state.get("method")), methods[0] if methods else None)

    def _ask_media(self) -> tuple[ScaMedium, ...]:
        """In a dialogue of its own, for which no medium is needed."""
        self.session.open(None, None)
        media = list_media(self.session)
        self.session.end()
        return media

    def _ask_choice(self, media: tuple[ScaMedium, ...]) -> Step | None:
        """The customer is to authenticate: by which method, on which medium? None where that is settled."""
        methods = self.session.parameters.list_methods()
        if len(methods) > 1 and not self.state.get("is_method_chosen"):
            self.session.end()
            return NeedMethod(tuple(one.shown for one in methods), self.put_aside("method"))
        if len(media) > 1 and not self.state.get("is_medium_chosen"):
            self.session.end()
            self.state |= {"medium": None, "media": [one.name for one in media]}
            return NeedMedium(media, self.put_aside("medium"))
        return None

    # Challenges

    def ask_customer(self, stage: str, reply: Reply) -> Step:
        method = self.session.method
        assert method is not None, "without a method no bank asks"
        try:
            challenge, reference, end = read_challenge(reply, method)
        except ValueError:
            raise NoResponseError("a challenge without a reference") from None
        self.state |= {"reference": reference, "instructions": challenge.instructions}
        state = self.put_aside(stage)
        if reply.has(CONFIRMATION_WANTED):
            return NeedConfirmation(challenge, state, method.poll_seconds[0], is_held=True)
        return NeedTan(challenge, state, end, is_held=True)

    def _send_tan(self, stage: str, tan: Secret) -> Step:
        if not self.may_confirm(stage):
            return Failed(FailureKind.INTERNAL)
        segment = self.session.make_tan_segment("2", reference=self.state["reference"])
        reply = self.session.send(*self.add_to_confirmation(stage), segment, tan=tan)
        try:
            self.check_confirmation(stage, reply, segment)
        except RefusedError as error:
            if error.kind is not FailureKind.WRONG_TAN or reply.has(*DIALOGUE_OVER):
                raise
            # The bank waits for another one. It has counted this message, and has what went with it.
            return Failed(error.kind, error.detail, state=self.put_aside(stage))
        return self._take(stage, reply)

    def _poll(self, stage: str) -> Step:
        if not self.may_confirm(stage):
            return Failed(FailureKind.INTERNAL)
        segment = self.session.make_tan_segment("S", reference=self.state["reference"])
        reply = self.session.send(*self.add_to_confirmation(stage), segment)
        self.check_confirmation(stage, reply, segment)
        if reply.has(CONFIRMATION_OPEN):
            method = self.session.method
            assert method is not None
            challenge = Challenge(method.name, self.state.get("instructions", ""))
            return NeedConfirmation(challenge, self.put_aside(stage), method.poll_seconds[1], is_held=True)
        return self._take(stage, reply)

    def _take(self, stage: str, reply: Reply) -> Step:
        self.state.pop("reference")
        if stage != "login":
            return self.confirm(stage, reply)
        day = self.context.today + timedelta(days=CONSENT_DAYS)
        self.state |= {"consent_until": day.isoformat(), "is_authenticated": True}
        return self.proceed()

    def may_confirm(self, stage: str) -> bool:
        """Asked before a TAN leaves."""
        return True

    def check_confirmation(self, stage: str, reply: Reply, confirmation: FinTS3Segment) -> None:
        """Raises RefusedError where the bank does not take the TAN, or what goes with it."""
        reply.refuse()

    def add_to_confirmation(self, stage: str) -> tuple[object, ...]:
        """Segments that go with the TAN."""
        return ()

    # Putting it aside

    def put_aside(self, stage: str) -> State:
        kept = {"session": self.session.serialize(), "knowledge": self.session.parameters.serialize()}
        return self.state | kept | {"stage": stage}

    def remember(self) -> State:
        """For the next dialogue of the same access."""
        return {
            "knowledge": self.session.parameters.serialize(),
            "method": self.state.get("method"),
            "medium": self.state.get("medium"),
            "consent_until": self.state.get("consent_until"),
        }

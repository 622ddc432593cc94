"""What all dialogues have in common: logging in, choosing method and medium, and the customer's answers to challenges.

A dialogue's state is JSON: where it stands (`stage`), the job, the session, and what was collected so far. It holds no
PIN and no TAN. Method and medium are chosen without asking until the bank wants the customer to authenticate; then the
customer chooses where there is more than one. Methods that reach the customer's phone are chosen before the bank is
asked, so that the phone rings once.
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
    Fetch,
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
from kontor.connectors.fints.codes import (
    CHALLENGE_REFUSED,
    CONFIRMATION_OPEN,
    CONFIRMATION_WANTED,
    DEVICE_UNKNOWN,
    DIALOGUE_OVER,
    METHOD_REFUSED,
    NEW_SYSTEM_ID_WANTED,
    TAN_WANTED,
)
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
    _is_synchronised = False  # in this step
    _needs_customer = False  # who is not there
    _was_refused = False  # an order that was sent in this step, because of its method

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
            self._is_synchronised = True
        return self.log_in()

    def resume(self, answer: Answer) -> Step:
        stage = self.state["stage"]
        match stage, answer:
            case "method", ChooseMethod(code):
                if code not in [method.code for method in self._list_methods()]:
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
        if isinstance(method, NeedMethod):
            return method
        media: tuple[ScaMedium, ...] = ()
        medium = self.state.get("medium")
        if method is not None and method.needs_medium and medium is None:
            media = self._ask_media()
            if len(media) > 1 and self._is_attended and not method.is_silent:
                self.state |= {"method": method.code, "is_method_chosen": True}
                return self.ask_medium(media)
            medium = media[0].name if media else None
        try:
            reply = self.session.open(method, medium)
        except RefusedError as error:
            if method is None or not self._adapt(error, method):
                raise
            return self.log_in()
        self.state |= {"method": None if method is None else method.code, "medium": medium}
        if not reply.has(TAN_WANTED, CONFIRMATION_WANTED):
            return self.proceed()
        return self._ask_choice(media) or self.ask_customer("login", reply)

    def _adapt(self, error: RefusedError, method: Method) -> bool:
        """Whether to log in again: the bank no longer knows the device, serves the method or knows the system."""
        state, parameters = self.state, self.session.parameters
        if error.is_about_pin:
            return False
        if DEVICE_UNKNOWN in error.codes and state.get("medium") is not None:
            state["medium"] = None
        elif error.codes & METHOD_REFUSED:
            state["refused_methods"] = [*state.get("refused_methods", ()), method.code]
            state |= {"method": None, "is_method_chosen": False, "medium": None}
            if not self._list_methods():
                return False
        elif NEW_SYSTEM_ID_WANTED in error.codes and not self._is_synchronised:
            parameters.system_id, self._is_synchronised = NO_SYSTEM_ID, True
            self.session.end()
            self.session.synchronise()
        else:
            return False
        self._needs_customer = bool(error.codes & CHALLENGE_REFUSED) and not self._is_attended
        self.session.end()
        return True

    def change_method(self, error: RefusedError) -> Step:
        """Logged in, but the bank no longer serves the method: again by another one. Raises the error if it may be.

        What was sent with the method the bank has refused as a whole.
        """
        method = self.session.method
        if method is None or not error.codes & METHOD_REFUSED or not self._adapt(error, method):
            raise error
        return self.log_in()

    # Choosing method and medium

    @property
    def _is_attended(self) -> bool:
        return self.context.customer_ip is not None

    def _list_methods(self) -> list[Method]:
        """Without those that the bank has refused in this dialogue."""
        refused = self.state.get("refused_methods", ())
        return [method for method in self.session.parameters.list_methods() if method.code not in refused]

    def _choose_method(self) -> Method | NeedMethod | None:
        """What to log in with. Where each method would reach the customer's phone, the customer is asked before."""
        if self.session.bank.quirks.has_one_step:
            return None
        methods = self._list_methods()
        known = next((method for method in methods if method.code == self.state.get("method")), None)
        if len(methods) > 1 and self._is_attended and not self.state.get("is_method_chosen"):
            known = self._find_unasked_method(methods, known)
            if known is None:
                return self._ask_method(methods)
        choice = known or (methods[0] if methods else None)
        if self._needs_customer and choice is not None and not choice.is_silent:
            return self._ask_method(methods)
        return choice

    def _find_unasked_method(self, methods: list[Method], known: Method | None) -> Method | None:
        """The method used before, or one by which a fetch finds out whether the bank asks. None: ask the customer."""
        is_renewal = isinstance(self.job, Fetch) and self.job.is_renewal
        if known is not None and (known.is_silent or not is_renewal):
            return known
        if known is not None or not isinstance(self.job, Fetch):
            return None
        return next((method for method in methods if method.is_silent), None)

    def _ask_method(self, methods: list[Method]) -> NeedMethod:
        shown = tuple(method.shown for method in methods)
        return NeedMethod(shown, self._put_aside_choice("method"), is_held=self._was_refused)

    def _ask_media(self) -> tuple[ScaMedium, ...]:
        """In a dialogue of its own, for which no medium is needed."""
        self.session.open(None, None)
        media = list_media(self.session)
        self.session.end()
        return media

    def _ask_choice(self, media: tuple[ScaMedium, ...]) -> Step | None:
        """The customer is to authenticate: by which method, on which medium? None where that is settled.

        It is settled as well where the customer's phone has rung: to ask would make it ring again.
        """
        methods, method = self._list_methods(), self.session.method
        if self._is_attended and method is not None and not method.is_silent:
            return None
        if len(methods) > 1 and not self.state.get("is_method_chosen"):
            self.session.end()
            return self._ask_method(methods)
        if len(media) > 1 and not self.state.get("is_medium_chosen"):
            self.session.end()
            return self.ask_medium(media)
        return None

    def ask_medium(self, media: tuple[ScaMedium, ...]) -> NeedMedium:
        self.state |= {"medium": None, "media": [medium.name for medium in media]}
        return NeedMedium(media, self._put_aside_choice("medium"), is_held=self._was_refused)

    def _put_aside_choice(self, stage: str) -> State:
        """Before the first login there may be no method and no medium yet."""
        self.state = {"method": None, "medium": None} | self.state
        return self.put_aside(stage)

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
        if reply.has(CONFIRMATION_WANTED) or (method.is_decoupled and not reply.has(TAN_WANTED)):
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
        if reply.has(*CONFIRMATION_OPEN):
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
            "asks_again": self.state.get("asks_again", False),
        }

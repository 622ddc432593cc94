"""A dialogue with a bank: signed messages, one after the other. It can be put aside as JSON and taken up elsewhere."""

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fints.exceptions import FinTSError
from fints.formals import (
    BankIdentifier,
    Language2,
    SecurityMethod,
    SecurityProfile,
    SynchronizationMode,
    SystemIDStatus,
)
from fints.message import FinTSCustomerMessage, FinTSInstituteMessage
from fints.parser import FinTSParserWarning
from fints.security import PinTanAuthenticationMechanism, PinTanDummyEncryptionMechanism
from fints.segments.auth import HKIDN2, HKTAN6, HKTAN7, HKVVB3
from fints.segments.base import FinTS3Segment
from fints.segments.dialog import HIRMG2, HIRMS2, HISYN4, HKEND1, HKSYN3
from fints.segments.message import HNHBK3, HNHBS1

from kontor.connectors.base import FailureKind, State
from kontor.connectors.fints.amounts import accept_amounts
from kontor.connectors.fints.codes import ABORTED, PIN_REFUSED, Code, find_failure
from kontor.connectors.fints.parameters import ONE_STEP, BankParameters, Method
from kontor.connectors.fints.parsing import MAX_STRUCTURE_BYTES, measure_structure, patch_fints_parser
from kontor.connectors.fints.quirks import FintsBank
from kontor.connectors.fints.tolerances import accept_odd_segments, accept_undated_balances
from kontor.connectors.fints.transport import HttpTransport, NoResponseError
from kontor.domain.secrets import Secret

# The parser warns where it meets what it does not know, and goes on; so do we.
warnings.filterwarnings("ignore", category=FinTSParserWarning)
accept_amounts()
patch_fints_parser()
accept_undated_balances()
accept_odd_segments()

GERMANY = "280"
NO_DIALOGUE = "0"
MAX_SECRET_LENGTH = 99
MIN_HIDDEN_LENGTH = 4
TAN_SEGMENTS = {6: HKTAN6, 7: HKTAN7}
# All that the library's reader raises on messages that are none.
MALFORMED = (FinTSError, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError)


class RefusedError(Exception):
    """The bank said no, with these return codes."""

    def __init__(self, kind: FailureKind, detail: str | None = None, codes: frozenset[str] = frozenset()) -> None:
        super().__init__(kind)
        self.kind, self.detail, self.codes = kind, detail, codes

    @property
    def is_about_pin(self) -> bool:
        """Nothing may be sent after it: the customer has to enter a PIN first."""
        return self.kind in PIN_REFUSED


class Reply:
    """A bank's message, read."""

    def __init__(self, message: FinTSInstituteMessage, pin: str) -> None:
        """Should a bank repeat the PIN in what it says, nobody gets to see it."""
        self.message = message
        hide = (pin, "***") if len(pin) >= MIN_HIDDEN_LENGTH else ("\0", "")
        self.codes = tuple(replace(code, text=code.text.replace(*hide)) for code in _list_codes(message))

    def find(self, name: str) -> Any | None:
        return self.message.find_segment_first(name)

    def list(self, name: str) -> list[Any]:
        return list(self.message.find_segments(name))

    def has(self, *codes: str) -> bool:
        return any(code.code in codes for code in self.codes)

    def refuse(self, *, is_login: bool = False) -> "Reply":
        """Raises RefusedError where the bank reports an error."""
        failure = find_failure(self.codes, is_login=is_login)
        if failure is not None:
            raise RefusedError(*failure, frozenset(code.code for code in self.codes))
        return self


class _Signature(PinTanAuthenticationMechanism):  # type: ignore[misc]  # python-fints has no types
    def __init__(self, pin: str, function: str, tan: str | None) -> None:
        super().__init__(pin)
        self.security_function = function
        self._tan = tan

    def sign_prepare(self, message: FinTSCustomerMessage) -> None:
        """The library always names version 1 of the profile. Strict banks expect that of the method."""
        super().sign_prepare(message)
        version = find_profile_version(self.security_function)
        self.pending_signature.security_profile = SecurityProfile(SecurityMethod.PIN, version)

    def _get_tan(self) -> str | None:
        return self._tan


def find_profile_version(function: str) -> int:
    return 1 if function == ONE_STEP else 2


class Session:
    """`client` and `user_id`, `bank_identifier`, `system_id` are what python-fints asks a dialogue for."""

    def __init__(
        self,
        transport: HttpTransport,
        bank: FintsBank,
        login: str,
        pin: Secret,
        product: str,
        parameters: BankParameters,
    ) -> None:
        self._transport = transport
        self._pin = pin
        self._product = product
        self.bank = bank
        self.parameters = parameters
        self.user_id = login
        self.bank_identifier = BankIdentifier(GERMANY, bank.bank_code)
        self.method: Method | None = None
        self.medium: str | None = None
        self.dialog_id = NO_DIALOGUE
        self.number = 1
        self._refusal: RefusedError | None = None

    @property
    def client(self) -> "Session":
        return self

    @property
    def system_id(self) -> str:
        return self.parameters.system_id

    @property
    def is_open(self) -> bool:
        return self.dialog_id != NO_DIALOGUE

    # Life

    def synchronise(self) -> None:
        """Get a system id, the parameters, and the methods of this customer."""
        reply = self._log_in(*self._identify(), HKSYN3(SynchronizationMode.NEW_SYSTEM_ID))
        answer = reply.message.find_segment_first(HISYN4)
        if answer is None or not answer.system_id:
            raise NoResponseError("no system id")
        self.end()
        self.parameters.system_id = answer.system_id

    def open(self, method: Method | None, medium: str | None) -> Reply:
        """Log in. The bank may ask for a TAN at once."""
        self.method, self.medium = method, medium
        segments = self._identify()
        if method is not None:
            segments.append(self.make_tan_segment("4", "HKIDN"))
        return self._log_in(*segments)

    def _log_in(self, *segments: FinTS3Segment) -> Reply:
        try:
            return self.send(*segments).refuse(is_login=True)
        except RefusedError as error:
            if error.is_about_pin:
                self._refusal = error
            raise

    def end(self) -> None:
        """Say goodbye, unless the bank has refused the PIN. Whether it has heard is of no importance."""
        if self.is_open and self._refusal is None:
            with suppress(NoResponseError):
                self.send(HKEND1(self.dialog_id))
        self.dialog_id, self.number = NO_DIALOGUE, 1

    def _identify(self) -> list[FinTS3Segment]:
        return [
            HKIDN2(self.bank_identifier, self.user_id, self.system_id, SystemIDStatus.ID_NECESSARY),
            HKVVB3(self.parameters.bank_version, self.parameters.user_version, Language2.DE, self._product[:25], "1.0"),
        ]

    # Messages

    def send(self, *segments: FinTS3Segment, tan: Secret | None = None) -> Reply:
        """Every message carries the PIN: after the bank has refused it, none leaves."""
        if self._refusal is not None:
            raise self._refusal
        _refuse_foreign(self.user_id, FailureKind.WRONG_CREDENTIALS)
        _refuse_foreign(self._pin.reveal(), FailureKind.WRONG_CREDENTIALS)
        if tan is not None:
            _refuse_foreign(tan.reveal(), FailureKind.WRONG_TAN)
        function = ONE_STEP if self.method is None else self.method.code
        signature = _Signature(self._pin.reveal(), function, None if tan is None else tan.reveal())
        message = FinTSCustomerMessage(self)
        message += HNHBK3(0, 300, self.dialog_id, self.number)
        signature.sign_prepare(message)
        for segment in segments:
            message += segment
        signature.sign_commit(message)
        message += HNHBS1(self.number)
        PinTanDummyEncryptionMechanism(find_profile_version(function)).encrypt(message)
        answer = self._transport.exchange(_note_size(message.render_bytes()))
        self.number += 1
        reply = self._read(answer, self.number - 1)
        failure = find_failure(reply.codes, is_login=False)
        if failure is not None and failure[0] in PIN_REFUSED:
            self._refusal = RefusedError(*failure)
        if reply.has(ABORTED):
            self.dialog_id, self.number = NO_DIALOGUE, 1
        return reply

    def _read(self, answer: bytes, number: int) -> Reply:
        if measure_structure(answer) > MAX_STRUCTURE_BYTES:
            raise NoResponseError("the answer has too many parts")
        try:
            reply = Reply(FinTSInstituteMessage(segments=answer), self._pin.reveal())
            head = reply.message.find_segment_first(HNHBK3)
            self.parameters.update_from(reply.message, reply.codes)
        except MALFORMED as error:
            raise NoResponseError(f"unreadable: {type(error).__name__}") from None
        if head is None or not reply.codes:
            raise NoResponseError("not a FinTS message")
        if _answers_another(head, number):
            raise NoResponseError("an answer to another message")
        if not self.is_open:
            self.dialog_id = head.dialog_id
        return reply

    def make_tan_segment(self, process: str, command: str = "", reference: str = "") -> FinTS3Segment:
        """Process 4 announces an order, 2 brings its TAN, S asks whether it was confirmed in the app."""
        assert self.method is not None
        segment = TAN_SEGMENTS[self.method.version](tan_process=process)
        if process == "4":
            segment.segment_type = command
            if self.method.needs_medium:
                segment.tan_medium_name = self.medium or ""
        else:
            segment.task_reference = reference
            segment.further_tan_follows = False
        return segment

    # Putting it aside

    def serialize(self) -> State:
        return {"dialogue": self.dialog_id if self.is_open else None, "number": self.number}

    def take_up(self, values: State, method: str | None, medium: str | None) -> None:
        """With the method and the medium that it was opened with."""
        self.dialog_id, self.number = values["dialogue"] or NO_DIALOGUE, values["number"]
        self.method = next(
            (candidate for candidate in self.parameters.list_methods() if candidate.code == method), None
        )
        self.medium = medium


def _note_size(message: bytes) -> bytes:
    """The size stands in the head, in twelve digits whatever it is."""
    return message.replace(b"+000000000000+", b"+%012d+" % len(message), 1)


def _refuse_foreign(text: str, kind: FailureKind) -> None:
    """FinTS has one character set; what is not in it cannot be right."""
    if (
        not text
        or any(ord(character) < 32 or ord(character) > 255 for character in text)
        or len(text) > MAX_SECRET_LENGTH
    ):
        raise RefusedError(kind)


def _answers_another(head: HNHBK3, number: int) -> bool:
    """Does the head name another message than the one that was sent, in both places where it names one?"""
    reference = head.reference_message
    named = None if reference is None else reference.message_number
    return bool(named) and head.message_number != number and named != number


def _list_codes(message: FinTSInstituteMessage) -> list[Code]:
    codes = []
    for segment in message.find_segments([HIRMG2, HIRMS2]):
        reference = segment.header.reference
        for response in segment.responses:
            parameters = tuple(str(parameter) for parameter in response.parameters if parameter is not None)
            codes.append(Code(response.code, response.text or "", parameters, reference))
    return codes

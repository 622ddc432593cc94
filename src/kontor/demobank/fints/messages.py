"""Messages: what surrounds the segments of a dialogue. PIN/TAN knows no keys: TLS protects the connection, and the
segments for encryption and signature only carry the user, the security function, the PIN and the TAN."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kontor.demobank.fints.segments import (
    Segment,
    WireError,
    make_segment,
    number_segments,
    parse_segments,
    write_segments,
)
from kontor.domain.secrets import Secret

FINTS_VERSION = "300"
COUNTRY = "280"
ONE_STEP = "999"
_HEAD_BYTES = 12


@dataclass(frozen=True, slots=True)
class Signature:
    """Who sent the message. `security_function` is the method chosen for authentication, 999 for none.

    `profiles` are the versions of the security profile in the signature and in the envelope.
    """

    security_function: str
    reference: str
    system_id: str
    login: str
    pin: Secret
    tan: Secret | None
    profiles: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """Without a signature it is an anonymous one. `segments` are what is asked for, without the envelope."""

    dialogue_id: str
    number: int
    segments: tuple[Segment, ...]
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class Envelope:
    """What of a request shapes the answer."""

    dialogue_id: str = "0"
    number: int = 1
    signature: Signature | None = None


def read_request(data: bytes) -> Request:
    outer = parse_segments(data)
    if len(outer) < 3 or outer[0].code != "HNHBK" or outer[-1].code != "HNHBS":
        raise WireError("9110", "the message has no head or no end")
    head = outer[0]
    if head.version != 3 or head.read(2) != FINTS_VERSION:
        raise WireError("9010", "only FinTS 3.0 is spoken here")
    if not head.read(1).isdecimal() or int(head.read(1)) != len(data):
        raise WireError("9110", "the message is not as long as it says")
    dialogue_id, number = head.read(3), _read_number(head.read(4))
    # The end repeats the number, but lib-fints forgets to count it up when it asks for the next page.
    _read_number(outer[-1].read(1))
    inner, signature = outer[1:-1], None
    if inner[0].code == "HNVSK":
        envelope_profile = inner[0].read(1, 1)
        inner, signature = _take_signature(_open_envelope(inner), envelope_profile)
    _refuse_disorder([head, *inner, outer[-1]], is_signed=signature is not None)
    return Request(dialogue_id, number, tuple(inner), signature)


def _read_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) <= 4:
        raise WireError("9120", "the message has no number")
    return int(text)


def _open_envelope(segments: list[Segment]) -> list[Segment]:
    if [segment.code for segment in segments] != ["HNVSK", "HNVSD"]:
        raise WireError("9110", "the envelope is incomplete")
    if segments[0].read(1) != "PIN":
        raise WireError("9010", "only PIN/TAN is spoken here")
    inner = parse_segments(segments[1].read_binary(1))
    if len(inner) < 3:
        raise WireError("9110", "the envelope is empty")
    return inner


def _take_signature(segments: list[Segment], envelope_profile: str) -> tuple[list[Segment], Signature]:
    first, last = segments[0], segments[-1]
    if first.code != "HNSHK" or last.code != "HNSHA" or first.read(3) != last.read(1):
        raise WireError("9340", "the message is not signed")
    signature = Signature(
        security_function=first.read(2),
        reference=first.read(3),
        system_id=first.read(6, 2),
        login=first.read(11, 2),
        pin=Secret(last.read(3, 0)),
        tan=Secret(last.read(3, 1)) if last.read(3, 1) else None,
        profiles=(first.read(1, 1), envelope_profile),
    )
    return segments[1:-1], signature


def _refuse_disorder(segments: Sequence[Segment], *, is_signed: bool) -> None:
    """Numbers rise by one; a signature's two segments have been taken out."""
    numbers = [segment.number for segment in segments]
    expected = list(range(1, len(segments) + 1))
    if is_signed:
        expected = [1, *range(3, len(segments) + 1), len(segments) + 2]
    if numbers != expected:
        raise WireError("9110", "the segments are not numbered in order")


def write_response(
    envelope: Envelope, dialogue_id: str, segments: Sequence[Segment], bank_code: str, now: datetime
) -> bytes:
    """The answer, wrapped like the request was."""
    signature = envelope.signature
    if signature is None:
        return _frame(envelope, dialogue_id, write_segments(number_segments(segments, 2)), len(segments) + 2)
    key = (COUNTRY, bank_code, signature.login)
    moment = (1, now.date(), now.time())
    sender = (2, None, signature.system_id)
    head = make_segment(
        "HNSHK",
        4,
        ("PIN", 1),
        signature.security_function,
        signature.reference,
        1,
        1,
        sender,
        1,
        moment,
        (1, 999, 1),
        (6, 10, 16),
        (*key, "S", 0, 0),
    )
    inner = number_segments([head, *segments, make_segment("HNSHA", 2, signature.reference)], 2)
    hidden = make_segment(
        "HNVSK", 3, ("PIN", 1), 998, 1, sender, moment, (2, 2, 13, b"00000000", 5, 1), (*key, "V", 0, 0), 0
    )
    shell = make_segment("HNVSD", 1, write_segments(inner))
    body = write_segments([replace(hidden, number=998), replace(shell, number=999)])
    return _frame(envelope, dialogue_id, body, len(inner) + 2)


def _frame(envelope: Envelope, dialogue_id: str, body: bytes, last: int) -> bytes:
    answered = (dialogue_id, envelope.number)
    head = make_segment("HNHBK", 3, "0" * _HEAD_BYTES, FINTS_VERSION, dialogue_id, envelope.number, answered)
    end = write_segments([replace(make_segment("HNHBS", 1, envelope.number), number=last)])
    first = replace(head, number=1)
    length = len(write_segments([first])) + len(body) + len(end)
    sized = replace(first, elements=((f"{length:0{_HEAD_BYTES}d}",), *first.elements[1:]))
    return write_segments([sized]) + body + end

"""What a bank asks its customer, fit to be shown: text, flicker code, image. And the devices it may be asked on."""

import base64
import binascii
import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

from fints.formals import TANMediaType2
from fints.segments.auth import HKTAB4, HKTAB5

from kontor.connectors.fints.codes import CONFIRMATION_WANTED, NO_TAN_NEEDED, TAN_WANTED
from kontor.connectors.fints.parameters import Method
from kontor.connectors.fints.sessions import MALFORMED, Reply, Session
from kontor.domain.clocks import BERLIN
from kontor.domain.sca import Challenge, MediumClass, ScaMedium, find_start_code

MAX_TEXT_LENGTH = 4096
FIRST_STEP, NO_REFERENCE = "4", "noref"
FLICKER_PREFIX, TEXT_PREFIX = "CHLGUC  ", "CHLGTEXT"
MEDIA_VERSIONS = (4, 5)
_BREAKS = re.compile(r"<\s*(br|/p|/li)\s*/?\s*>", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]{0,200}>")
_CLASSES = {
    "L": MediumClass.LIST,
    "G": MediumClass.GENERATOR,
    "M": MediumClass.MOBILE,
    "S": MediumClass.SECODER,
    "B": MediumClass.PUSH,
}


def is_challenge(reply: Reply) -> bool:
    """Does the bank ask its customer? Some say so by the challenge alone, without a return code."""
    if reply.has(TAN_WANTED, CONFIRMATION_WANTED):
        return True
    segment = reply.find("HITAN")
    if segment is None or reply.has(NO_TAN_NEEDED):
        return False
    return segment.tan_process == FIRST_STEP and (segment.task_reference or NO_REFERENCE) != NO_REFERENCE


def read_challenge(reply: Reply, method: Method) -> tuple[Challenge, str, datetime | None]:
    """The challenge, the bank's reference to the order, and until when it is valid."""
    segment = reply.find("HITAN")
    if segment is None or not segment.task_reference:
        raise ValueError("no challenge")
    text = segment.challenge or ""
    data = getattr(segment, "challenge_hhduc", None) or b""
    image = _find_image(data)
    flicker = data.decode("ascii", "replace").strip() if image is None and data else None
    if text.startswith(FLICKER_PREFIX) and text[8:12].isdigit():
        end = 12 + int(text[8:12])
        code, text = text[12:end], text[end:]
        flicker, image = (None, _decode(code)) if code.startswith("iVBO") else (code, None)
    if text.startswith(TEXT_PREFIX):
        text = text[12:]
    start_code = None if flicker is None else find_start_code(flicker)
    challenge = Challenge(method.name, clean_text(text), hhd=start_code, hhd_uc=flicker, photo=image)
    return challenge, segment.task_reference, _read_end(segment)


def clean_text(text: str) -> str:
    """Banks send simple HTML; what is shown is text."""
    plain = unescape(_TAGS.sub("", _BREAKS.sub("\n", text[:MAX_TEXT_LENGTH])))
    return "\n".join(line.strip() for line in plain.splitlines() if line.strip())


def _find_image(data: bytes) -> bytes | None:
    """A kind and an image, each after its length in two bytes."""
    if len(data) < 4:
        return None
    size = int.from_bytes(data[:2])
    kind = data[2 : 2 + size]
    if not kind.startswith(b"image/"):
        return None
    rest = data[2 + size :]
    return rest[2 : 2 + int.from_bytes(rest[:2])]


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def _read_end(segment: Any) -> datetime | None:
    end = getattr(segment, "challenge_valid_until", None)
    if end is None or end.date is None or end.time is None:
        return None
    return datetime.combine(end.date, end.time, BERLIN).astimezone(UTC)


def list_media(session: Session) -> tuple[ScaMedium, ...]:
    """The customer's devices and lists; empty where the bank tells none."""
    version = session.parameters.find_newest("HKTAB", MEDIA_VERSIONS)
    if version is None:
        return ()
    segment = {4: HKTAB4, 5: HKTAB5}[version](tan_media_type=TANMediaType2.ALL, tan_media_class="A")
    reply = session.send(segment)
    answer = reply.find("HITAB")
    if answer is None:
        return ()
    try:
        listed = [_read_medium(medium) for medium in answer.tan_media_list]
    except MALFORMED:
        return ()
    return tuple(medium for medium in listed if medium.name)


def _read_medium(medium: Any) -> ScaMedium:
    letter = medium.tan_medium_class.value if medium.tan_medium_class is not None else "M"
    name = medium.tan_medium_name or medium.mobile_number_masked or medium.card_number or medium.tan_list_number or ""
    return ScaMedium(
        str(name), _CLASSES.get(letter, MediumClass.MOBILE), _begin_of(medium.valid_from), _begin_of(medium.valid_until)
    )


def _begin_of(day: Any) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)

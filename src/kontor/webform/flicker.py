"""From a chipTAN challenge (HHD_UC) to the flicker code: the half-bytes that a TAN generator reads off the screen.

A challenge has a length (three digits since HHD 1.4, two before), a start code and up to three data elements, each
with its own length. The flicker code has the same parts in another encoding: digits as BCD, everything else as ASCII,
then a Luhn checksum over the data and an XOR checksum over all.
"""

import re
from dataclasses import dataclass, field

_LENGTH = 0x1F  # the lower bits of a length byte; the upper ones say how the data is encoded
_HAS_CONTROL = 0x80
_IS_ASCII = 0x40
_MAX_CONTROL_BYTES = 10
_FREE_TEXT = re.compile(r"CHLGUC.{5}(.*)CHLGTEXT", re.DOTALL)  # HHD 1.3 inside the text for the user


@dataclass(frozen=True, slots=True)
class _Element:
    data: str
    is_old: bool = False
    control: tuple[int, ...] = field(default=())

    @property
    def is_number(self) -> bool:
        return self.data.isascii() and self.data.isdigit()

    def encode(self) -> str:
        if self.is_number:
            return self.data + "F" * (len(self.data) % 2)
        return self.data.encode("latin-1").hex().upper()

    def encode_length(self) -> str:
        length = len(self.encode()) // 2
        if not self.is_number:
            if self.is_old:
                return f"1{length:X}"
            length += _IS_ASCII
        return f"{length + (_HAS_CONTROL if self.control else 0):02X}"


def make_flicker_code(challenge: str) -> str | None:
    """The code in hexadecimal digits; None when the challenge cannot be read."""
    text = _clean(challenge)
    for length_digits, element_digits in ((3, 2), (3, 3), (2, 2)):
        try:
            elements = _parse(text, length_digits, element_digits)
            return _render(elements)
        except ValueError:
            continue
    return None


def make_frames(code: str) -> list[str]:
    """What the five bars show, one frame after the other: the clock first, then the bits of a half-byte."""
    swapped = "".join(code[at + 1] + code[at] for at in range(0, len(code), 2))
    frames = ["10000", "00000", "11111", "01111", "11111", "01111", "11111"]
    for digit in swapped:
        bits = f"{int(digit, 16):04b}"[::-1]
        frames += [f"1{bits}", f"0{bits}"]
    return frames


def _clean(challenge: str) -> str:
    text = challenge
    if text.startswith("@"):
        text = text[text.index("@", 1) + 1 :] if "@" in text[1:] else ""
    text = re.sub(r"\s", "", text)
    match = _FREE_TEXT.search(text)
    return f"0{match[1]}" if match else text


def _parse(text: str, length_digits: int, element_digits: int) -> list[_Element]:
    if len(text) < length_digits + _number(text[:length_digits]):
        raise ValueError("the challenge is shorter than it says")
    start, text = _parse_start(text[length_digits:])
    elements = [start]
    for _ in range(3):
        if not text:
            break
        length = _number(text[:element_digits]) & _LENGTH
        data, text = text[element_digits : element_digits + length], text[element_digits + length :]
        elements.append(_Element(data, start.is_old))
    return elements


def _parse_start(text: str) -> tuple[_Element, str]:
    length, text = int(text[:2], 16), text[2:]
    control: list[int] = []
    if length & _HAS_CONTROL:
        while len(control) < _MAX_CONTROL_BYTES:
            control.append(int(text[:2], 16))
            text = text[2:]
            if not control[-1] & _HAS_CONTROL:
                break
    data = text[: length & _LENGTH]
    return _Element(data, not control, tuple(control)), text[length & _LENGTH :]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("a length must be a number")
    return int(text)


def _render(elements: list[_Element]) -> str:
    control = "".join(f"{byte:02X}" for byte in elements[0].control)
    parts = [elements[0].encode_length(), control, elements[0].encode()]
    for element in elements[1:]:
        parts += [element.encode_length(), element.encode()]
    body = "".join(parts)
    payload = f"{(len(body) + 2) // 2:02X}{body}"
    return f"{payload}{_luhn(control + ''.join(element.encode() for element in elements))}{_xor(payload)}"


def _luhn(data: str) -> str:
    total = 0
    for at in range(0, len(data), 2):
        doubled = 2 * int(data[at + 1], 16)
        total += int(data[at], 16) + doubled // 10 + doubled % 10
    return str(-total % 10)


def _xor(payload: str) -> str:
    total = 0
    for digit in payload:
        total ^= int(digit, 16)
    return f"{total:X}"

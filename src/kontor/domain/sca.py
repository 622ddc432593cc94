"""Strong customer authentication: methods, media and challenges, as a bank offers them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class MediumClass(StrEnum):
    LIST = "LIST"
    GENERATOR = "GENERATOR"
    MOBILE = "MOBILE"
    SECODER = "SECODER"
    PUSH = "PUSH"


@dataclass(frozen=True, slots=True)
class ScaMethod:
    """A security method. `code` is the bank's key for it (in FinTS the security function, such as 923)."""

    code: str
    name: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ScaMedium:
    name: str
    medium_class: MediumClass
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Challenge:
    """What the user is shown. `hhd_uc` drives a flicker graphic, `hhd` is its start code; `photo` is an image."""

    method_name: str
    instructions: str
    hhd: str | None = None
    hhd_uc: str | None = None
    photo: bytes | None = None


def find_start_code(hhd_uc: str) -> str | None:
    """What a customer types into a TAN generator that cannot read the graphic; None where the challenge has none.

    A challenge begins with its length in three digits or two, the length of the start code and control bytes, which
    the highest bit of the byte before announces.
    """
    for digits in (3, 2):
        length, rest = hhd_uc[:digits], hhd_uc[digits:]
        if not (length.isascii() and length.isdigit()) or int(length) != len(rest):
            continue
        try:
            size = int(rest[:2], 16)
            place, control = 2, size
            while control & 0x80:
                control = int(rest[place : place + 2], 16)
                place += 2
        except ValueError:
            continue
        code = rest[place : place + (size & 0x1F)]
        if code.isascii() and code.isdigit():
            return code
    return None

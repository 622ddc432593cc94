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
    """What the user is shown. `hhd` and `hhd_uc` drive a flicker graphic, `photo` is an image."""

    method_name: str
    instructions: str
    hhd: str | None = None
    hhd_uc: str | None = None
    photo: bytes | None = None

"""What a bank has told about itself and its customer, kept for the next dialogue: parameters, methods, system id."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fints.formals import DescriptionRequired
from fints.message import FinTSInstituteMessage
from fints.segments.bank import HIBPA3, HIUPA4
from fints.types import SegmentSequence

from kontor.connectors.base import State
from kontor.connectors.fints.codes import METHODS, Code
from kontor.domain.sca import ScaMethod

NO_SYSTEM_ID = "0"
ONE_STEP = "999"
TAN_VERSIONS = (7, 6)


@dataclass(frozen=True, slots=True)
class Method:
    """A way to authenticate that the bank offers this customer. `version` is that of the TAN segments it goes with."""

    code: str
    name: str
    version: int
    needs_medium: bool
    poll_seconds: tuple[int, int]

    @property
    def shown(self) -> ScaMethod:
        return ScaMethod(self.code, self.name)


@dataclass(slots=True)
class BankParameters:
    system_id: str = NO_SYSTEM_ID
    bank_version: int = 0
    bank_parameters: SegmentSequence = field(default_factory=SegmentSequence)
    user_version: int = 0
    user_parameters: SegmentSequence = field(default_factory=SegmentSequence)
    functions: list[str] = field(default_factory=list)

    def update_from(self, message: FinTSInstituteMessage, codes: Iterable[Code]) -> None:
        bank = message.find_segment_first(HIBPA3)
        if bank is not None:
            self.bank_version = bank.bpd_version
            self.bank_parameters = SegmentSequence(list(message.find_segments(callback=_is_parameter)))
        user = message.find_segment_first(HIUPA4)
        if user is not None:
            self.user_version = user.upd_version
            self.user_parameters = SegmentSequence(list(message.find_segments("HIUPD")))
        for one in codes:
            if one.code == METHODS:
                self.functions = list(one.parameters)

    # What follows from it

    def list_methods(self) -> list[Method]:
        """Two-step methods of this customer, in the bank's order; each with the newest segments that know it."""
        found: dict[str, Method] = {}
        for version in TAN_VERSIONS:
            for segment in self.bank_parameters.find_segments("HITANS", version):
                for one in segment.parameter.twostep_parameters:
                    if one.security_function in self.functions and one.tan_process == "2":
                        found.setdefault(one.security_function, _read_method(one, version))
        return [found[one] for one in self.functions if one in found]

    def find_newest(self, command: str, versions: Iterable[int]) -> int | None:
        """The newest of these versions that the bank has of a business, such as HKSAL."""
        name = f"{command[0]}I{command[2:]}S"
        offered = {one.header.version for one in self.bank_parameters.find_segments(name)}
        return max(offered.intersection(versions), default=None)

    def find_parameter(self, command: str) -> Any:
        return self.bank_parameters.find_segment_first(f"{command[0]}I{command[2:]}S")

    def needs_tan(self, command: str) -> bool:
        pins = self.bank_parameters.find_segment_first("HIPINS")
        if pins is None:
            return False
        return any(one.transaction == command and one.tan_required for one in pins.parameter.transaction_tans_required)

    def list_accounts(self) -> list[Any]:
        return list(self.user_parameters.find_segments("HIUPD"))

    # Keeping it

    def serialize(self) -> State:
        return {
            "system_id": self.system_id,
            "bank_version": self.bank_version,
            "bank": _write(self.bank_parameters),
            "user_version": self.user_version,
            "user": _write(self.user_parameters),
            "functions": self.functions,
        }

    @classmethod
    def deserialize(cls, values: State | None) -> "BankParameters":
        if not values:
            return cls()
        return cls(
            values["system_id"],
            values["bank_version"],
            _read(values["bank"]),
            values["user_version"],
            _read(values["user"]),
            list(values["functions"]),
        )


def _is_parameter(segment: Any) -> bool:
    name = segment.header.type
    return len(name) == 6 and name[1] == "I" and name[5] == "S"


def _write(segments: SegmentSequence) -> str:
    return base64.b64encode(segments.render_bytes()).decode() if segments.segments else ""


@lru_cache(maxsize=32)
def _read(text: str) -> SegmentSequence:
    """Kept, since reading is dear and a bank's parameters are the same for all its customers. Nobody changes them."""
    return SegmentSequence(base64.b64decode(text)) if text else SegmentSequence()


def _read_method(parameters: Any, version: int) -> Method:
    has_media = (parameters.supported_media_number or 0) > 1
    first = getattr(parameters, "wait_before_first_poll", None)
    following = getattr(parameters, "wait_before_next_poll", None)
    return Method(
        parameters.security_function,
        parameters.name,
        version,
        has_media and parameters.description_required == DescriptionRequired.MUST,
        (first or 2, following or 2),
    )

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
from kontor.connectors.fints.parsing import is_parameter, write_segment
from kontor.domain.providers import Capability
from kontor.domain.sca import ScaMethod

NO_SYSTEM_ID = "0"
ONE_STEP = "999"
TAN_VERSIONS = (7, 6)
SILENT = ("HHD", "MS1", "iTAN")  # chipTAN, photoTAN, lists
DECOUPLED = "decoupled"  # in the name that the banks' association has for a method


@dataclass(frozen=True, slots=True)
class Method:
    """A way to authenticate that the bank offers this customer. `version` is that of the TAN segments it goes with.

    `is_decoupled`: the customer confirms in an app, and no TAN is typed in. `is_silent`: a challenge is nothing but
    shown, and reaches no phone.
    """

    code: str
    name: str
    version: int
    needs_medium: bool
    poll_seconds: tuple[int, int]
    is_decoupled: bool = False
    is_silent: bool = False

    @property
    def shown(self) -> ScaMethod:
        return ScaMethod(self.code, self.name)


@dataclass(frozen=True, slots=True)
class ParsedSegments:
    """Segments and how they are kept: writing them takes as long as reading them."""

    segments: SegmentSequence
    text: str

    @classmethod
    def write(cls, segments: Iterable[Any]) -> "ParsedSegments":
        sequence = SegmentSequence(list(segments))
        return cls(sequence, base64.b64encode(b"".join(map(write_segment, sequence.segments))).decode())

    def list_segments(self, command: str, version: int | None = None) -> list[Any]:
        """What the bank says about a business, such as HKSAL."""
        return list(self.segments.find_segments(f"{command[0]}I{command[2:]}S", version, recurse=False))

    def list_parameters(self, command: str, version: int | None = None) -> list[Any]:
        """The library keeps a damaged segment, and one of a version that it does not know, without a parameter."""
        segments = self.list_segments(command, version)
        return [segment.parameter for segment in segments if hasattr(segment, "parameter")]


NO_SEGMENTS = ParsedSegments.write(())


@dataclass(slots=True)
class BankParameters:
    system_id: str = NO_SYSTEM_ID
    bank_version: int = 0
    bank: ParsedSegments = NO_SEGMENTS
    user_version: int = 0
    user: ParsedSegments = NO_SEGMENTS
    functions: list[str] = field(default_factory=list)
    bank_name: str = ""

    def update_from(self, message: FinTSInstituteMessage, codes: Iterable[Code]) -> None:
        bank = message.find_segment_first(HIBPA3)
        if bank is not None:
            self.bank_version, self.bank_name = bank.bpd_version, bank.bank_name or ""
            self.bank = ParsedSegments.write(message.find_segments(callback=is_parameter))
        user = message.find_segment_first(HIUPA4)
        if user is not None:
            self.user_version = user.upd_version
            self.user = ParsedSegments.write(message.find_segments("HIUPD"))
        for code in codes:
            if code.code == METHODS:
                self.functions = list(code.parameters)

    # What follows from it

    def list_methods(self) -> list[Method]:
        """Two-step methods of this customer, in the bank's order; each with the newest segments that know it."""
        methods = _read_methods(self.bank)
        return [methods[function] for function in self.functions if function in methods]

    def find_newest(self, command: str, versions: Iterable[int]) -> int | None:
        """The newest of these versions that the bank has of a business, such as HKSAL."""
        offered = {segment.header.version for segment in self.bank.list_segments(command)}
        return max(offered.intersection(versions), default=None)

    def offers(self, command: str) -> bool:
        return bool(self.bank.list_segments(command))

    def find_parameter(self, command: str, version: int | None = None) -> Any:
        """What the bank says about a business; None where it says nothing that the library knows."""
        return next(iter(self.bank.list_parameters(command, version)), None)

    @property
    def sepa_formats(self) -> list[str]:
        """The bank's own names of the formats of SEPA orders that it takes."""
        listed = getattr(self.find_parameter("HKSPA"), "supported_sepa_formats", ())
        return [descriptor for descriptor in listed if descriptor]

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """What the bank has businesses for: it may offer an account fewer of them, but never more."""
        businesses = {
            Capability.ACCOUNTS: ("HKKAZ", "HKCAZ", "HKSAL"),
            Capability.CARDS: ("DKKKU",),
            Capability.DEPOTS: ("HKWPD",),
        }
        return tuple(
            capability
            for capability, commands in businesses.items()
            if any(self.offers(command) for command in commands)
        )

    @property
    def takes_national_accounts(self) -> bool:
        """Does the bank want account number and bank code beside IBAN and BIC? Where it does not, it refuses them."""
        parameter = self.find_parameter("HKSPA")
        if parameter is not None:
            return bool(parameter.national_account_allowed)
        # A version that the library does not know: the flags have the same places in all.
        elements = (element for segment in self.bank.list_segments("HKSPA") for element in segment._additional_data)
        groups = [element for element in elements if isinstance(element, list)]
        return bool(groups) and groups[0][1:2] == ["J"]

    def needs_tan(self, command: str) -> bool:
        pins = self.find_parameter("HKPIN")
        return pins is not None and any(
            requirement.transaction == command and requirement.tan_required
            for requirement in pins.transaction_tans_required
        )

    def list_accounts(self) -> list[Any]:
        return list(self.user.segments.find_segments("HIUPD", recurse=False))

    # Keeping it

    def serialize(self) -> State:
        return {
            "system_id": self.system_id,
            "bank_version": self.bank_version,
            "bank": self.bank.text,
            "user_version": self.user_version,
            "user": self.user.text,
            "functions": self.functions,
            "bank_name": self.bank_name,
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
            values.get("bank_name", ""),
        )


@lru_cache(maxsize=32)
def _read(text: str) -> ParsedSegments:
    """Kept, since reading is dear and a bank's parameters are the same for all its customers. Nobody changes them."""
    return ParsedSegments(SegmentSequence(base64.b64decode(text)), text) if text else NO_SEGMENTS


@lru_cache(maxsize=32)
def _read_methods(bank: ParsedSegments) -> dict[str, Method]:
    """All two-step methods by function, whoever may use them; each with the newest segments that know it."""
    methods: dict[str, Method] = {}
    for version in TAN_VERSIONS:
        for known in bank.list_parameters("HKTAN", version):
            for parameter in known.twostep_parameters:
                if parameter.tan_process == "2":
                    methods.setdefault(parameter.security_function, _read_method(parameter, version))
    return methods


def _read_method(parameters: Any, version: int) -> Method:
    has_media = (parameters.supported_media_number or 0) > 1
    first = getattr(parameters, "wait_before_first_poll", None)
    following = getattr(parameters, "wait_before_next_poll", None)
    technique, dk_name = parameters.tech_id or "", parameters.zka_id or ""
    return Method(
        parameters.security_function,
        parameters.name,
        version,
        has_media and parameters.description_required == DescriptionRequired.MUST,
        (first or 2, following or 2),
        is_decoupled=DECOUPLED in f"{technique} {dk_name}".lower(),
        is_silent=technique.startswith(SILENT) or dk_name.startswith(SILENT),
    )

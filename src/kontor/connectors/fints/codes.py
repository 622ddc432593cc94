"""What a bank's return codes mean. The only place that knows."""

from collections.abc import Iterable
from dataclasses import dataclass

from kontor.connectors.base import FailureKind


@dataclass(frozen=True, slots=True)
class Code:
    """One return code: 0… is fine, 3… a remark, 9… an error. `segment` is the number of the segment it speaks about."""

    code: str
    text: str
    parameters: tuple[str, ...] = ()
    segment: int | None = None

    @property
    def is_error(self) -> bool:
        return self.code.startswith("9")


TAN_WANTED = "0030"
CONFIRMATION_WANTED = "3955"
CONFIRMATION_OPEN = ("3956", CONFIRMATION_WANTED)  # in the answer to the question whether it was confirmed
MORE_FOLLOWS = "3040"
METHODS = "3920"
PAYEE_WANTED = ("3090", "3945")
ORDER_HELD = "3945"  # and its HKTAN is void: the order has to be sent again, with the approval of its payees
PAYEE_MATCHES = "0025"
APPROVAL_WAIVED = "3091"
NO_TAN_NEEDED = "3076"
EXECUTED = ("0020", "0900")
DIALOGUE_OVER = ("9800", "9010")
ABORTED = "9800"
METHOD_REFUSED = frozenset(("9260", "9380"))
DEVICE_UNKNOWN = "9955"
CHALLENGE_REFUSED = frozenset(("9260", DEVICE_UNKNOWN))  # so the bank wants the customer to authenticate
NEW_SYSTEM_ID_WANTED = "9391"  # while logging in; of an order it says that the account is not covered

MEANINGS = {
    "9340": FailureKind.WRONG_CREDENTIALS,
    "9910": FailureKind.WRONG_CREDENTIALS,
    "9942": FailureKind.WRONG_CREDENTIALS,
    "3931": FailureKind.LOCKED,
    "3938": FailureKind.LOCKED,
    "9930": FailureKind.LOCKED,
    "9931": FailureKind.LOCKED,
    "9933": FailureKind.LOCKED,
    "9941": FailureKind.WRONG_TAN,
    "9943": FailureKind.WRONG_TAN,
    "9075": FailureKind.NO_SUPPORTED_METHOD,
    "9260": FailureKind.NO_SUPPORTED_METHOD,
    "9380": FailureKind.NO_SUPPORTED_METHOD,
    "9955": FailureKind.NO_SUPPORTED_METHOD,
    "9078": FailureKind.INTERNAL,
    "9400": FailureKind.INTERNAL,
    "9952": FailureKind.INTERNAL,
    "9956": FailureKind.EXPIRED,
    "9951": FailureKind.EXPIRED,
    "9991": FailureKind.EXPIRED,
    "9030": FailureKind.UNREACHABLE,
    "9020": FailureKind.UNREACHABLE,
    "9391": FailureKind.NO_FUNDS,
}
# After these no message is signed with the same PIN: banks count, and lock their customer out.
PIN_REFUSED = frozenset((FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED))
# The bank does not know the program. Nothing that the customer enters can change it.
NOT_REGISTERED_CODES = frozenset(("9078", "9400", "9952"))
NOT_REGISTERED = "Die Bank nimmt die Produktregistrierung nicht an"


def find_failure(codes: Iterable[Code], *, is_login: bool) -> tuple[FailureKind, str] | None:
    """Why the bank refuses, with its own words; None if it does not.

    Whatever a bank calls an error while somebody logs in is taken for a wrong PIN unless it is known to be something
    else: the customer is asked then, and nothing is tried again and again until the account is locked.
    """
    errors = [code for code in codes if code.is_error or code.code in MEANINGS]
    if not errors:
        return None
    known = [error for error in errors if error.code in MEANINGS]
    if known:
        # A lock counts more than the wrong PIN that led to it.
        error = next((error for error in known if MEANINGS[error.code] is FailureKind.LOCKED), known[0])
        if error.code in NOT_REGISTERED_CODES:
            return MEANINGS[error.code], f"{NOT_REGISTERED} ({error.code})."
        return MEANINGS[error.code], error.text
    # 9050 and 9800 only say that there is another error, or that the dialogue is over.
    telling = next((error for error in errors if error.code not in ("9050", "9800", "9010")), errors[0])
    if telling.code in ("9050", "9800", "9010"):
        return FailureKind.UNREACHABLE, telling.text
    return FailureKind.WRONG_CREDENTIALS if is_login else FailureKind.REJECTED, telling.text

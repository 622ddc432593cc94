"""What the demo bank's test logins do. One line per login; `docs/guides/demo-bank.md` lists them for users."""

from dataclasses import dataclass
from datetime import UTC, datetime

from kontor.connectors.base import FailureKind, ProblemKind
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import PayeeMatch
from kontor.domain.sca import MediumClass, ScaMedium, ScaMethod

MOCK_TAN = ScaMethod("901", "mockTAN", "Jede gerade Zahl ist richtig.")
LIST_TAN = ScaMethod("900", "iTAN", "Die TAN ist immer 12.")
PHOTO_TAN = ScaMethod("902", "photoTAN", "Scannen Sie das Bild mit der App.")
CHIP_TAN = ScaMethod("913", "chipTAN optisch", "Halten Sie den TAN-Generator vor die Grafik.")
APP_TAN = ScaMethod("923", "Entkoppelte Authentifizierung", "Bestätigen Sie in Ihrer Banking-App.")
REDIRECT = ScaMethod("999", "Weiterleitung zur Bank")

PHONE = ScaMedium("Mein Handy", MediumClass.MOBILE)
TABLET = ScaMedium("Mein Tablet", MediumClass.MOBILE)
# The card in the generator.
GENERATOR = ScaMedium(
    "TAN-Generator",
    MediumClass.GENERATOR,
    datetime(2024, 1, 1, tzinfo=BERLIN).astimezone(UTC),
    datetime(2028, 12, 31, tzinfo=BERLIN).astimezone(UTC),
)
APP = ScaMedium("Banking-App", MediumClass.PUSH)


@dataclass(frozen=True, slots=True)
class Scenario:
    """How a login differs from an ordinary one."""

    failure: FailureKind | None = None
    problems: tuple[ProblemKind, ...] = ()
    broken_rows: bool = False
    is_slow: bool = False
    demands_sca: bool = False  # when the access is added
    methods: tuple[ScaMethod, ...] = (MOCK_TAN,)
    media: tuple[ScaMedium, ...] = (PHONE,)
    fails_payments: bool = False
    payee_match: PayeeMatch | None = None  # of every payee, whoever it is
    pays_own_accounts_only: bool = False


ORDINARY = Scenario()

SCENARIOS = {
    "test_sca_method": Scenario(demands_sca=True, methods=(MOCK_TAN, LIST_TAN), media=(PHONE,)),
    "test_sca_method_media": Scenario(demands_sca=True, methods=(MOCK_TAN, LIST_TAN), media=(PHONE, TABLET)),
    "test_decoupled": Scenario(demands_sca=True, methods=(APP_TAN,), media=(APP,)),
    "test_phototan": Scenario(demands_sca=True, methods=(PHOTO_TAN,), media=(PHONE,)),
    "test_chiptan": Scenario(demands_sca=True, methods=(CHIP_TAN,), media=(GENERATOR,)),
    "test_redirect": Scenario(demands_sca=True, methods=(REDIRECT,), media=()),
    "test_locked": Scenario(failure=FailureKind.LOCKED),
    "test_unreachable": Scenario(failure=FailureKind.UNREACHABLE),
    "test_internal": Scenario(failure=FailureKind.INTERNAL),
    "test_slow": Scenario(is_slow=True),
    "test_partial": Scenario(problems=(ProblemKind.TRANSACTIONS,)),
    "test_product_error": Scenario(problems=(ProblemKind.PRODUCT,)),
    "test_transactions_error": Scenario(problems=(ProblemKind.TRANSACTIONS,)),
    "test_positions_error": Scenario(problems=(ProblemKind.POSITIONS,)),
    "test_bank_message": Scenario(problems=(ProblemKind.BANK_MESSAGE,)),
    "test_broken_rows": Scenario(broken_rows=True),
    "test_failing_payment": Scenario(fails_payments=True),
    "test_reference": Scenario(pays_own_accounts_only=True),
    "test_vop_close": Scenario(payee_match=PayeeMatch.CLOSE_MATCH),
    "test_vop_nomatch": Scenario(payee_match=PayeeMatch.NO_MATCH),
}


def find_scenario(login: str) -> Scenario:
    return SCENARIOS.get(login.partition("+")[0], ORDINARY)

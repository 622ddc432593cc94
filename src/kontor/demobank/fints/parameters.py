"""What the bank can do, as tables: bank parameters (BPD) for everybody, user parameters (UPD) for one customer."""

import zlib
from dataclasses import dataclass, replace

from kontor.connectors.demo.direct_debits import LEAD_DAYS as DEBIT_LEAD_DAYS
from kontor.connectors.demo.people.numbers import DEMO_BANK, DEMO_BANK_CODE
from kontor.connectors.demo.scenarios import APP_TAN, CHIP_TAN, LIST_TAN, MOCK_TAN, PHOTO_TAN
from kontor.demobank.fints.messages import COUNTRY, ONE_STEP
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.segments import Segment, Writable, make_segment, write_segments
from kontor.domain.mandates import DebitForm
from kontor.domain.products import Product, ProductCategory
from kontor.domain.sca import ScaMethod
from kontor.domain.schedules import StandingAction

HISTORY_DAYS = 1900
MAX_MESSAGE_KILOBYTES = 2048
MAX_BULK_ORDERS = 1000
LEAD_DAYS = (1, 365)  # of dated orders: at least, at most
# What stands before the sequence types in the coded notices: CORE, or nothing where there is B2B alone.
DEBIT_NOTICES = {"HKDSE": "0;", "HKDME": "0;", "HKBSE": "", "HKBME": ""}
# Of standing orders: intervals in months and days of the month (00: any), intervals in weeks and days of the week.
STANDING_TIMES = ("0102030612", "00", "0102", "1234567")
UPD_VERSION = 1
CAMT_052 = tuple(f"urn:iso:std:iso:20022:tech:xsd:camt.052.001.{version}" for version in ("02", "08"))
PAIN_002 = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"
PAIN_001 = (
    "urn:iso:std:iso:20022:tech:xsd:pain.001.001.03",
    "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09",
)

PAIN_008 = (
    "urn:iso:std:iso:20022:tech:xsd:pain.008.001.02",
    "urn:iso:std:iso:20022:tech:xsd:pain.008.001.08",
)

# Business: (versions, does it ask for a TAN?). "Yes" means that the client sends HKTAN along; the bank may still say
# that no TAN is needed.
BUSINESSES: dict[str, tuple[tuple[int, ...], bool]] = {
    "HKSPA": ((1, 2, 3), False),
    "HKSAL": ((5, 6, 7), False),
    "HKKAZ": ((5, 6, 7), True),
    "HKCAZ": ((1,), True),
    "HKWPD": ((5, 6), False),
    "HKCCS": ((1,), True),
    "HKCCM": ((1,), True),
    "HKIPZ": ((1,), True),
    "HKIPM": ((1,), True),
    "HKCSE": ((1,), True),
    "HKCME": ((1,), True),
    "HKCSB": ((1,), False),
    "HKCDE": ((1,), True),
    "HKCDN": ((1,), True),
    "HKCDL": ((1,), True),
    "HKCDB": ((1,), False),
    "HKDSE": ((1, 2), True),
    "HKDME": ((1, 2), True),
    "HKDBS": ((1,), False),
    "HKBSE": ((1, 2), True),
    "HKBME": ((1, 2), True),
    "HKBBS": ((1,), False),
    "HKTAB": ((4, 5), False),
    "DKKKU": ((2,), False),
    "HKKAU": ((1, 2), False),
    "HKEKA": ((3, 4, 5), False),
    "HKEKP": ((1, 2), False),
    "HKQTG": ((1,), False),
}
STATEMENTS = ("HKKAU", "HKEKA", "HKEKP")
VERIFIED_ORDERS = ("HKCCS", "HKIPZ", "HKCCM", "HKIPM", "HKCSE", "HKCME", "HKCDE", "HKCDN")
# Of these versions the parameters name no security class: they are older than FinTS 3.0.
_WITHOUT_CLASS = frozenset((("HKSAL", 5), ("HKKAZ", 5), ("HKWPD", 5)))


@dataclass(frozen=True, slots=True)
class TanParameters:
    """A method as HITANS describes it. `needs_medium`: 0 no, 1 may be named, 2 must be named."""

    method: ScaMethod
    technique: str
    dk_name: str = ""
    dk_version: str = ""
    tan_digits: int = 8
    needs_medium: int = 0
    media: int = 1
    is_decoupled: bool = False


TAN_PARAMETERS = (
    TanParameters(MOCK_TAN, "MTAN2", "mobileTAN", needs_medium=2, media=2),
    TanParameters(LIST_TAN, "iTAN", tan_digits=6),
    TanParameters(PHOTO_TAN, "MS1.0.0"),
    TanParameters(CHIP_TAN, "HHD1.4OPT", "HHDOPT1", "1.4", tan_digits=6, needs_medium=1),
    TanParameters(APP_TAN, "SealOne", "Decoupled", needs_medium=1, is_decoupled=True),
)
# With `Mode.PHOTO_TAN_900`.
PHOTO_TAN_900 = replace(PHOTO_TAN, code="900")
PHOTO_TAN_900_PARAMETERS = (TanParameters(PHOTO_TAN_900, "MS1.4.1"),)
DECOUPLED_POLLS = 60
MUST_NAME = 2

_ACCOUNT_KINDS = {
    ProductCategory.CHECKING: 1,
    ProductCategory.SAVINGS: 10,
    ProductCategory.CALL_MONEY: 10,
    ProductCategory.FIXED_TERM: 20,
    ProductCategory.DEPOT: 30,
    ProductCategory.LOAN: 40,
    ProductCategory.CREDIT_CARD: 50,
    ProductCategory.OTHER_CARD: 50,
    ProductCategory.HOME_SAVINGS: 70,
}
_OTHER_KIND = 90
_READING = ("HKSAL", "HKKAZ", "HKCAZ")
_PAYING = ("HKCCS", "HKIPZ", "HKCSE", "HKCSB")
_STANDING = {
    StandingAction.CREATE: "HKCDE",
    StandingAction.CHANGE: "HKCDN",
    StandingAction.DELETE: "HKCDL",
}
_DEBITS = {
    DebitForm.CORE_SINGLE: ("HKDSE", "HKDBS"),
    DebitForm.CORE_BULK: ("HKDME",),
    DebitForm.B2B_SINGLE: ("HKBSE", "HKBBS"),
    DebitForm.B2B_BULK: ("HKBME",),
}
_BULK_PAYING = ("HKCCM", "HKIPM", "HKCME")
NAME_CHARACTERS = 27
PRODUCT_NAME_CHARACTERS = 30


def list_bank_parameters(address: str, modes: frozenset[Mode], version: int | None = None) -> list[Segment]:
    """`address` is where the bank is reached, without a scheme: clients put https:// before it."""
    bank = (COUNTRY, DEMO_BANK_CODE)
    known = count_version(address, modes) if version is None else version
    return [
        make_segment("HIBPA", 3, known, bank, DEMO_BANK, 0, 1, 300, MAX_MESSAGE_KILOBYTES, 10, 600),
        make_segment("HIKOM", 4, bank, 1, (3, address, None, "MIM", 1)),
        make_segment("HISHV", 3, False, ("PIN", 1)),
        *_list_business_parameters(modes),
        _make_pin_parameters(modes),
        *_list_tan_parameters(modes),
        make_segment(
            "HIVPPS",
            1,
            1,
            1,
            1,
            (MAX_BULK_ORDERS, True, "V", True, False, PAIN_002, *VERIFIED_ORDERS),
        ),
    ]


def count_version(address: str, modes: frozenset[Mode]) -> int:
    """A number that changes whenever the parameters do, so that clients fetch them anew."""
    return zlib.crc32(write_segments(list_bank_parameters(address, modes, 0))) % 998 + 1


def _list_business_parameters(modes: frozenset[Mode]) -> list[Segment]:
    details: dict[str, tuple[Writable, ...]] = {
        "HKKAZ": (HISTORY_DAYS, True, False),
        "HKCAZ": (HISTORY_DAYS, False, False, *(CAMT_052[-1:] if Mode.CAMT_ONLY in modes else CAMT_052)),
        "HKWPD": (True, True, False),
        "HKCCM": (MAX_BULK_ORDERS, True, True),
        "HKIPM": (MAX_BULK_ORDERS, True, True),
        "DKKKU": (HISTORY_DAYS, True, True),
        "HKCSE": LEAD_DAYS,
        "HKCME": (*LEAD_DAYS, MAX_BULK_ORDERS, True, True),
        "HKCSB": (True, False),
        "HKCDE": (2, *LEAD_DAYS, *STANDING_TIMES),
        "HKCDN": (0, *LEAD_DAYS, *(True,) * 9, *STANDING_TIMES),
        "HKCDL": (*LEAD_DAYS, False, True),
        "HKCDB": (True,),
        "HKDBS": (True, False),
        "HKBBS": (True, False),
        "HKKAU": (False,),
        # May a number be named, is an acknowledgement wanted, may a count be named, formats: PDF alone.
        "HKEKA": (True, True, False, "3"),
        "HKEKP": (True, True, False),
    }
    segments = []
    for code in BUSINESSES:
        if is_switched_off(code, modes):
            continue
        for version in list_versions(code, modes):
            elements: list[Writable | tuple[Writable, ...]] = [1, 1]
            if (code, version) not in _WITHOUT_CLASS:
                elements.append(1)
            if code == "HKSPA":
                is_national = Mode.ACCOUNT_BY_IBAN not in modes
                elements.append((True, is_national, False, *((False, 0)[: version - 1]), *PAIN_001, *PAIN_008))
            elif code in DEBIT_NOTICES:
                elements.append(_describe_debits(code, version))
            elif code in details:
                elements.append((*details[code], False) if (code, version) == ("HKEKP", 2) else details[code])
            segments.append(make_segment(f"{code[0]}I{code[2:]}S", version, *elements))
    return segments


def _describe_debits(code: str, version: int) -> tuple[Writable, ...]:
    """Days before the collection (for all sequence types alike), numbers for collective orders, formats."""
    shortest, longest = DEBIT_LEAD_DAYS
    bulk = (MAX_BULK_ORDERS, True, True) if code in ("HKDME", "HKBME") else ()
    if version == 1:
        return (*DEBIT_LEAD_DAYS, *DEBIT_LEAD_DAYS, *bulk)
    kind = DEBIT_NOTICES[code]
    return (f"{kind}0;{shortest};235959", f"{kind}0;{longest}", *bulk, None, *PAIN_008)


def list_versions(code: str, modes: frozenset[Mode]) -> tuple[int, ...]:
    """Of a business."""
    if code == "HKSAL" and Mode.BALANCE_VERSION_8 in modes:
        return (8,)
    return BUSINESSES[code][0]


def is_switched_off(code: str, modes: frozenset[Mode]) -> bool:
    return code == "HKKAZ" and Mode.CAMT_ONLY in modes


def _asks_tan(code: str, modes: frozenset[Mode]) -> bool:
    return BUSINESSES[code][1] or (Mode.STATEMENTS_ASK in modes and code in STATEMENTS)


def _make_pin_parameters(modes: frozenset[Mode]) -> Segment:
    businesses = [value for code in BUSINESSES for value in (code, _asks_tan(code, modes))]
    return make_segment("HIPINS", 1, 1, 1, 1, (4, 20, 8, "Login der Demobank", "", *businesses))


def _list_tan_parameters(modes: frozenset[Mode]) -> list[Segment]:
    if Mode.ONE_STEP_ONLY in modes:
        outdated = (True, False, 0, 0, "900", 2, "iTAN", "iTAN", 6, 1, "Index", 3, 1, False, False)
        return [make_segment("HITANS", 1, 1, 1, 1, outdated)]
    if Mode.PHOTO_TAN_900 in modes:
        outdated = (False, False, 0, 0, "900", 1, "iTAN", "iTAN", 6, 1, "TAN-Nummer", 3, 1, False, False)
        return [make_segment("HITANS", 1, 1, 1, 1, outdated), _make_tan_parameters(6, PHOTO_TAN_900_PARAMETERS)]
    return [_make_tan_parameters(version, TAN_PARAMETERS) for version in (6, 7)]


def _make_tan_parameters(version: int, methods: tuple[TanParameters, ...]) -> Segment:
    """Version 6 knows no decoupled methods."""
    values: list[Writable] = [False, False, 0]
    for parameters in methods:
        if version < 7 and parameters.is_decoupled:
            continue
        values += [
            parameters.method.code,
            2,
            parameters.technique,
            parameters.dk_name,
            parameters.dk_version,
            parameters.method.name,
        ]
        values += [None, None] if parameters.is_decoupled else [parameters.tan_digits, 1]
        values += [
            "TAN-Nummer",
            2048,
            False,
            1,
            True,
            0,
            0,
            False,
            False,
            "00",
            parameters.needs_medium,
            False,
            parameters.media,
        ]
        if version >= 7:
            values += [DECOUPLED_POLLS, 1, 1, True, True] if parameters.is_decoupled else [None] * 5
    return make_segment("HITANS", version, 1, 1, 1, values)


def name_allowed_methods(methods: tuple[ScaMethod, ...], modes: frozenset[Mode]) -> list[str]:
    """Codes of a customer's methods that FinTS knows; one that leads to the bank's own page is not among them."""
    if Mode.PHOTO_TAN_900 in modes:
        return [ONE_STEP, PHOTO_TAN_900.code]
    if Mode.ONE_STEP_ONLY in modes:
        return [LIST_TAN.code]
    if Mode.METHOD_REPLACED in modes:
        methods = methods[-1:]
    known = {parameters.method.code for parameters in TAN_PARAMETERS}
    return [method.code for method in methods if method.code in known] or [ONE_STEP]


def find_method(security_function: str, modes: frozenset[Mode]) -> str:
    """The bank's own code of the method that a client names."""
    is_photo = Mode.PHOTO_TAN_900 in modes and security_function == PHOTO_TAN_900.code
    return PHOTO_TAN.code if is_photo else security_function


def must_name_medium(security_function: str) -> bool:
    return any(
        parameters.needs_medium == MUST_NAME
        for parameters in TAN_PARAMETERS
        if parameters.method.code == security_function
    )


def is_decoupled(security_function: str) -> bool:
    return security_function == APP_TAN.code


# Users


def list_user_parameters(login: str, name: str, products: tuple[Product, ...], modes: frozenset[Mode]) -> list[Segment]:
    head = make_segment("HIUPA", 4, login, UPD_VERSION, 0, name[:35])
    return [head, *(_describe_product(login, product, modes) for product in products)]


def _describe_product(login: str, product: Product, modes: frozenset[Mode]) -> Segment:
    return make_segment(
        "HIUPD",
        6,
        name_account(product),
        product.iban,
        login,
        _ACCOUNT_KINDS.get(product.category, _OTHER_KIND),
        product.currency or "EUR",
        product.holder[:NAME_CHARACTERS],
        product.holder[NAME_CHARACTERS : 2 * NAME_CHARACTERS],
        product.name[:PRODUCT_NAME_CHARACTERS],
        None,
        *((code, 1) for code in list_businesses(product, modes)),
    )


def list_businesses(product: Product, modes: frozenset[Mode]) -> list[str]:
    """What may be asked about, or done with, a product."""
    if is_apart(product, modes):
        return ["HKTAB", "DKKKU"]
    codes = ["HKSPA", "HKTAB"]
    reading = _READING[:2] if Mode.CAMT_ONLY in modes else _READING
    codes += ["HKWPD"] if product.category.is_depot else reading
    if product.category.is_card:
        codes.append("DKKKU")
    elif not product.category.is_depot:
        codes += STATEMENTS
    if product.can_transfer:
        codes += _PAYING
    if product.can_bulk_transfer:
        codes += _BULK_PAYING
    if product.standing_order_actions:
        codes += ["HKCDB", *(_STANDING[action] for action in product.standing_order_actions)]
    for form in product.debit_forms:
        codes += _DEBITS[form]
    return codes


def is_apart(product: Product, modes: frozenset[Mode]) -> bool:
    """A card that DKKKU alone knows."""
    return Mode.CARDS_APART in modes and product.category.is_card


def name_account(product: Product) -> tuple[Writable, ...]:
    """The national form: number, sub-account, country and bank code."""
    return (product.account_number, None, COUNTRY, DEMO_BANK_CODE)


def name_account_internationally(product: Product) -> tuple[Writable, ...]:
    return (product.iban, product.bic, *name_account(product))

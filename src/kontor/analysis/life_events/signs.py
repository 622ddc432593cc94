"""What a booking is a sign of. Most say nothing about a life; for those that may, their words are read."""

import re
from collections.abc import Callable
from enum import Enum

from kontor.analysis.contracts.texts import squeeze_text
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory


class Sign(Enum):
    SALARY = "salary"
    SIDE_JOB = "pay of a side job"
    PENSION = "pension"
    SURVIVOR_PENSION = "pension of a survivor"
    STUDENT_AID = "student aid"
    SEMESTER_FEE = "semester fee"
    UNEMPLOYMENT = "unemployment benefit"
    PARENTAL_ALLOWANCE = "parental allowance"
    MATERNITY_PAY = "maternity pay"
    CHILD_BENEFIT = "child benefit"
    CHILDCARE = "childcare fee"
    RENT = "rent"
    ROOM = "share of a rent"
    MORTGAGE = "mortgage payment"
    LOAN = "loan installment"
    PAYOUT = "loan payout"
    PAYOFF = "loan payoff"
    VEHICLE = "payment for a vehicle"
    MOVER = "bill of a mover"
    DEPOSIT = "deposit for a flat"
    PURCHASE_PRICE = "price of a property"
    TRANSFER_TAX = "tax on buying property"
    COLLECTION = "payment to a debt collector"
    WINDFALL = "large sum"
    REVENUE = "revenue of a business"


SEVERANCE = re.compile(
    r"ABFINDUNG|WEIHNACHTSGELD|URLAUBSGELD|SONDERZAHLUNG|PRAEMIE|BONUS|TANTIEME|REISEKOSTEN|SPESEN|ERSTATTUNG"
)
_SIDE_JOB = re.compile(r"AUSHILF|MINIJOB|NEBENJOB|WERKSTUD|GERINGFUEG|FERIENJOB")
TRAINING = re.compile(r"AUSBILDUNGSVERG|AZUBI|AUSBILDUNGSBEIHILFE")
_SURVIVOR = re.compile(r"HINTERBLIEB|WITWE|WAISE")
_UNEMPLOYMENT = re.compile(r"ARBEITSLOSENGELD|BUERGERGELD|GRUNDSICHERUNG|ALGII?(?![A-Z])|JOBCENTER")
_PARENTAL = re.compile(r"ELTERNGELD")
_MATERNITY = re.compile(r"MUTTERSCHAFT")
_FEE = re.compile(r"SEMESTERBEITRAG|SEMESTERGEB|IMMATRIK|RUECKMELD|STUDIENBEITRAG|MATR\.?-?NR|SEMESTERTICKET")
_ROOM = re.compile(r"WG-?ZIMMER|WG-?MIETE|MIETANTEIL|UNTERMIETE|ZIMMERMIETE|ANTEILMIETE|(?<![A-Z])WG(?![A-Z])")
# Buying in instalments, and paying back what a student was lent, begin no loan.
_PURCHASE = re.compile(r"RATENKAUF|FINANZKAUF|STUDIENKREDIT|STUDIENDARLEHEN|BAFOEG|BILDUNGSKREDIT|LEASING|KLARNA")
_HOME_LOAN = re.compile(
    r"BAUFINANZ|BAUDARLEHEN|IMMOBILIENDARL|HYPOTHEK|HYPO(?:THEKEN)?DARL|WOHNBAUDARL|IMMOBILIENKREDIT"
)
_HOME_LOAN_ACCOUNTS = ("IMMO", "BAU", "HYPO", "HAUS", "WOHN")
_PAYOFF = re.compile(r"ABLOES|SONDERTILG|VOLLTILG|RESTSCHULD|GESAMTTILG")
_MOVER = re.compile(r"UMZUG|UMZUEGE|MOEBELSPED|MOEBELTRANSP|MOVING")
_DEPOSIT = re.compile(r"KAUTION")
_PRICE = re.compile(r"KAUFPREIS|HAUSKAUF|WOHNUNGSKAUF|GRUNDSTUECK|ANDERKONTO|IMMOBILIENKAUF")
_TRANSFER_TAX = re.compile(r"GRUNDERWERB")
COLLECTION = re.compile(
    r"INKASSO|EOSDEUTSCH|EOSGMBH|RIVERTY|PAIRFINANCE|CREDITREFORM|LOWELL|COEO|HOISTFIN|INTRUM|TROY|REALSOLUTION"
    r"|KSPKANZLEI|ARVATOPAYMENT|DIAGONALGMBH|BIDCORESOLV|FORDERUNGSMAN"
)
MIN_PRICE, MIN_WINDFALL, MIN_PAYOUT = 20_000, 5_000, 500


def read_text(record: Record) -> str:
    """All words of a booking, squeezed."""
    return squeeze_text(f"{record.purpose} {record.counterparty_name} {record.ultimate_counterparty}")


def is_price(record: Record) -> bool:
    """Whether a property is paid for, mostly by way of a notary."""
    return record.amount <= -MIN_PRICE and _PRICE.search(read_text(record)) is not None


def is_home_loan(account: Account) -> bool:
    """Whether an account of the customer is a loan for a home that is not paid off."""
    if account.category is not ProductCategory.LOAN or account.balance is None or not account.balance < 0:
        return False
    return any(word in squeeze_text(account.name) for word in _HOME_LOAN_ACCOUNTS)


def _read_salary(record: Record) -> Sign | None:
    text = squeeze_text(record.purpose)
    if SEVERANCE.search(text):
        return None
    return Sign.SIDE_JOB if _SIDE_JOB.search(text) else Sign.SALARY


def _read_pension(record: Record) -> Sign | None:
    return Sign.SURVIVOR_PENSION if _SURVIVOR.search(squeeze_text(record.purpose)) else Sign.PENSION


def _read_family(record: Record) -> Sign | None:
    return Sign.PARENTAL_ALLOWANCE if _PARENTAL.search(read_text(record)) else Sign.CHILD_BENEFIT


def _read_other_income(record: Record) -> Sign | None:
    if record.freelancer_category == "REVENUE":
        return Sign.REVENUE
    text = read_text(record)
    if _UNEMPLOYMENT.search(text):
        return Sign.UNEMPLOYMENT
    if _MATERNITY.search(text):
        return Sign.MATERNITY_PAY
    if _PARENTAL.search(text):
        return Sign.PARENTAL_ALLOWANCE
    return _read_windfall(record)


def _read_windfall(record: Record) -> Sign | None:
    return Sign.WINDFALL if record.amount >= MIN_WINDFALL else None


def _read_rent(record: Record) -> Sign | None:
    return Sign.ROOM if _ROOM.search(read_text(record)) else Sign.RENT


def _read_mortgage(record: Record) -> Sign | None:
    return Sign.PAYOFF if _PAYOFF.search(squeeze_text(record.purpose)) else Sign.MORTGAGE


def _read_loan(record: Record) -> Sign | None:
    text = read_text(record)
    if _PURCHASE.search(text):
        return None
    if _HOME_LOAN.search(text):
        return _read_mortgage(record)
    return Sign.PAYOFF if _PAYOFF.search(text) else Sign.LOAN


def _read_payout(record: Record) -> Sign | None:
    return Sign.PAYOUT if record.amount >= MIN_PAYOUT else None


def _read_fee(record: Record) -> Sign | None:
    return Sign.SEMESTER_FEE if _FEE.search(squeeze_text(record.purpose)) else None


def _read_spending(record: Record) -> Sign | None:
    text = read_text(record)
    if _MOVER.search(text):
        return Sign.MOVER
    if _DEPOSIT.search(text):
        return Sign.DEPOSIT
    if COLLECTION.search(text):
        return Sign.COLLECTION
    if _TRANSFER_TAX.search(text):
        return Sign.TRANSFER_TAX
    return Sign.PURCHASE_PRICE if is_price(record) else None


Reading = Callable[[Record], Sign | None]
_INCOMING: dict[str, Reading] = {
    "INCOME_SALARY": _read_salary,
    "INCOME_PENSION": _read_pension,
    "INCOME_STATE_EDUCATION": lambda record: Sign.STUDENT_AID,
    "INCOME_STATE_FAMILY": _read_family,
    "INCOME_OTHER": _read_other_income,
    "OTHER_INCOME": _read_windfall,
    "SAVINGS_LIFEINSURANCE": _read_windfall,
    "INSURANCE_LIFE": _read_windfall,
    "INSURANCE_PROVISIONARY": _read_windfall,
    "RECREATION_OTHER": _read_windfall,
    "BANKFINANCE_CREDITINCOME": _read_payout,
}
_OUTGOING: dict[str, Reading] = {
    "HOUSING_RENT": _read_rent,
    "HOUSING_FINANCING": _read_mortgage,
    "BANKFINANCE_CREDITPAYMENT": _read_loan,
    "FAMILY_CHILDCARE": lambda record: Sign.CHILDCARE,
    "MOBILITY_VEHICLEACQUISITION": lambda record: Sign.VEHICLE,
    "EDUCATION_ACADEMIC": _read_fee,
    "EDUCATION_OTHER": _read_fee,
    "HOUSING_OTHER": _read_spending,
    "HOUSING_SERVICES": _read_spending,
    "SERVICES_OFFLINE": _read_spending,
    "SERVICES_OTHER": _read_spending,
    "OTHER_SPENDING": _read_spending,
    "TAXES": _read_spending,
}
READ_CATEGORIES = frozenset(_INCOMING) | frozenset(_OUTGOING)
CHILD_PURCHASES = frozenset({"FAMILY_CHILDNECESSITIES", "FAMILY_CHILDACTIVITIES", "FAMILY_TOYS", "FAMILY_OTHER"})


def read_sign(record: Record) -> Sign | None:
    reading = (_INCOMING if record.amount > 0 else _OUTGOING).get(record.category)
    return None if reading is None else reading(record)

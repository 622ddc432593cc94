"""When a brand that was found is not who was paid: no partner is better than a wrong one."""

from kontor.analysis.tagging.choices import AT_NAME, AT_PURPOSE, AT_START, STAGES, Choice
from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.intermediaries import tells_merchant
from kontor.analysis.tagging.lexicons import find_main
from kontor.analysis.tagging.partners import Partner
from kontor.analysis.tagging.readings import TRANSFER, Reading

# Categories that say what kind of company it was.
TELLING_MAINS = frozenset({"HEALTH", "LIVING", "RECREATION", "EDUCATION", "TRAVEL", "MOBILITY", "SHOPPING"})
# What banks book without a counterparty, and who may be meant by a name there.
OF_THE_BANK = frozenset({"BANKFINANCE_INVESTMENT", "BANKFINANCE_OTHER", "SERVICES_FINANCIAL", "INCOME_INVESTMENT"})
HOUSES = frozenset({"BANKFINANCE", "SAVINGS", "SERVICES"})
# Where money only passes through a payment service, and what is the service's own business.
PASSING_MAINS = frozenset({"LIVING", "RECREATION", "EDUCATION", "TRAVEL", "HEALTH", "FAMILY", "HOUSING", "MOBILITY"})
UNTOLD_SHOPS = frozenset({"SHOPPING_OTHER", "OTHER_SPENDING", "INCOME_OTHER"})
# Makers are named in purposes as what was bought: `Kaufpreis Skoda Fabia`.
OF_GOODS = (
    *("MOBILITY_VEHICLEACQUISITION", "MOBILITY_BIKEACQUISITION", "MOBILITY_SERVICES", "SHOPPING_", "FAMILY_TOYS"),
    *("FAMILY_CHILDNECESSITIES", "RECREATION_HOBBY", "RECREATION_GARDEN", "RECREATION_SPORTS", "LIVING_CONSUMABLES"),
)
# Words of two names are of one family if they begin alike; these beginnings tell no family.
MIN_KIN_LENGTH = 4
GENERAL_STARTS = frozenset(
    ["auto", "bank", "deut", "gese", "inte", "mark", "onli", "serv", "shop", "stad", "vere", "vers", "zent"]
)
LEADING_NUMBERS = "0123456789 ./-|"


def is_misnamed(choice: Choice, category: str, reading: Reading) -> bool:
    """A brand that the booking is not about: the dentist `Praxis Dr. Klein` is no broker."""
    main, own = find_main(category), find_main(choice.partner.category)
    if category in OF_THE_BANK and reading.is_unnamed and own not in HOUSES:
        # A share that was bought, or whose debit came back.
        return True
    if choice.partner.is_intermediary:
        return reading.has_collector and not reading.has_merchant and is_passed_on(category, reading)
    if choice.place == AT_PURPOSE:
        return is_only_mentioned(choice, main, own, reading)
    if reading.is_incoming or choice.place not in (AT_NAME, AT_START):
        return False
    if choice.place == AT_START:
        # Stadiums and halls bear the names of insurers and banks.
        return main == "RECREATION" and own in ("INSURANCE", "BANKFINANCE")
    if main == own or reading.has_merchant:
        return False
    return main in TELLING_MAINS or (" " not in choice.text and own not in HOUSES)


def is_passed_on(category: str, reading: Reading) -> bool:
    """Whether a payment service passes money on: the booking tells a trade, or names a shop that no table holds."""
    if find_main(category) in PASSING_MAINS or (category.startswith("SHOPPING_") and category not in UNTOLD_SHOPS):
        return True
    if reading.is_incoming or reading.channel == TRANSFER:
        # The text of a transfer is the customer's own: a name in it may be theirs.
        return False
    return category in UNTOLD_SHOPS and tells_merchant(reading.purpose)


def is_only_mentioned(choice: Choice, main: str, own: str, reading: Reading) -> bool:
    """Whether the purpose of a booking with somebody else mentions a brand: as what was bought, what was insured, or
    what a quarrel is about. It is who was paid where it is of one family with the name, or begins the purpose."""
    if not reading.is_incoming and main != own and (reading.channel == TRANSFER or choice.partner.insurance_type == ""):
        return True
    if choice.partner.system_name in STAGES or reading.has_collector or is_kin(reading.name, choice.partner):
        return False
    if own == main == "INSURANCE" and not choice.partner.income:
        # Brokers collect for insurers. A private pension insurance is none of the state's.
        return False
    if not reading.purpose.lstrip(LEADING_NUMBERS).startswith(choice.text):
        return True
    return not reading.is_incoming and choice.partner.category.startswith(OF_GOODS)


def is_kin(name: str, partner: Partner) -> bool:
    """Whether a name and a partner share how a word begins: the `Landwirtschaftsverlag` and its `Landlust`."""
    starts = {word[:MIN_KIN_LENGTH] for word in name.split() if len(word) >= MIN_KIN_LENGTH} - GENERAL_STARTS
    others = (word for own_name in partner.names for word in fold(own_name).split())
    return any(word[:MIN_KIN_LENGTH] in starts for word in others)

"""Card payments: the shop without place, time, card number and terminal.

Places are left out on purpose: `ESSEN` is a city and a meal.
"""

import re

CARD_PREFIXES = ("visa ", "mastercard ", "maestro ", "girocard ", "debitkarte ", "kartenzahlung ", "ec ", "pos ")
MIN_PLACE_LENGTH = 2
# Columns of places have at least so many letters: a shorter place is not cut.
MIN_CUT_PLACE_LENGTH = 11
# Behind these a place is no address but part of the name: `BUERGERBUERO STADT FELLBACH`.
OF_PLACE = frozenset(["STADT", "GEMEINDE", "KREIS", "LANDKREIS", "LANDRATSAMT", "STADTWERKE", "KURVERWALTUNG", "UNI"])
CARD_SIGNS = (
    "KFN",
    "KAUFUMSATZ",
    "Debitk",
    "DEBITK",
    "girocard",
    "GIROCARD",
    "Folgenr",
    "FOLGENR",
    "ARN7",
    "NR XXXX",
    "Karte Nr.",
)
# What may stand before the shop where a bank names nobody: kinds of cards, dates, times and numbers.
_PARTICULARS = re.compile(
    r"(?:(?:(?:visa|mastercard|maestro|girocard|ec)[ -]*)?(?:debit|kredit)?kart(?:e|en)(?:zahlung|umsatz)?"
    r"|(?:visa|mastercard|maestro|girocard)-?|kaufumsatz|debitk\S*|nr\.?|uhr|vom|am|um|[*x]*\d[\d.:/*x-]*(?:t[\d:.]+)?)"
    r"(?:\s+|$)",
    re.IGNORECASE,
)
# `2025-09-03T10:20 DEBITK.0 2028-12 KURTAXE`: till and card, then what was bought.
_REMARK = re.compile(r"DEBITK\.?\s?\d*\s+(?:\d{4}-\d\d\s+)?(\D.*)", re.IGNORECASE)
# `Cafe Bohne 10.05.2025 06.04.22 460836 EUR 6,40 EC …`: all behind the date is the card's; `GA` is a cash machine.
_DATE_AND_TIME = re.compile(r"\s?\d\d\.\d\d\.\d{4} \d\d\.\d\d\.\d\d ")
_MACHINE = re.compile(r"\d\d\.\d\d\.\d\d GA \d")
# Behind these a till tells what was bought: `APPLE.COM/BILL ITUNES.COM iCloud+ 200 GB`.
TELLING_STAGES = ("APPLE.COM", "APPLE COM", "GOOGLE ", "GOOGLE*", "AMAZON ", "AMAZON.", "AMZN")
# What no purpose of somebody's own holds: words of cards and tills, and tags.
PARTICULAR_SIGNS = (
    *CARD_SIGNS,
    *("artenumsatz", "artenzahlung", "KARTENZAHLUNG", "Terminal", "TERMINAL", "Beleg", "ELV"),
    *("EREF+", "KREF+", "MREF+", "SVWZ+"),
)
# Not `bargeldlos`.
CASH_SIGNS = ("BARGELDA", "Bargelda", "BARGELD ", "Bargeld ", "GELDAUTOMAT", "Geldautomat")


def find_shop(name: str, purpose: str, is_card: bool) -> str | None:
    """The text of the shop's terminal, or nothing if this is no card text."""
    purpose = purpose.removeprefix("SVWZ+")
    place = purpose.find("//")
    if place > 1 and "http" not in purpose[max(0, place - 6) : place] and not purpose[place + 2 : place + 3].isdigit():
        dated = _DATE_AND_TIME.search(purpose, 0, place)
        if dated and dated.start() > MIN_PLACE_LENGTH:
            return purpose[: dated.start()]
        return cut_place(purpose[:place], purpose[place + 2 :])
    place = name.find("//")
    if place > 1:
        return cut_place(name[:place], name[place + 2 :])
    if name[:14].lower().startswith(CARD_PREFIXES):
        return _cut_prefix(name)
    if (is_card or "artenumsatz" in purpose) and "/" in name and " " not in name:
        # `FLYING.TIGER/BERLIN`
        return name.partition("/")[0]
    if not name:
        return _find_unnamed(purpose, is_card)
    if is_card and (purpose.startswith(name) or any(sign in purpose for sign in CARD_SIGNS)):
        return name
    return None


def find_remark(name: str, purpose: str) -> str:
    """What a card text tells beside the shop: that cash was drawn, or what was bought."""
    if _tells_cash(purpose) or (" GA " in purpose and _MACHINE.search(purpose)):
        return "Cashback an der Kasse" if "CASHBACK" in purpose.upper() else "Bargeldauszahlung"
    if not name:
        return ""
    if name.upper().startswith(TELLING_STAGES) and purpose.startswith(name) and "//" not in purpose:
        return purpose[len(name) :]
    if "EBITK" in purpose or "ebitk" in purpose:
        match = _REMARK.search(purpose)
        return match[1] if match else ""
    # `Bürgerbüro Personalausweis 07.08 09.16 girocard`; but the shop again comes with its place.
    is_shop_again = purpose.lower().startswith(name.partition("//")[0].partition(" ")[0].lower())
    before, girocard, _ = purpose.partition(" girocard")
    if girocard:
        return "" if is_shop_again else before
    # Where the name tells the place too, or is but a stage, a purpose without a card's particulars is somebody's own.
    has_place = "//" in name or name.upper().startswith(TELLING_STAGES)
    is_own = has_place and purpose[:1].isalpha() and not is_shop_again
    return purpose if is_own and not any(sign in purpose for sign in PARTICULAR_SIGNS) else ""


def _tells_cash(purpose: str) -> bool:
    # Two looks for what all signs share spare most purposes the other six.
    return ("ELD" in purpose or "eld" in purpose) and any(sign in purpose for sign in CASH_SIGNS)


def _find_unnamed(purpose: str, is_card: bool) -> str | None:
    """The shop in a card text without a name: before the card's particulars, or behind them."""
    before = _cut_sign(purpose)
    if before is None and not is_card:
        return None
    return _cut_particulars(before or "") or _cut_particulars(purpose) or before or purpose


def _cut_particulars(text: str) -> str:
    while match := _PARTICULARS.match(text):
        text = text[match.end() :]
    return text if len(text) > MIN_PLACE_LENGTH else ""


def cut_place(shop: str, rest: str) -> str:
    """The shop without the place, which some terminals write twice: `HIT SANKT AUGUSTIN//SANKT AUGUSTI/DE`."""
    place = rest.partition("/")[0].upper()
    start = shop.rfind(" ") if len(place) > MIN_PLACE_LENGTH else -1
    while start > 1:
        # Either may be cut.
        end = shop[start + 1 :].upper()
        is_cut = len(place) >= MIN_CUT_PLACE_LENGTH and end.startswith(place) and " " not in end[len(place) :]
        if is_cut or place.startswith(end):
            before = shop[:start]
            return shop if before[before.rfind(" ") + 1 :].upper() in OF_PLACE else before
        start = shop.rfind(" ", 0, start) if len(end) < len(place) else -1
    return shop


def _cut_prefix(name: str) -> str:
    for prefix in CARD_PREFIXES:
        if name[: len(prefix)].lower() == prefix:
            return name[len(prefix) :]
    return name


def _cut_sign(purpose: str) -> str | None:
    """What stands before the card's particulars."""
    starts = [start for sign in CARD_SIGNS if (start := purpose.find(sign)) > 3]
    return purpose[: min(starts)] if starts else None

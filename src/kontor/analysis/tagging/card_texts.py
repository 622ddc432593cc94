"""Card payments: the shop without place, time, card number and terminal.

Places are left out on purpose: `ESSEN` is a city and a meal.
"""

CARD_PREFIXES = ("visa ", "mastercard ", "maestro ", "girocard ", "debitkarte ", "kartenzahlung ", "ec ", "pos ")
SHORTEST_PLACE = 2
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


def find_shop(name: str, purpose: str, is_card: bool) -> str | None:
    """The text of the shop's terminal, or nothing if this is no card text."""
    place = purpose.find("//")
    if place > 1 and "http" not in purpose[max(0, place - 6) : place] and not purpose[place + 2 : place + 3].isdigit():
        return _cut_place(purpose[:place], purpose[place + 2 :])
    place = name.find("//")
    if place > 1:
        return _cut_place(name[:place], name[place + 2 :])
    if name[:14].lower().startswith(CARD_PREFIXES):
        return _cut_prefix(name)
    if is_card and "/" in name and " " not in name:
        # `FLYING.TIGER/BERLIN`
        return name.partition("/")[0]
    if not name:
        return _cut_sign(purpose) or (purpose if is_card else None)
    if is_card and (purpose.startswith(name) or any(sign in purpose for sign in CARD_SIGNS)):
        return name
    return None


def _cut_place(shop: str, rest: str) -> str:
    """The shop without the place, which some terminals write twice: `HIT SANKT AUGUSTIN//SANKT AUGUSTI/DE`."""
    place = rest.partition("/")[0]
    start = shop.rfind(" ") if len(place) > SHORTEST_PLACE else -1
    while start > 1:
        # Either may be cut.
        end = shop[start + 1 :].upper()
        if end.startswith(place.upper()) or place.upper().startswith(end):
            return shop[:start]
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

"""Card payments: the shop without place, time, card number and terminal.

Places are left out on purpose: `ESSEN` is a city and a meal.
"""

CARD_PREFIXES = ("visa ", "mastercard ", "maestro ", "girocard ", "debitkarte ", "kartenzahlung ", "ec ", "pos ")
CARD_SIGNS = ("KFN", "KAUFUMSATZ", "Debitk", "DEBITK", "girocard", "GIROCARD", "Folgenr", "FOLGENR", "ARN7", "NR XXXX")


def find_shop(name: str, purpose: str, is_card: bool) -> str | None:
    """The text of the shop's terminal, or nothing if this is no card text."""
    place = purpose.find("//")
    if place > 1 and "http" not in purpose[max(0, place - 6) : place]:
        return purpose[:place]
    if name[:14].lower().startswith(CARD_PREFIXES):
        return _cut_prefix(name)
    if not name:
        return _cut_sign(purpose) or (purpose if is_card else None)
    if is_card and (purpose.startswith(name) or any(sign in purpose for sign in CARD_SIGNS)):
        return name
    return None


def _cut_prefix(name: str) -> str:
    for prefix in CARD_PREFIXES:
        if name[: len(prefix)].lower() == prefix:
            return name[len(prefix) :]
    return name


def _cut_sign(purpose: str) -> str | None:
    """What stands before the card's particulars."""
    starts = [start for sign in CARD_SIGNS if (start := purpose.find(sign)) > 3]
    return purpose[: min(starts)] if starts else None

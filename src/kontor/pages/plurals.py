"""Which form of a word goes with a number: the plural rules of the Unicode CLDR, for whole numbers."""

ONE, FEW, OTHER = "one", "few", "other"


def choose_form(count: int, language: str) -> str:
    """`one`, `few`, or `other` for all the rest, which CLDR calls `many` in Polish and Ukrainian."""
    match language:
        case "fr":
            return ONE if count in (0, 1) else OTHER
        case "pl":
            return ONE if count == 1 else FEW if _is_few(count) else OTHER
        case "uk":
            return ONE if count % 10 == 1 and count % 100 != 11 else FEW if _is_few(count) else OTHER
    return ONE if count == 1 else OTHER


def _is_few(count: int) -> bool:
    return count % 10 in (2, 3, 4) and count % 100 not in (12, 13, 14)

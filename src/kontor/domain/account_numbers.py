"""Numbers of accounts and cards as banks write them: with blanks, leading zeros, or masked in the middle."""

import re

MASK = "*"
_BLANKS = re.compile(r"\s+")
# Bullets, dots, crosses: every bank has a sign of its own for a digit that it hides.
_MASKED_DIGIT = re.compile(r"[^0-9A-Za-z]|[xX]")


def clean_card_number(text: str) -> str:
    """Without blanks, and `*` for every hidden digit: `4930 •••• •••• 3435` is `4930********3435`."""
    return _MASKED_DIGIT.sub(MASK, _BLANKS.sub("", text))


def is_same_number(left: str, right: str) -> bool:
    """Leading zeros do not count. A hidden digit contradicts no other."""
    if MASK in left or MASK in right:
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(digit == other or MASK in (digit, other) for digit, other in pairs)
    return left.lstrip("0") == right.lstrip("0")

"""Words of strangers in files that spreadsheets open."""

import re

# A spreadsheet takes a cell that begins so for a formula; the wide forms of these signs too.
FORMULA_STARTS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_SIGNS = "".join(map(re.escape, FORMULA_STARTS))
_CELL_INSIDE = re.compile(rf"([;,])(?=[{_SIGNS}]+[^\s{_SIGNS}])")


def escape_formula(text: str | None) -> str:
    """Words of strangers as a cell that no spreadsheet takes for a formula, in one line.

    A spreadsheet of another country separates cells by another sign, so none may stand right before a formula.
    """
    plain = _CELL_INSIDE.sub(r"\1 ", " ".join((text or "").split()))
    return f"'{plain}" if plain.startswith(FORMULA_STARTS) else plain

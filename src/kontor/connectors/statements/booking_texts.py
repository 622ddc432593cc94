"""What a booking is called where the bank leaves it to a code: the tables in `data/`."""

from functools import cache
from importlib.resources import files


@cache
def _read_table(name: str) -> dict[str, str]:
    text = (files("kontor.connectors.statements") / "data" / name).read_text(encoding="utf-8")
    rows = (line.partition(";") for line in text.splitlines() if line and not line.startswith("#"))
    return {code: words for code, _, words in rows}


def find_booking_text(gv_code: str | None, purpose_code: str | None = None) -> str | None:
    """The purpose code says more than the GV code, so it comes first."""
    if purpose_code is not None and (text := _read_table("purpose_codes.csv").get(purpose_code)) is not None:
        return text
    return None if gv_code is None else _read_table("gv_codes.csv").get(gv_code)

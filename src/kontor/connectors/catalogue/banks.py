"""The committed table of German banks, `banks.tsv`, made by `scripts/build_catalogue.py`."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

COLUMNS = ("blz", "bic", "name", "city", "group", "address")


class Bank(NamedTuple):
    """One line of the table; what is not known is an empty string."""

    blz: str
    bic: str
    name: str
    city: str
    group: str
    address: str


@cache
def load_banks() -> tuple[Bank, ...]:
    head, *lines = files(__package__).joinpath("banks.tsv").read_text(encoding="utf-8").splitlines()
    if tuple(head.split("\t")) != COLUMNS:
        raise ValueError("banks.tsv has other columns than expected")
    return tuple(Bank._make(line.split("\t")) for line in lines)


def list_groups() -> set[str]:
    return {bank.group for bank in load_banks() if bank.group}

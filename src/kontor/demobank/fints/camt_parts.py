"""An answer of many small camt documents, as some banks send it: one for each day, or for each pending booking."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby

from kontor.demobank.statements import write_camt052
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

_NAMESPACE = re.compile(rb'(xmlns="[^"]+camt\.052\.001\.[0-9]{2})"')
_DAY = re.compile(rb"<Dt>([0-9]{4}-[0-9]{2}-[0-9]{2})</Dt>")


def write_camt_parts(
    product: Product, rows: Sequence[Transaction], opening: Decimal, version: str
) -> tuple[list[bytes], list[bytes]]:
    """Documents of booked and of pending rows. Each has the opening balance of all as both of its balances."""

    def write(found: list[Transaction]) -> bytes:
        day = _find_day(found[0])
        return _make_odd(write_camt052(product, found, opening, day=day, version=version, closing=opening))

    booked = sorted((row for row in rows if not row.is_pending), key=_find_day)
    days = [list(found) for _, found in groupby(booked, key=_find_day)]
    return [write(found) for found in days], [write([row]) for row in rows if row.is_pending]


def _find_day(row: Transaction) -> date:
    return find_day(row) or date.min


def _make_odd(document: bytes) -> bytes:
    """A namespace named like a file, and times with an offset in place of days."""
    return _DAY.sub(rb"<DtTm>\1T00:00:00.000+01:00</DtTm>", _NAMESPACE.sub(rb'\1.xsd"', document))

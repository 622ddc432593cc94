"""Amounts in messages of banks, as they come rather than as they should.

python-fints takes an amount of more than 15 characters, or with a zero at its end, for damage: the balance is lost, or
the whole message. Banks send both (`1234,010000000021`, `100,10`), so its field reads amounts the way given here.
"""

import re
from decimal import Decimal
from typing import Any

from fints.fields import AmountField

from kontor.connectors.statements.values import drop_noise

_AMOUNT = re.compile(r"[0-9]{1,20}(?:,[0-9]{0,30})?")


def parse_amount(field: Any, value: Any) -> Any:
    """The field's value. TypeError is what the library raises for what is no amount."""
    if isinstance(value, Decimal | float):
        return value
    text = str(value)
    if not _AMOUNT.fullmatch(text):
        raise TypeError("this is no amount")
    return drop_noise(Decimal(text.replace(",", ".")))


def accept_amounts() -> None:
    AmountField._parse_value = parse_amount

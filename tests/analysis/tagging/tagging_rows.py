"""Bookings for the tests of the tagger, written short."""

from datetime import UTC, datetime
from decimal import Decimal

from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)


def book(amount, name=None, purpose=None, text=None, gv=None, iban=None, ultimate=None):
    return Transaction(
        Decimal(str(amount)),
        "EUR",
        NOON,
        purpose=purpose,
        booking_text=text,
        gv_code=gv,
        counterparty_name=name,
        counterparty_iban=iban,
        ultimate_counterparty=ultimate,
    )


def tag(booking, own=NOBODY):
    return load_tagger().tag([booking], own)[0]

"""Dated transfers that a bank lists."""

from collections.abc import Sequence

from kontor.connectors.base import Pay
from kontor.connectors.fints.accounts import Account
from kontor.connectors.fints.listed_orders import is_listed, list_segments
from kontor.connectors.fints.segments import HKCSB1
from kontor.connectors.fints.sessions import Session
from kontor.connectors.pain001_reading import PaymentBlock, read_pain001
from kontor.connectors.statements import StatementError
from kontor.domain.payments import Order


def list_dated(session: Session, account: Account) -> list[PaymentBlock]:
    """Empty where the bank offers no list, or only with a TAN. What cannot be read is left out: it proves nothing."""
    blocks: list[PaymentBlock] = []
    if not is_listed(session, account, HKCSB1):
        return blocks
    for segment in list_segments(session, account, HKCSB1):
        try:
            blocks += read_pain001(bytes(segment.sepa_pain_message or b""))
        except StatementError:
            continue
    return blocks


def has_dated(blocks: Sequence[PaymentBlock], pay: Pay) -> bool:
    """Does the bank list this transfer under a reference of our own, with its amount and payee?"""
    return not pay.is_bulk and any(is_ours(block, pay, pay.orders[0]) for block in blocks)


def is_ours(block: PaymentBlock, pay: Pay, order: Order) -> bool:
    """An end-to-end id that the caller chose may have been used before, and proves nothing."""
    own, listed = pay.payment_id.hex, block.orders[0]
    has_reference = own in (block.id, block.message_id)
    if not order.end_to_end_id:
        has_reference = has_reference or listed.end_to_end_id == own
    return has_reference and (listed.iban, listed.amount) == (order.iban, order.amount)

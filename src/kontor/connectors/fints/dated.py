"""Dated transfers that a bank lists (HKCSB)."""

from collections.abc import Sequence

from fints.formals import SupportedMessageTypes

from kontor.connectors.base import Pay
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.codes import MORE_FOLLOWS
from kontor.connectors.fints.payments import find_descriptor
from kontor.connectors.fints.segments import HKCSB1
from kontor.connectors.fints.sessions import Session
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.pain001 import Batch, name_order
from kontor.connectors.pain001_reading import PaymentBlock, read_pain001
from kontor.connectors.statements import StatementError

MOST_PAGES = 100


def list_dated(session: Session, account: Account) -> list[PaymentBlock]:
    """Empty where the bank offers no list, or only with a TAN. What cannot be read is left out: it proves nothing."""
    is_offered = session.parameters.find_newest(HKCSB1.TYPE, (HKCSB1.VERSION,)) is not None
    if not is_offered or not account.can(HKCSB1.TYPE) or session.parameters.needs_tan(HKCSB1.TYPE):
        return []
    blocks: list[PaymentBlock] = []
    touchdown = None
    for _ in range(MOST_PAGES):
        segment = HKCSB1(
            account=name_account(HKCSB1, account),
            sepa_formats=SupportedMessageTypes([find_descriptor(session)]),
            touchdown_point=touchdown,
        )
        reply = session.send(segment).refuse()
        for listed in reply.list("HICSB"):
            try:
                blocks += read_pain001(bytes(listed.sepa_pain_message or b""))
            except StatementError:
                continue
        touchdown = next(
            (code.parameters[0] for code in reply.codes if code.code == MORE_FOLLOWS and code.parameters), None
        )
        if touchdown is None:
            return blocks
    raise NoResponseError("a list without an end")


def has_dated(blocks: Sequence[PaymentBlock], pay: Pay) -> bool:
    """Does the bank list this transfer under a reference of our own, with its amount, payee and day?"""
    if pay.is_bulk or pay.execution_date is None:
        return False
    (order,) = pay.orders
    batch = Batch(pay.payment_id.hex, pay.orders, pay.execution_date)
    for block in blocks:
        listed = block.orders[0]
        is_ours = batch.id in (block.id, block.message_id)
        if not order.end_to_end_id:
            is_ours = is_ours or listed.end_to_end_id == name_order(batch, 0)
        if is_ours and (listed.iban, listed.amount) == (order.iban, order.amount):
            return True
    return False

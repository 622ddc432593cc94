"""What somebody earns: income without refunds, and what others pay regularly.

Borrowed money, cash that is paid in, returned debits, winnings, and what one's own things are sold for come in without
being earned.
"""

import re
from collections.abc import Sequence

from kontor.analysis.contracts import Contract
from kontor.analysis.contracts.texts import squeeze_text
from kontor.analysis.life_events.signs import read_text
from kontor.analysis.records import Account, Record

GAMBLING_CATEGORY = "RECREATION_OTHER"
RETURNED_CODES = frozenset({"059", "159", "181", "184"})
_RETURNED = re.compile(r"RUECKLASTSCHR|RUECKGABEGRUND|LASTSCHRIFTRUECK|RUECKGABELASTSCHR|NICHTEINGELOEST|RLSENTGELT")
_GAMBLING = re.compile(
    r"LOTTO|LOTTER|TOTO|WETT|SPIELKONTO|SPIELBANK|CASINO|SPIELHALLE|SPIELOTHEK|TIPICO|BWIN|BET365|BETANO|TIPP24|POKER"
    r"|JACKPOT|WUNDERINO|MERKUR|NOVOLINE|BETWAY|INTERWETTEN|ADMIRALBET|GLUECKSSPIEL|BUCHMACHER|RUBBELLOS|MERNOV"
    r"|RHINOCEROS|LOTTOLAND|STARGAMES|GEWINNSPAR|SKLBOESE|ROULETTE"
)
_REFUND = re.compile(
    r"ERSTATT|RUECKZAHL|RUECKUEBERW|RETOURE|STORNO|GUTHABEN|KAUTION|KULANZ|DOPPELABBUCH|ZUVIELGEZAHLT|REFUND|WIDERRUF"
    r"|(?:JAHRES|KOSTEN|VERBRAUCHS|STROM|GAS|WASSER|WAERME)ABRECHNUNG"
)
_CARD_REFUND_CODE = "182"
_CARD_REFUND = re.compile(r"KARTENGUTSCHR|GUTSCHR(?:IFT|\.)?KARTE")
_SALE = re.compile(r"VERKAUF|KLEINANZEIGE|VINTED|EBAY|MOMOX|REBUY|FLOHMARKT")
_REVENUE = "REVENUE"
# What comes in under these was the customer's before, or has to be paid back.
_NEVER = ("BANKFINANCE_", "SAVINGS_", "TRANSFER_")


def is_returned(record: Record) -> bool:
    """A direct debit that came back, or the fee for one."""
    if record.business_code in RETURNED_CODES:
        return True
    return _RETURNED.search(read_text(record) + record.booking_text.upper()) is not None


def is_gambling(record: Record) -> bool:
    return record.category == GAMBLING_CATEGORY and _GAMBLING.search(read_text(record)) is not None


class EarnedIncome:
    """Tells what of the money that comes in is earned."""

    def __init__(self, contracts: Sequence[Contract], accounts: Sequence[Account]) -> None:
        self._paid_regularly = {
            number for contract in contracts if contract.is_income for number in contract.transaction_ids
        }
        self._of_expenses = {
            number for contract in contracts if not contract.is_income for number in contract.transaction_ids
        }
        self._cards = {account.id for account in accounts if account.category.is_card}

    def is_earned(self, record: Record) -> bool:
        category = record.category
        if record.amount <= 0 or category.startswith(_NEVER) or record.account in self._cards:
            return False
        if category == "INCOME_OTHER":
            return not self._is_refund(record)
        if category.startswith("INCOME_"):
            return record.business_code not in RETURNED_CODES
        if record.id not in self._paid_regularly:
            return False
        return not (is_returned(record) or is_gambling(record) or _SALE.search(read_text(record)))

    def _is_refund(self, record: Record) -> bool:
        if record.id in self._paid_regularly or record.freelancer_category == _REVENUE:
            return False
        if record.id in self._of_expenses or record.business_code == _CARD_REFUND_CODE or is_returned(record):
            return True
        if _CARD_REFUND.search(squeeze_text(record.booking_text)):
            return True
        return _REFUND.search(squeeze_text(record.purpose)) is not None

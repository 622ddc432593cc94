"""Money between a customer's own accounts: connected or not, told by their IBANs and by the holder's name."""

from collections.abc import Sequence

from kontor.analysis.contracts.texts import simplify_name, squeeze_text
from kontor.analysis.records import Account, Record
from kontor.domain.products import ProductCategory

LOAN_PAYMENTS = frozenset({"BANKFINANCE_CREDITPAYMENT", "HOUSING_FINANCING"})
# Bookings on these mirror what is paid elsewhere.
PASSIVE = frozenset({ProductCategory.LOAN, ProductCategory.DEPOT})
OWN_TRANSFER = "TRANSFER_OWN"
_SAVINGS, _SAVINGS_ACCOUNT = "SAVINGS_", "SAVINGS_ACCOUNT"
_SETTLEMENT = "BANKFINANCE_TRANSFER"
_SETTLEMENT_WORDS = ("KREDITKARTE", "KARTENABRECHNUNG", "VISA", "MASTERCARD", "AMEX")


class OwnMoney:
    """Tells what moves between a customer's own accounts."""

    def __init__(self, accounts: Sequence[Account]) -> None:
        self._ibans = {account.iban.replace(" ", "") for account in accounts if account.iban}
        self._holders = {simplify_name(account.holder) for account in accounts if account.holder} - {""}
        self._cards = {account.id for account in accounts if account.category.is_card}
        self._passive = {account.id for account in accounts if account.category in PASSIVE}

    def is_own(self, record: Record) -> bool:
        """Whether a booking is neither earned nor spent: moved between own accounts, or mirrored on one of them."""
        return record.account in self._passive or record.category.startswith("TRANSFER") or self.is_transfer(record)

    def is_transfer(self, record: Record) -> bool:
        """Whether money moves between own accounts. Into savings or a loan of one's own: that is what it is for."""
        category = record.category
        if category == OWN_TRANSFER:
            return True
        if category == _SETTLEMENT and self._cards:
            return self._is_settlement(record)
        # Interest on an account is booked with the holder's name.
        if category.startswith("INCOME_") or not self._is_ours(record):
            return False
        return record.amount > 0 or not (category.startswith(_SAVINGS) or category in LOAN_PAYMENTS)

    def is_saved(self, record: Record) -> bool:
        """Whether money is put aside into an account of one's own, or taken from it: no expense and no income. A
        savings plan at a broker or a premium is an expense."""
        category = record.category
        return category == _SAVINGS_ACCOUNT or (category.startswith(_SAVINGS) and self._is_ours(record))

    def _is_ours(self, record: Record) -> bool:
        if record.counterparty_iban in self._ibans:
            return True
        return bool(record.counterparty_name) and simplify_name(record.counterparty_name) in self._holders

    def _is_settlement(self, record: Record) -> bool:
        if record.account in self._cards and record.amount > 0:
            return True
        text = squeeze_text(f"{record.booking_text} {record.purpose}")
        return any(word in text for word in _SETTLEMENT_WORDS) or self._is_ours(record)

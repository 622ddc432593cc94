"""Card accounts: the same as accounts, in other words of the standard."""

from typing import Any

from kontor.demobank.xs2a.accounts import Accounts, number_account
from kontor.demobank.xs2a.aspsp import AccountSnapshot, show_money
from kontor.demobank.xs2a.bodies import make_link
from kontor.demobank.xs2a.bookings import list_balances, show_booking
from kontor.demobank.xs2a.resources import Consent
from kontor.domain.transactions import Transaction


class CardAccounts(Accounts):
    list_name = "cardAccounts"
    account_name = "cardAccount"
    rows_name = "cardTransactions"

    def find_holdings(self, login: str) -> list[AccountSnapshot]:
        return self._aspsp.list_holdings(login, is_card=True)

    def refer(self, holding: AccountSnapshot) -> dict[str, Any]:
        return {"maskedPan": holding.product.account_number, "currency": holding.product.currency}

    def show_account(self, holding: AccountSnapshot, consent: Consent, *, has_balances: bool) -> dict[str, Any]:
        product = holding.product
        path = f"/v1/card-accounts/{number_account(holding)}"
        shown: dict[str, Any] = {
            "resourceId": number_account(holding),
            **self.refer(holding),
            "name": product.name,
            "product": product.name[:35],
            "ownerName": product.holder,
            "status": "enabled",
            "_links": {part: make_link(f"{path}/{part}") for part in ("balances", "transactions")},
        }
        if product.credit_limit is not None:
            shown["creditLimit"] = {"currency": product.currency, "amount": show_money(product.credit_limit)}
        if has_balances:
            shown["balances"] = list_balances(product)
        return shown

    def show_row(self, row: Transaction, holding: AccountSnapshot) -> dict[str, Any]:
        usual = show_booking(row)
        shown = {
            "cardTransactionId": row.bank_id,
            "transactionDate": usual.get("valueDate"),
            "bookingDate": usual.get("bookingDate"),
            "transactionAmount": usual["transactionAmount"],
            "cardAcceptorId": row.counterparty_name and row.counterparty_name[:35],
            "transactionDetails": row.purpose,
            "maskedPAN": holding.product.account_number,
            "proprietaryBankTransactionCode": row.booking_text and row.booking_text[:35],
        }
        return {key: value for key, value in shown.items() if value is not None}

"""What a consent shows: accounts, card accounts, and their balances."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import quote

from kontor.connectors.base import ProblemKind, State
from kontor.connectors.xs2a.banks import Xs2aBank
from kontor.connectors.xs2a.cards import make_card
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import RefusedError
from kontor.connectors.xs2a.messages import Account, AccountList, Balance, BalanceList, CardAccount, CardAccountList
from kontor.connectors.xs2a.rows import make_product, name_account
from kontor.domain.products import Product

CARDS_PATH = "v1/card-accounts"


@dataclass(slots=True)
class Shown:
    """Products, and by their keys the addresses of their bookings. `cards`: of each, whether debts are positive there.

    `problems` are in the form of states.
    """

    products: list[Product] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)
    cards: dict[str, bool] = field(default_factory=dict)
    problems: list[State] = field(default_factory=list)

    def report(self, detail: str | None = None) -> None:
        self.problems.append({"kind": str(ProblemKind.PRODUCT), "key": None, "detail": detail})


class AccountReader:
    """`headers` are those of every request for account data; `institution` is the bank's name."""

    def __init__(
        self, client: Client, bank: Xs2aBank, headers: Mapping[str, str], institution: str | None, today: date
    ) -> None:
        self._client = client
        self._bank = bank
        self._headers = headers
        self._institution = institution
        self._today = today

    def read(self) -> Shown:
        shown = Shown()
        self._read_accounts(shown)
        if self._bank.has_card_accounts:
            self._read_cards(shown)
        return shown

    def _read_accounts(self, shown: Shown) -> None:
        path = self._bank.accounts_path
        groups: dict[str, list[Account]] = {}
        for account in self._client.get(self._client.enter(path), AccountList, self._headers).accounts:
            key = name_account(account)
            if key is None:
                shown.report()
            else:
                groups.setdefault(key, []).append(account)
        for key, accounts in groups.items():
            balances = [balance for account in accounts for balance in self._read_balances(account, path)]
            product = make_product(key, accounts, balances, self._bank, self._institution, self._today)
            shown.products.append(product)
            links = [self._find_link(account, path, "transactions") for account in accounts]
            shown.links[key] = [link for link in links if link is not None]

    def _read_cards(self, shown: Shown) -> None:
        """A bank that shows accounts but no cards is no reason to show nothing."""
        try:
            listed = self._client.get(self._client.enter(CARDS_PATH), CardAccountList, self._headers).card_accounts
        except RefusedError as error:
            if not error.is_final:
                raise
            shown.report(error.text)
            return
        for account in listed:
            key = account.masked_pan
            if not key or key in shown.links:
                shown.report()
                continue
            balances = self._read_balances(account, CARDS_PATH)
            shown.products.append(make_card(account, balances, self._institution, self._today))
            link = self._find_link(account, CARDS_PATH, "transactions")
            shown.links[key] = [] if link is None else [link]
            shown.cards[key] = account.is_debt

    def _read_balances(self, account: Account | CardAccount, path: str) -> tuple[Balance, ...]:
        """What is missing shows as a product without a balance."""
        if account.balances is not None:
            return account.balances
        link = self._find_link(account, path, "balances")
        if link is None:
            return ()
        try:
            return self._client.get(link, BalanceList, self._headers).balances
        except RefusedError as error:
            if not error.is_final:
                raise
            return ()

    def _find_link(self, account: Account | CardAccount, path: str, part: str) -> str | None:
        """Where a part of the account is. A link that is missing means that the consent does not cover it."""
        if part in account.links:
            return account.links[part].href
        if not self._bank.builds_addresses or account.resource_id is None:
            return None
        return self._client.enter(f"{path}/{quote(account.resource_id, safe='')}/{part}")

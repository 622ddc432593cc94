"""Firefly III, by its API. Entries are known by their `external_id`, and it refuses an entry that it has already.

Pending bookings are left out: Firefly III has no entries beside those that count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import httpx

from kontor.cli.syncs.entries import Account, Entry, Found, LedgerError

PREFIX = "kontor-"
TIMEOUT_SECONDS = 60
PAGE_ROWS = 500
# So many are looked for one by one; for more, everything is listed once.
FEW = 20
MAX_DESCRIPTION = 1000
NOT_FOUND, UNPROCESSABLE = 404, 422
REFUSALS = {
    401: "Firefly III refuses the token: it is wrong or has expired (FIREFLY_TOKEN).",
    403: "Firefly III forbids this to the token's user (FIREFLY_TOKEN).",
}


class Firefly:
    """See `Ledger`. An entry's id there is that of its group and that of its journal."""

    name = "Firefly III"
    holds_pending = False
    currencies = None

    def __init__(self, address: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._http = httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=TIMEOUT_SECONDS)
        self._listed: dict[str, Found] | None = None
        self._accounts: dict[str, dict[str, Any]] = {}  # their attributes, by id
        try:
            self._ask("GET", "about")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._http.close()

    # The API

    def _ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """None where it does not exist."""
        try:
            answer = self._http.request(method, path, json=body, params=query or None)
        except httpx.HTTPError as error:
            raise LedgerError(f"Firefly III cannot be reached at {self._http.base_url.host}: {error}") from error
        if answer.status_code == NOT_FOUND and method in ("GET", "DELETE") and path != "about":
            return None
        if answer.status_code in REFUSALS:
            raise LedgerError(REFUSALS[answer.status_code])
        try:
            told = answer.json() if answer.content else {}
        except ValueError as error:
            raise LedgerError(f"There is no API of Firefly III at {self._http.base_url}.") from error
        if not answer.is_success:
            raise RefusedError(answer.status_code, str(told.get("message") or answer.reason_phrase), str(told))
        return told

    def _list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        page, pages = 1, 1
        while page <= pages:
            told = self._ask("GET", path, limit=PAGE_ROWS, page=page, **query)
            yield from told["data"]
            pages = told.get("meta", {}).get("pagination", {}).get("total_pages", 1)
            page += 1

    # Accounts

    def find_accounts(self, accounts: Sequence[Account], known: Mapping[str, str]) -> dict[str, str]:
        self._accounts = {each["id"]: each["attributes"] for each in self._list("accounts", type="asset")}
        ibans = {_fold(each.get("iban")): id for id, each in self._accounts.items() if each.get("iban")}
        names = {each["name"]: id for id, each in self._accounts.items()}
        found = {}
        for account in accounts:
            id = known.get(account.key) or ibans.get(_fold(account.iban)) or names.get(account.name, "")
            if id in self._accounts:
                found[account.key] = id
        return found

    def create_account(self, account: Account) -> str:
        body = {
            "name": account.name,
            "type": "asset",
            "account_role": "savingAsset" if account.is_savings else "defaultAsset",
            "currency_code": account.currency,
        }
        if account.iban:
            body["iban"] = account.iban
        made = self._ask("POST", "accounts", body)["data"]
        self._accounts[made["id"]] = made["attributes"]
        return str(made["id"])

    def read_balance(self, account_id: str) -> Decimal:
        told = self._ask("GET", f"accounts/{account_id}")
        return Decimal(0) if told is None else Decimal(str(told["data"]["attributes"]["current_balance"]))

    def _set_opening(self, account_id: str, entry: Entry | None) -> None:
        body = {"name": self._accounts[account_id]["name"], "type": "asset", "opening_balance": "0"}
        if entry is not None:
            body |= {"opening_balance": str(entry.amount), "opening_balance_date": entry.day.isoformat()}
        self._ask("PUT", f"accounts/{account_id}", body)

    def _find_opening(self, entry: Entry, account_id: str | None) -> Found | None:
        there = self._accounts.get(account_id or "", {})
        amount = Decimal(there.get("opening_balance") or 0)
        if account_id is None or not amount:
            return None
        day = date.fromisoformat((there.get("opening_balance_date") or entry.day.isoformat())[:10])
        seen = Entry(entry.id, entry.account, day, amount, entry.payee, entry.category, is_opening=True)
        return Found(account_id, seen)

    # Entries

    def find(self, entries: Sequence[Entry], known: Mapping[str, str], accounts: Mapping[str, str]) -> dict[str, Found]:
        found: dict[str, Found] = {}
        unknown = []
        for entry in entries:
            if entry.is_opening:
                opening = self._find_opening(entry, known.get(entry.id) or accounts.get(entry.account))
                if opening is not None:
                    found[entry.id] = opening
            elif entry.id in known:
                told = self._ask("GET", f"transactions/{known[entry.id].partition(':')[0]}")
                if told is not None:
                    found |= _read_group(told["data"])
            else:
                unknown.append(entry)
        if len(unknown) > FEW and self._listed is None:
            self._listed = {}
            for group in self._list("transactions"):
                self._listed |= _read_group(group)
        for entry in unknown:
            found |= self._search(entry) if self._listed is None else _pick(self._listed, entry)
        there = [(entry, found[entry.id]) for entry in entries if entry.id in found]
        return {entry.id: Found(each.ledger_id, replace(each.entry, account=entry.account)) for entry, each in there}

    def _search(self, entry: Entry) -> dict[str, Found]:
        found: dict[str, Found] = {}
        for group in self._list("search/transactions", query=f'external_id_is:"{PREFIX}{entry.id}"'):
            found |= _read_group(group)
        return found

    def add(self, entries: Sequence[Entry], accounts: Mapping[str, str]) -> dict[str, str]:
        ids = {}
        for entry in entries:
            account = accounts[entry.account]
            if entry.is_opening:
                self._set_opening(account, entry)
                ids[entry.id] = account
            else:
                ids[entry.id] = self._add_one(entry, account)
        return ids

    def _add_one(self, entry: Entry, account: str) -> str:
        split = _make_split(entry, account) | {"external_id": PREFIX + entry.id}
        body = {"error_if_duplicate_hash": True, "apply_rules": True, "transactions": [split]}
        try:
            told = self._ask("POST", "transactions", body)
        except RefusedError as refused:
            if refused.status != UNPROCESSABLE or "uplicate" not in refused.told:
                raise
            there = self._search(entry)
            if entry.id not in there:
                raise
            return there[entry.id].ledger_id
        return _read_group(told["data"])[entry.id].ledger_id

    def change(self, ledger_id: str, entry: Entry, names: Collection[str], accounts: Mapping[str, str]) -> None:
        account = accounts[entry.account]
        if entry.is_opening:
            self._set_opening(account, entry)
            return
        made = _make_split(entry, account)
        fields = {"day": ["date"], "category": ["category_name"], "notes": ["description"], "tags": ["tags"]}
        sides = ["type", "source_id", "source_name", "destination_id", "destination_name"]
        fields |= {"amount": ["amount", *sides], "account": sides, "payee": [*sides, "description"]}
        wanted = {field for name in names for field in fields.get(name, [])}
        split = {field: value for field, value in made.items() if field in wanted}
        group, _, journal = ledger_id.partition(":")
        if split:
            body = {"apply_rules": False, "transactions": [split | {"transaction_journal_id": journal}]}
            self._ask("PUT", f"transactions/{group}", body)

    def remove(self, ledger_id: str, entry: Entry, accounts: Mapping[str, str]) -> None:
        if entry.is_opening:
            self._set_opening(ledger_id, None)
        else:
            self._ask("DELETE", f"transactions/{ledger_id.partition(':')[0]}")

    def save(self) -> None:
        """Each call has saved what it did."""


class RefusedError(LedgerError):
    def __init__(self, status: int, message: str, told: str) -> None:
        super().__init__(f"Firefly III says: {message}")
        self.status = status
        self.told = told


def _pick(listed: Mapping[str, Found], entry: Entry) -> dict[str, Found]:
    return {entry.id: listed[entry.id]} if entry.id in listed else {}


def _fold(iban: str | None) -> str:
    return (iban or "").replace(" ", "").upper()


def _make_split(entry: Entry, account: str) -> dict[str, Any]:
    """What comes in is from a revenue account, what goes out to an expense account: both by the payee's name."""
    is_incoming = entry.amount > 0
    sides = (
        {"type": "deposit", "source_name": entry.payee, "destination_id": account}
        if is_incoming
        else {"type": "withdrawal", "source_id": account, "destination_name": entry.payee}
    )
    return sides | {
        "date": entry.day.isoformat(),
        "amount": str(abs(entry.amount)),
        "description": (entry.notes or entry.payee)[:MAX_DESCRIPTION],
        "category_name": entry.category,
        "tags": list(entry.tags),
    }


def _read_group(group: Mapping[str, Any]) -> dict[str, Found]:
    """The entry of a group, by Kontor's id. A group of several is one that the user has split: its sum counts."""
    splits = group["attributes"]["transactions"]
    first = splits[0]
    external_id = first.get("external_id") or ""
    if not external_id.startswith(PREFIX):
        return {}
    id = external_id.removeprefix(PREFIX)
    is_incoming = first["type"] == "deposit"
    amount = sum((Decimal(split["amount"]) for split in splits), Decimal(0))
    entry = Entry(
        id,
        "",
        date.fromisoformat(first["date"][:10]),
        amount if is_incoming else -amount,
        (first.get("source_name") if is_incoming else first.get("destination_name")) or "",
        first.get("category_name") or "",
        first.get("description") or "",
        tuple(first.get("tags") or ()),
    )
    return {id: Found(f"{group['id']}:{first['transaction_journal_id']}", entry)}

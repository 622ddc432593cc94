"""Actual Budget, by its own API in a process of Node: see actual_bridge.mjs.

An entry's id in Actual follows from Kontor's, so that two runs at once add the same row, and not two.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import httpx

from kontor.cli.syncs.entries import Account, Entry, Found, LedgerError

MARK = "kontor-answer "
PREFIX = "kontor-"
CENT = Decimal("0.01")
INFO_SECONDS = 20
CLOSE_SECONDS = 30
_NO_TAG = re.compile(r"[\s#]+")
# What Actual's API says, and what it means.
REASONS = {
    "invalid-password": "The password of the Actual server is wrong (ACTUAL_PASSWORD).",
    "network-failure": "The Actual server cannot be reached.",
    "needs-bootstrap": "The Actual server has no password yet: open it in a browser first.",
    "is encrypted": "The file is encrypted: set ACTUAL_FILE_PASSWORD to its password.",
    "unable to decrypt": "The password of the encrypted file is wrong (ACTUAL_FILE_PASSWORD).",
    "decrypt-failure": "The password of the encrypted file is wrong (ACTUAL_FILE_PASSWORD).",
    "out-of-sync-migrations": "@actual-app/api is older than the file: install the version of your Actual server.",
}


@dataclass(frozen=True)
class ActualFile:
    server: str
    password: str
    sync_id: str
    file_password: str = ""


class Bridge:
    """The process of Node. One call at a time."""

    def __init__(self, folder: Path) -> None:
        node = shutil.which("node")
        if node is None:
            raise LedgerError("Node.js is needed: Actual's API is written for it. Install Node 20 or newer.")
        (folder / "budget").mkdir(parents=True, exist_ok=True)
        with resources.as_file(resources.files("kontor.cli.syncs") / "actual_bridge.mjs") as script:
            self._process = subprocess.Popen(  # noqa: S603 our own script
                [node, str(script), str(folder.resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )

    def call(self, call: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise LedgerError("The process of Actual's API has ended unexpectedly.") from error
        for line in self._process.stdout:
            if line.startswith(MARK):
                answer = json.loads(line.removeprefix(MARK))
                if "error" in answer:
                    raise LedgerError(explain(f"{answer['error']} {answer['reason']}".strip()))
                return answer["result"]
        raise LedgerError("The process of Actual's API has ended unexpectedly.")

    def close(self) -> None:
        with suppress(LedgerError):
            self.call("close")
        try:
            self._process.communicate(timeout=CLOSE_SECONDS)
        except (subprocess.TimeoutExpired, ValueError, OSError):
            self._process.kill()
            self._process.wait()


def explain(text: str) -> str:
    found = next((reason for sign, reason in REASONS.items() if sign in text.lower()), None)
    return found or f"Actual's API says: {text}"


def read_server_version(server: str) -> str:
    try:
        info = httpx.get(f"{server}/info", timeout=INFO_SECONDS)
        return str(info.raise_for_status().json()["build"]["version"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"There is no Actual server at {server}.") from error


class Actual:
    """See `Ledger`. Amounts are in cents there, and accounts have no currency."""

    name = "Actual"
    holds_pending = True
    currencies = frozenset({"EUR"})

    def __init__(self, file: ActualFile, folder: Path) -> None:
        version = read_server_version(file.server)
        self._bridge = Bridge(folder)
        self._payees: dict[str, str] = {}
        self._groups: dict[str, dict[str, Any]] = {}
        self._income: dict[str, Any] | None = None
        self._categories: dict[str, str] = {}
        self._names: dict[str, str] = {}  # of categories, by their ids
        try:
            self._open(file, folder, version)
        except BaseException:
            self._bridge.close()
            raise

    def _open(self, file: ActualFile, folder: Path, version: str) -> None:
        try:
            self._bridge.call(
                "open",
                server=file.server,
                password=file.password,
                file=file.sync_id,
                filePassword=file.file_password,
            )
        except LedgerError as error:
            if "missing-api" in str(error):
                command = f"npm install --prefix {folder} @actual-app/api@{version}"
                raise LedgerError(f"Actual's API is missing in {folder}. Install it: {command}") from error
            raise
        self._payees = {each["name"].casefold(): each["id"] for each in self._bridge.call("payees")}
        self._groups = {each["name"]: each for each in self._bridge.call("groups")}
        for group in self._groups.values():
            for category in group["categories"]:
                self._keep_category(group["name"], category["name"], category["id"])
        self._income = next((each for each in self._groups.values() if each.get("is_income")), None)

    def _keep_category(self, group: str, name: str, id: str) -> None:
        self._categories[f"{group}: {name}".casefold()] = id
        self._names[id] = f"{group}: {name}"

    def find_accounts(self, accounts: Sequence[Account], known: Mapping[str, str]) -> dict[str, str]:
        there = self._bridge.call("accounts")
        ids = {each["id"] for each in there}
        by_name = {each["name"]: each["id"] for each in there if not each["closed"]}
        found = {}
        for account in accounts:
            id = known.get(account.key, by_name.get(account.name, ""))
            if id in ids:
                found[account.key] = id
        return found

    def create_account(self, account: Account) -> str:
        id = str(self._bridge.call("createAccount", name=account.name, offbudget=False))
        self.save()
        return id

    def find(self, entries: Sequence[Entry], known: Mapping[str, str], accounts: Mapping[str, str]) -> dict[str, Found]:
        ids = {PREFIX + entry.id: entry for entry in entries}
        found = {}
        for row in self._bridge.call("find", ids=list(ids)) if ids else ():
            entry = ids[row["imported_id"]]
            seen = Entry(
                entry.id,
                entry.account,
                date.fromisoformat(row["date"]),
                Decimal(row["amount"]) * CENT,
                row["payee.name"] or "",
                self._names.get(row["category"] or "", ""),
                row["notes"] or "",
                is_pending=not row["cleared"],
                is_opening=entry.is_opening,
            )
            found[entry.id] = Found(row["id"], seen)
        return found

    def add(self, entries: Sequence[Entry], accounts: Mapping[str, str]) -> dict[str, str]:
        if not entries:
            return {}
        used: dict[str, int] = {}
        for row in self._bridge.call("used", ids=[PREFIX + entry.id for entry in entries]):
            used[row["imported_id"]] = used.get(row["imported_id"], 0) + 1
        # One that was removed and has come again needs another id: what Actual has removed stays removed.
        ids = {e.id: str(uuid5(NAMESPACE_URL, f"kontor:{e.id}:{used.get(PREFIX + e.id, 0)}")) for e in entries}
        by_account: dict[str, list[dict[str, Any]]] = {}
        for entry in entries:
            row = {"id": ids[entry.id], "imported_id": PREFIX + entry.id} | self._make_fields(entry)
            by_account.setdefault(accounts[entry.account], []).append(row)
        for account, rows in by_account.items():
            self._bridge.call("add", account=account, transactions=rows)
        return ids

    def change(self, ledger_id: str, entry: Entry, names: Collection[str], accounts: Mapping[str, str]) -> None:
        made = self._make_fields(entry)
        shown = {"day": "date", "amount": "amount", "payee": "payee", "category": "category", "is_pending": "cleared"}
        fields = {field: made[field] for name, field in shown.items() if name in names}
        if {"notes", "tags"} & set(names):
            fields["notes"] = made["notes"]
        if "account" in names:
            fields["account"] = accounts[entry.account]
        if fields:
            self._bridge.call("update", id=ledger_id, fields=fields)

    def remove(self, ledger_id: str, entry: Entry, accounts: Mapping[str, str]) -> None:
        self._bridge.call("remove", id=ledger_id)

    def save(self) -> None:
        self._bridge.call("sync")

    def read_balance(self, account_id: str) -> Decimal:
        return Decimal(self._bridge.call("balance", account=account_id) or 0) * CENT

    def close(self) -> None:
        self._bridge.close()

    def _make_fields(self, entry: Entry) -> dict[str, Any]:
        cents = entry.amount / CENT
        if cents != cents.to_integral_value():
            raise LedgerError(f"Actual has whole cents only, and {entry.day} {entry.payee} is {entry.amount}.")
        # A sign # begins a tag in notes, and two are one sign.
        tags = ["#" + _NO_TAG.sub("-", tag) for tag in entry.tags]
        return {
            "date": entry.day.isoformat(),
            "amount": int(cents),
            "payee": self._find_payee(entry.payee),
            "category": self._find_category(entry.category),
            "notes": " ".join([entry.notes.replace("#", "##"), *tags]).strip() or None,
            "cleared": not entry.is_pending,
        }

    def _find_payee(self, name: str) -> str:
        key = name.casefold()
        if key not in self._payees:
            self._payees[key] = str(self._bridge.call("createPayee", name=name))
        return self._payees[key]

    def _find_category(self, name: str) -> str | None:
        if not name:
            return None
        if name.casefold() not in self._categories:
            group_name, _, own_name = (part.strip() for part in name.partition(":"))
            if not own_name:
                raise LedgerError(f'The category {name} needs a group: "Group: Category".')
            group = self._find_group(group_name)
            id = self._bridge.call(
                "createCategory", name=own_name, group=group["id"], isIncome=bool(group.get("is_income"))
            )
            self._keep_category(group_name, own_name, str(id))
        return self._categories[name.casefold()]

    def _find_group(self, name: str) -> dict[str, Any]:
        """The one group of income has the name that the user gave it."""
        if name == "Income" and self._income is not None:
            return self._income
        if name not in self._groups:
            self._groups[name] = {"id": self._bridge.call("createGroup", name=name), "is_income": False}
        return self._groups[name]

"""What accounts and categories are called in the ledger: two files beside the mirror, made once and then the user's.

Kontor appends what is new and changes nothing else. An empty name leaves an account out, or an entry without category.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from kontor.cli.syncs.entries import Account, LedgerError
from kontor_client.models.tags import TagTreeItem

ACCOUNTS = "accounts.toml"
CATEGORIES = "categories.toml"
OPENING = "OPENING_BALANCE"
HEADS = {
    ACCOUNTS: '# Accounts and their names in the ledger. "" leaves an account out.\n',
    CATEGORIES: '# Kontor\'s categories and those of the ledger, as "Group: Category". "" means none.\n',
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Names:
    """One of the files."""

    def __init__(self, path: Path, *, is_dry: bool = False) -> None:
        self._path = path
        self._is_dry = is_dry
        self.names: dict[str, str] = {}
        if path.exists():
            try:
                read = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise LedgerError(f"{path} cannot be read: {error}.") from error
            wrong = next((key for key, name in read.items() if not isinstance(name, str)), None)
            if wrong is not None:
                raise LedgerError(f'{path}: {wrong} must have a text, such as {wrong} = "Group: Category".')
            self.names = read

    def add(self, missing: Mapping[str, str]) -> None:
        """Appends what is not there yet."""
        new = {key: name for key, name in missing.items() if key not in self.names}
        self.names |= new
        if self._is_dry or not new:
            return
        has_text = self._path.exists() and self._path.stat().st_size
        with self._path.open("a", encoding="utf-8") as file:
            if not has_text:
                file.write(HEADS[self._path.name])
            elif not self._path.read_text(encoding="utf-8").endswith("\n"):
                file.write("\n")
            file.write("".join(f"{_quote_key(key)} = {quote(name)}\n" for key, name in new.items()))


def quote(text: str) -> str:
    """A string of TOML. JSON's has the same escapes, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quote_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else quote(key)


def name_accounts(accounts: Sequence[Account]) -> dict[str, str]:
    """Names that are told apart: a further number where two are called the same."""
    names: dict[str, str] = {}
    for account in accounts:
        name, number = account.name, 2
        while name in names.values():
            name, number = f"{account.name} {number}", number + 1
        names[account.key] = name
    return names


def name_categories(items: Sequence[TagTreeItem]) -> dict[str, str]:
    """Names of a tree's categories behind those of their main categories. What is unknown has none."""
    mains = {item.system_name: item.display_name for item in items if item.system_name_parent is None}
    names = {OPENING: "Income: Starting Balances"}
    for item in items:
        if item.system_name in ("OTHER_SPENDING", "OTHER_INCOME"):
            names[item.system_name] = ""
        else:
            main = mains.get(item.system_name_parent or item.system_name, item.display_name)
            is_income = item.system_name.startswith("INCOME")
            # A file of Actual has one group of income.
            names[item.system_name] = f"{'Income' if is_income else main}: {item.display_name}"
    return names

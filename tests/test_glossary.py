"""The glossary names every word of `wire/`, and every name it gives exists in the code."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from enum import Enum
from pathlib import Path
from types import ModuleType

import msgspec

import kontor.domain
import kontor.wire
from kontor.services.accesses import accesses
from kontor.services.banks import providers
from kontor.services.statements import imports
from kontor.services.transactions import transactions
from kontor.wire.transactions import FIELDS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", PAGE, re.MULTILINE)
INSIDE = dict(ROWS)
SAME = set(re.findall(r"`(\w+)`", PAGE.rpartition("## The same inside and outside")[2]))
# Their words are English, or prescribed by an RFC.
ENGLISH_MODULES = (
    "affordability", "analyses", "balances", "cashflow", "consents", "contracts", "credit_checks", "direct_debits",
    "disposable_money", "errors", "exports", "form_sessions", "labelled_rows", "life", "management", "merchants", "ops",
    "ops_details", "ops_egress",
    "own_categories", "own_logins", "payees", "payment_evidence", "payments", "products_en", "relations",
    "sales_triggers",
    "standing_orders",
    "tagging_rules", "tags", "tokens",
)  # fmt: skip


def load_modules(package: ModuleType) -> dict[str, ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return {name: importlib.import_module(f"{package.__name__}.{name}") for name in names}


WIRE = load_modules(kontor.wire)
SHAPES = [
    (member.__name__, field.encode_name)
    for name, module in WIRE.items()
    if name not in ENGLISH_MODULES
    for member in vars(module).values()
    if inspect.isclass(member) and issubclass(member, msgspec.Struct) and member.__module__ == module.__name__
    for field in msgspec.structs.fields(member)
]
TABLES = [
    (word, f"{type(member).__name__}.{member.name}")
    for module in WIRE.values()
    for table in vars(module).values()
    if isinstance(table, dict)
    for member, word in table.items()
    if isinstance(member, Enum) and isinstance(word, str)
]
CLASSES = {
    name: member
    for module in [*load_modules(kontor.domain).values(), accesses, imports, providers, transactions]
    for name, member in vars(module).items()
    if inspect.isclass(member)
}
SOURCE = "\n".join(
    file.read_text(encoding="utf-8")
    for package in ("domain", "storage")
    for file in (ROOT / "src/kontor" / package).glob("*.py")
)


def test_no_word_is_explained_twice():
    words = [word for word, _ in ROWS]
    assert sorted(words) == sorted(set(words))


def test_every_field_of_the_wire_is_in_the_glossary():
    assert len(SHAPES) > 100
    assert [(shape, word) for shape, word in SHAPES if word not in INSIDE and word not in SAME] == []


def test_every_value_of_the_wire_has_its_member():
    assert len(TABLES) > 100
    assert [(word, inside) for word, inside in sorted(set(TABLES)) if INSIDE.get(word) != inside] == []


def test_every_key_of_a_listed_transaction_has_its_column():
    inside = {field.key: field.key if field.key in SAME else INSIDE[field.key].rpartition(".")[2] for field in FIELDS}
    assert inside == {field.key: field.column for field in FIELDS}


def exists(inside: str) -> bool:
    """A class, a name in the source, or a field or member of a class."""
    owner, dot, name = inside.partition(".")
    if not dot:
        return owner in CLASSES or re.search(rf"\b{owner}\b", SOURCE) is not None
    owner_class = CLASSES[owner]
    names = (
        {field.name for field in dataclasses.fields(owner_class)}
        if dataclasses.is_dataclass(owner_class)
        else set(owner_class.__members__)
    )
    return name in names


def test_every_name_inside_exists():
    assert [(word, inside) for word, inside in ROWS if not exists(inside)] == []

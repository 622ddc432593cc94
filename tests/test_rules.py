"""Rules that hold for the whole of the source, checked on its syntax trees."""

import ast
import copy
import json
import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from kontor.domain.secrets import Secret
from kontor.logs import mask_secrets

SOURCE = Path(__file__).parents[1] / "src" / "kontor"
FILES = sorted(SOURCE.rglob("*.py"))
SQL = re.compile(
    r"^\s*(select\s.+\sfrom|select\s+\w+\(|insert\s+into|update\s+\w+(\s+\w+)?\s+set|delete\s+from|create\s+(table|index|role)"
    r"|alter\s+(table|role)|drop\s+(table|index|role)|truncate\s|grant\s.+\sto\s|revoke\s.+\sfrom\s|with\s+\w+\s+as\s*\()",
    re.IGNORECASE | re.DOTALL,
)
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")
OTHER_LIMITS = re.compile(r"_?(MOST|LONGEST|LARGEST|LEAST|SHORTEST|FEWEST|SMALLEST)_")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def name_of(file: Path) -> str:
    return str(file.relative_to(SOURCE))


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def walk(tree: ast.Module) -> list[ast.AST]:
    """All nodes of a file, listed once: several rules go through them."""
    return list(ast.walk(tree))


def find_breaches(find: Callable[[ast.Module], Any], under: str = "") -> dict[str, Any]:
    """What is found in each file of a package, where something is. One test per rule: one per file and rule is slow."""
    found = {name_of(file): find(parse(file)) for file in FILES if name_of(file).startswith(under)}
    return {name: breaches for name, breaches in found.items() if breaches}


def find_docstrings(tree: ast.Module) -> set[int]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in walk(tree)
        if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr)
    }


def text_of(node: ast.expr) -> str:
    """The literal text of a string or f-string, with `{}` for what is put in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def find_sql(tree: ast.Module) -> list[ast.expr]:
    inside = {id(part) for node in walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    skipped = find_docstrings(tree) | inside
    return [
        node
        for node in walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in skipped and SQL.search(text_of(node))
    ]


def module_constants(tree: ast.Module) -> set[str]:
    """UPPER_CASE names that are bound at the top of the module, or of another module of storage, and nowhere else."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kontor.storage."):
            found |= {alias.name for alias in node.names if alias.asname is None and CONSTANT.fullmatch(alias.name)}
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id)}
    functions = [node for node in walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                found.discard(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.discard(node.id)
    return found


def is_constant(node: ast.expr, constants: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in constants


def find_unsafe_sql(tree: ast.Module) -> list[int]:
    """Lines where something other than a constant of the module is put into SQL."""
    constants = module_constants(tree)
    lines = [
        node.lineno
        for node in find_sql(tree)
        for part in (node.values if isinstance(node, ast.JoinedStr) else [])
        if isinstance(part, ast.FormattedValue)
        and not (is_constant(part.value, constants) and part.format_spec is None)
    ]
    for node in walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            sides = [node.left, node.right]
            others = [side for side in sides if not text_of(side) and not is_constant(side, constants)]
            if others and any(SQL.search(text_of(side)) for side in sides):
                lines.append(node.lineno)
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_method and node.func.attr in ("format", "join", "replace") and SQL.search(text_of(node.func.value)):
            lines.append(node.lineno)
    return lines


def test_sql_has_only_constants_put_into_it():
    assert find_breaches(find_unsafe_sql, "storage/") == {}


def test_there_is_no_sql_outside_storage():
    """But for the file in which `kontor sync` keeps its state: a client's, and not the service's database."""
    found = find_breaches(lambda tree: [node.lineno for node in find_sql(tree)])
    allowed = ("storage/", "cli/syncs/mirror.py")
    assert {name: lines for name, lines in found.items() if not name.startswith(allowed)} == {}


@pytest.mark.parametrize(
    ("source", "is_safe"),
    [
        ("C = 'a, b'\nx = f'select {C} from t where id = %s'", True),
        ("C = 'a'\nD = f'{C}, b'\nx = f'select {D} from t'", True),
        ("A = 'select 1 from t'", True),
        ("from kontor.storage.leases import TAKE\nx = f'select {TAKE}'", True),
        ("from kontor.domain.names import NAME\nx = f'select a from {NAME}'", False),
        ("def f(name):\n    return f'select a from {name}'", False),
        ("def f(name):\n    C = name\n    return f'select {C} from t'", False),
        ("C = 'a'\ndef f(C):\n    return f'select {C} from t'", False),
        ("c = 'a'\nx = f'select {c} from t'", False),
        ("def f(n):\n    return 'select a from t where n = ' + n", False),
        ("def f(n):\n    return 'select a from t where n = %s' % n", False),
        ("def f(n):\n    return 'select a from {}'.format(n)", False),
        ("C = 'a'\nx = f'select {C.lower()} from t'", False),
        ("x = f'delete from t where id = {1 + 1}'", False),
    ],
)
def test_the_rule_about_sql_finds_what_it_should(source, is_safe):
    assert (find_unsafe_sql(ast.parse(source)) == []) is is_safe


def find_long_functions(tree: ast.Module) -> dict[str, int]:
    functions = [node for node in walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {function.name: (function.end_lineno or 0) - function.lineno + 1 for function in functions}
    return {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES}


def test_no_file_is_longer_than_400_lines_and_no_function_than_60():
    lengths = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert {name: length for name, length in lengths.items() if length > MAX_FILE_LINES} == {}
    assert find_breaches(find_long_functions) == {}


# Packages of services


def find_inner_imports(tree: ast.Module, own_package: str | None) -> list[str]:
    """Modules inside a package of services that somebody outside that package imports."""
    found = []
    for node in walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            parts = name.split(".")
            if parts[:2] == ["kontor", "services"] and len(parts) > 3 and parts[2] != own_package:
                found.append(name)
    return found


def test_limits_are_named_max_and_min():
    """Not `MOST_ROWS` or `SHORTEST_NAME`: one word for one thing."""
    named = {
        (file.name, target.id)
        for file in FILES
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        for target in list_targets(node)
        if OTHER_LIMITS.match(target.id)
    }
    assert named == set()


def list_targets(node: ast.stmt) -> list[ast.Name]:
    """Names that a statement of a module assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [name for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)]


def test_modules_that_are_compiled_have_no_cached_property():
    """`hatch_build.py` compiles them with mypyc, which makes it a plain property: its value is made at each use."""
    modules = sorted((SOURCE / "analysis" / "tagging").glob("*.py"))
    assert len(modules) > 20
    assert [file.name for file in modules if "cached_property" in file.read_text(encoding="utf-8")] == []


def test_a_package_of_services_is_imported_by_its_public_names_only():
    found = {}
    for file in FILES:
        parts = file.relative_to(SOURCE).parts
        own_package = parts[1] if parts[0] == "services" else None
        found[name_of(file)] = find_inner_imports(parse(file), own_package)
    assert {name: imports for name, imports in found.items() if imports} == {}


@pytest.mark.parametrize(
    ("source", "own_package", "expected"),
    [
        ("from kontor.services.payments import Payments", None, []),
        ("from kontor.services.payments.drafts import PaymentDrafts", "payments", []),
        ("from kontor.services.payments.drafts import PaymentDrafts", "sca", ["kontor.services.payments.drafts"]),
        ("import kontor.services.payments.drafts", None, ["kontor.services.payments.drafts"]),
    ],
)
def test_the_rule_about_packages_finds_what_it_should(source, own_package, expected):
    assert find_inner_imports(ast.parse(source), own_package) == expected


# The gateway to banks

GATEWAY = "services/banks/gateway.py"
CALLING = {"Connector", "Registry"}  # who has one of these can call a bank


def find_bank_callers(tree: ast.Module) -> set[str]:
    imported = [node for node in walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {(node.module or "", alias.name) for node in imported for alias in node.names}
    return {name for module, name in names if module.startswith("kontor.connectors") and name in CALLING}


def find_permits(tree: ast.Module) -> list[ast.Call]:
    calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Permit"]


def test_a_connector_is_called_by_the_gateway_alone():
    callers = {name for name in find_breaches(find_bank_callers) if not name.startswith("connectors")}
    assert callers == {GATEWAY, "bootstrap.py"}


def test_a_permit_to_call_a_bank_is_made_by_admission_alone():
    assert set(find_breaches(find_permits)) == {"services/banks/admission.py"}


def test_the_rules_about_the_gateway_find_what_they_should():
    assert find_bank_callers(ast.parse("from kontor.connectors.base import Connector, Step")) == {"Connector"}
    assert find_bank_callers(parse(SOURCE / GATEWAY)) == CALLING
    assert len(find_permits(ast.parse("permit = Permit(held, is_attended=True)"))) == 1
    assert find_permits(parse(SOURCE / "services/banks/admission.py")) != []


# Secret


HIDDEN = "the hidden text"


@pytest.fixture
def secret():
    return Secret(HIDDEN)


def test_secret_is_not_printed_or_formatted(secret):
    shown = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!r}",
        f"{secret!s:>40}",
        f"{secret:>40}",
        "%s %r" % (secret, secret),  # noqa: UP031 (this way must not work either)
    ]
    shown += [f"{secret}", str([secret]), str({"key": secret}), str((secret,)), ascii(secret)]
    assert [text for text in shown if HIDDEN in text] == []


def test_secret_is_not_pickled_copied_or_encoded(secret):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(secret, protocol)
    for encode in (
        json.dumps,
        msgspec.json.encode,
        msgspec.msgpack.encode,
        msgspec.to_builtins,
        copy.copy,
        copy.deepcopy,
    ):
        with pytest.raises(TypeError):
            encode(secret)
    assert HIDDEN not in json.dumps({"key": secret}, default=str)
    assert not hasattr(secret, "__dict__")


def test_secret_in_an_exception_is_not_shown(secret):
    with pytest.raises(ValueError) as caught:
        raise ValueError("wrong", secret)
    assert HIDDEN not in str(caught.value) + repr(caught.value)


def test_secret_is_equal_only_to_the_same_secret(secret):
    assert secret == Secret(HIDDEN)
    assert hash(secret) == hash(Secret(HIDDEN))
    assert secret != Secret("other")
    assert secret != HIDDEN


@pytest.mark.parametrize(
    "name",
    ["password", "client_secret", "token", "access_token", "Authorization", "api_key", "apikey", "credentials", "pin",
     "tan", "set_cookie", "database_url"],
)  # fmt: skip
def test_log_masks_fields_that_sound_secret(name):
    assert mask_secrets(None, "info", {"event": "x", name: HIDDEN}) == {"event": "x", name: "***"}


def test_log_masks_secrets_under_any_name_and_depth(secret):
    masked = mask_secrets(
        None, "info", {"event": "token issued", "name": secret, "nested": {"a": [secret]}, "count": 3}
    )
    assert (masked["event"], masked["name"], masked["count"]) == ("token issued", "***", 3)
    rendered = structlog.processors.JSONRenderer()(None, "info", masked)
    assert HIDDEN not in rendered
    assert HIDDEN not in structlog.dev.ConsoleRenderer(colors=False)(
        None, "info", {"event": "x", "nested": {"a": [secret]}}
    )

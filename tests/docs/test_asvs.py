"""The page about the ASVS: complete, printed from its source, and every proof exists."""

import ast
import hashlib
import importlib.util
import re
from functools import cache
from pathlib import Path

from for_each import for_each

ROOT = Path(__file__).parents[2]
# Ids and levels of version 5.0.0 as `1.1.1 2`, one per line in their order: 70 of level 1 and 183 of level 2.
IDS_AND_LEVELS = "c221cc01ef8fef1236787852eaaffe3e41baaa66b99534975cf9ccc3f62e5b4a"


def load_script():
    source = importlib.util.spec_from_file_location("print_asvs", ROOT / "scripts" / "print_asvs.py")
    assert source is not None
    assert source.loader is not None
    script = importlib.util.module_from_spec(source)
    source.loader.exec_module(script)
    return script


SCRIPT = load_script()
ROWS = SCRIPT.load()


@cache
def find_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, functions)}


def test_every_requirement_of_levels_1_and_2_is_there_once():
    """A key twice is no TOML; a missing, foreign or moved one changes the digest of the list."""
    listed = "".join(f"{key} {row['level']}\n" for key, row in ROWS.items())
    assert [sum(row["level"] == level for row in ROWS.values()) for level in (1, 2)] == [70, 183]
    assert hashlib.sha256(listed.encode()).hexdigest() == IDS_AND_LEVELS


@for_each("key", ROWS)
def test_a_row_has_what_its_status_needs(key):
    row = ROWS[key]
    assert row["status"] in SCRIPT.STATUSES
    assert row["about"]
    given = {name for name in ("tests", "pages", "reason") if row.get(name)}
    assert given == {{"met": "tests", "documented": "pages"}.get(row["status"], "reason")}


def test_every_test_that_is_named_exists():
    missing = []
    for key, row in ROWS.items():
        for test in row.get("tests", []):
            path, _, name = test.partition("::")
            file = ROOT / "tests" / path
            if not file.exists() or name not in find_tests(file):
                missing.append((key, test))
    assert missing == []


def test_every_page_that_is_named_exists():
    pages = {page for row in ROWS.values() for page in row.get("pages", [])}
    assert [page for page in sorted(pages) if not (ROOT / page).exists()] == []


def test_reasons_name_settings_and_tests_that_exist():
    reasons = " ".join(row.get("reason", "") for row in ROWS.values())
    settings = (ROOT / "docs/operating/settings.md").read_text(encoding="utf-8")
    assert [name for name in re.findall(r"KONTOR_[A-Z_]+", reasons) if f"`{name}`" not in settings] == []
    assert [path for path in re.findall(r"[\w/]+/test_\w+\.py", reasons) if not (ROOT / "tests" / path).exists()] == []


def test_the_page_is_up_to_date():
    """Print it again: `python scripts/print_asvs.py > docs/security/asvs.md`."""
    assert (ROOT / "docs/security/asvs.md").read_text(encoding="utf-8") == SCRIPT.render()

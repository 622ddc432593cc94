"""Tools beside the service (`./dev bench`, `soak` …) are not type-checked: what they import from it exists."""

import ast
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("benchmarks", "evaluation_pages", "fuzzing", "payment_faults", "scripts", "simulation", "training")


def list_imports():
    for tool in TOOLS:
        for file in sorted((ROOT / tool).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in (
                    "kontor",
                    "kontor_client",
                ):
                    yield from ((str(file.relative_to(ROOT)), node.module, alias.name) for alias in node.names)


def is_there(module, name):
    if hasattr(import_module(module), name):
        return True
    try:
        import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_every_name_that_a_tool_imports_from_kontor_exists():
    imports = list(list_imports())
    assert len(imports) > 100
    assert [found for found in imports if not is_there(*found[1:])] == []

"""Both clients offer the same, and all that is written as an operation."""

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import kontor_client
from for_each import for_each
from kontor_client import AsyncKontor, Kontor, operations

SOURCE = Path(kontor_client.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# Parts of other operations.
PARTS = {
    "access_path", "customer_headers", "describe_access", "describe_category", "describe_rule",
    "describe_transfer", "encrypt_all", "name_kind", "open_web_form", "present", "show_order", "show_orders",
    "tenant_path",
}  # fmt: skip


def public(client_class: type) -> dict[str, object]:
    return {name: getattr(client_class, name) for name in dir(client_class) if not name.startswith("_")}


def test_both_have_the_same_methods_with_the_same_parameters_and_texts():
    synchronous, asynchronous = public(Kontor), public(AsyncKontor)
    assert set(synchronous) == set(asynchronous)
    for name, method in synchronous.items():
        if callable(method):
            twin = asynchronous[name]
            assert list(inspect.signature(method).parameters) == list(inspect.signature(twin).parameters), name
            if name not in ("run", "close"):
                assert method.__doc__ == twin.__doc__, name


def test_every_operation_is_offered_by_both():
    written = set()
    for found in pkgutil.iter_modules(operations.__path__):
        module = import_module(f"kontor_client.operations.{found.name}")
        functions = inspect.getmembers(module, inspect.isfunction)
        written |= {name for name, function in functions if function.__module__ == module.__name__ and name[0] != "_"}
    assert written - PARTS - set(public(Kontor)) == set()
    assert len(written) > 50


@for_each("file", FILES, lambda file: str(file.relative_to(SOURCE)))
def test_files_and_functions_are_short_and_know_nothing_of_the_service(file):
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 400
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for node in ast.walk(tree) if isinstance(node, kinds)]
    assert max(lengths, default=0) <= 60
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    third = {module.partition(".")[0] for module in modules} & {"kontor", "cryptography", "structlog", "litestar"}
    assert third == ({"cryptography"} if file.name == "proofs.py" else set())


def test_it_says_that_it_is_typed():
    assert (SOURCE / "py.typed").exists()

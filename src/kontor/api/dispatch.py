"""The way from a path to its operation, without a detour through the framework's machinery.

Operations are declared as data, so finding one is a walk through a tree of path segments. Whatever the tree does not
know exactly (other methods, unknown paths, the documentation) goes to Litestar, which answers as ever.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from litestar import Request

from kontor.api.operations import Operation

Run = Callable[[Operation, Request[Any, Any, Any], Any], Awaitable[None]]


class _Node:
    __slots__ = ("fixed", "methods", "variable")

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.variable: _Node | None = None
        self.methods: dict[str, tuple[Operation, tuple[str, ...]]] = {}


class Dispatch:
    def __init__(self, operations: Iterable[Operation], run: Run, fallback: Any) -> None:
        self._run = run
        self._fallback = fallback
        self._root = _Node()
        for operation in operations:
            names = tuple(name.replace("-", "_") for name in operation.path_names)
            for path in operation.paths:
                self._find_node(path).methods[operation.method] = operation, names

    def _find_node(self, path: str) -> _Node:
        node = self._root
        for part in path.split("/")[1:]:
            if part.startswith("{"):
                node.variable = node = node.variable or _Node()
            else:
                node = node.fixed.setdefault(part, _Node())
        return node

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = self._find(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._fallback(scope, receive, send)
            return
        operation, scope["path_params"] = found
        await self._run(operation, Request(scope, receive, send), send)

    def _find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        node, values = self._root, []
        for part in path.split("/")[1:]:
            known = node.fixed.get(part)
            if known is None:
                if node.variable is None or not part:
                    return None
                known = node.variable
                values.append(part)
            node = known
        found = node.methods.get(method)
        return None if found is None else (found[0], dict(zip(found[1], values, strict=True)))

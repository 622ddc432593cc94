"""Pages that explain the API, made from its OpenAPI document: an overview, and one page for each of its tags."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kontor.wire.encoding import encode_json

PACKAGE = "kontor.api"
METHODS = ("get", "post", "put", "patch", "delete")
# How a caller proves who it is, by the names of the document's security schemes.
LOGINS = {
    "userToken": "a user's token",
    "clientToken": "a client's token",
    "operatorToken": "an operator's token",
    "clientLogin": "the client's name and secret",
    "apiKey": "the user's API key",
}
CODE = re.compile(r"`([^`]+)`")
REFERENCE = re.compile(r"#/components/(\w+)/(.+)")
DEEPEST_EXAMPLE = 4
Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Explained:
    """An operation, with all references replaced but those to shapes."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    logins: list[str]
    scopes: list[str]
    parameters: list[Node]
    bodies: list[tuple[str, Node, str | None]]  # media type, schema, and an example of JSON
    is_body_required: bool
    responses: list[tuple[str, Node]]

    @property
    def is_basic(self) -> bool:
        return self.logins == ["clientLogin"]


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    description: str
    operations: list[Explained]
    shapes: dict[str, Node]  # all that its operations need, by name

    @property
    def slug(self) -> str:
        return self.name.lower()


class Reference:
    def __init__(self, document: Node, asset_url: Callable[[str], str], *, has_demo: bool) -> None:
        self._document = document
        self._asset_url = asset_url
        self._has_demo = has_demo
        self._drawn: dict[str | None, bytes] = {}
        self.slugs = [tag["name"].lower() for tag in document.get("tags", [])]

    def draw(self, slug: str | None) -> bytes:
        """The page of a section, or without one the overview. It is drawn once."""
        if slug not in self._drawn:
            self._drawn[slug] = self._draw(slug)
        return self._drawn[slug]

    def _draw(self, slug: str | None) -> bytes:
        sections = self._sections
        shown = next((section for section in sections if section.slug == slug), None)
        facts = {
            "document": self._document, "sections": sections, "shown": shown, "has_demo": self._has_demo,
            "asset": self._asset_url,
        }  # fmt: skip
        return _environment().get_template("reference.html").render(facts).encode()

    @cached_property
    def _sections(self) -> list[Section]:
        explained = list(self._explain_all())
        return [
            Section(tag["name"], tag["description"], found, self._find_shapes(found))
            for tag in self._document.get("tags", [])
            for found in [[operation for name, operation in explained if name == tag["name"]]]
        ]

    def _explain_all(self) -> Iterator[tuple[str, Explained]]:
        for path, item in self._document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield item[method]["tags"][0], self._explain(path, method, item[method], item.get("parameters", []))

    def _explain(self, path: str, method: str, operation: Node, shared: list[Node]) -> Explained:
        security: list[Node] = operation.get("security", [])
        body = self._resolve(operation.get("requestBody", {}))
        return Explained(
            operation["operationId"],
            method.upper(),
            path,
            operation["summary"],
            operation.get("description", ""),
            [name for offered in security for name in offered],
            sorted({scope for offered in security for scopes in offered.values() for scope in scopes}),
            [self._resolve(parameter) for parameter in [*shared, *operation.get("parameters", [])]],
            [
                (media_type, content.get("schema", {}), self._write_example(media_type, content.get("schema", {})))
                for media_type, content in body.get("content", {}).items()
            ],
            body.get("required", False),
            [(status, self._resolve(response)) for status, response in operation["responses"].items()],
        )

    def _resolve(self, node: Node) -> Node:
        while "$ref" in node:
            node = self._look_up(node["$ref"])
        return node

    def _look_up(self, reference: str) -> Node:
        found = REFERENCE.fullmatch(reference)
        assert found is not None, reference
        node: Node = self._document["components"][found[1]][found[2]]
        return node

    def _find_shapes(self, operations: list[Explained]) -> dict[str, Node]:
        """By name, in the order of the alphabet."""
        found: dict[str, Node] = {}
        waiting: list[Any] = [(operation.parameters, operation.bodies, operation.responses) for operation in operations]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Mapping):
                name = find_shape(node)
                if name is not None and name not in found:
                    found[name] = self._look_up(node["$ref"])
                    waiting.append(found[name])
                waiting.extend(node.values())
            elif isinstance(node, list | tuple):
                waiting.extend(node)
        return dict(sorted(found.items()))

    def _write_example(self, media_type: str, schema: Node) -> str | None:
        if media_type == "application/json":
            return encode_json(self._make_example(schema, 0)).decode()
        if media_type == "application/x-www-form-urlencoded":
            fields = self._resolve(schema)
            return "&".join(f"{name}=" for name in fields.get("required", []))
        return None

    def _make_example(self, schema: Node, depth: int) -> Any:
        """The smallest that fits: required fields alone."""
        schema = self._resolve(schema)
        if "examples" in schema:
            return schema["examples"][0]
        if "enum" in schema:
            return schema["enum"][0]
        if "anyOf" in schema:
            return self._make_example(schema["anyOf"][0], depth)
        kind = schema.get("type")
        if kind == "array":
            return [] if depth >= DEEPEST_EXAMPLE else [self._make_example(schema["items"], depth + 1)]
        if kind != "object":
            return {"integer": 0, "number": 0, "boolean": False, "null": None}.get(str(kind), "")
        if depth >= DEEPEST_EXAMPLE:
            return {}
        fields, extra = schema.get("properties", {}), schema.get("additionalProperties")
        if not fields and isinstance(extra, Mapping):
            return {"name": self._make_example(extra, depth + 1)}
        return {name: self._make_example(fields[name], depth + 1) for name in schema.get("required", [])}


def find_shape(node: Node) -> str | None:
    """The name of the shape that a schema refers to."""
    found = REFERENCE.fullmatch(node.get("$ref", ""))
    return found[2] if found is not None and found[1] == "schemas" else None


def write_text(text: str) -> Markup:
    """What stands between backticks as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 (escaped)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(PACKAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"prose": write_text, "shape": find_shape}
    environment.globals |= {"logins": LOGINS}
    return environment

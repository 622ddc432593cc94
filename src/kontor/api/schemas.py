"""Schemas of the OpenAPI document, made from the wire shapes in a form that generators of clients understand."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

REF = "#/components/schemas/{name}"
NULL = {"type": "null"}


class Schemas:
    """The schemas of all shapes of a document. Those of `inlined` are no components, such as queries."""

    def __init__(self, shapes: Iterable[Any], inlined: Iterable[type[msgspec.Struct]]) -> None:
        unique = list(dict.fromkeys([*shapes, *inlined]))
        schemas, self.components = msgspec.json.schema_components(unique, ref_template=REF)
        self._schemas = dict(zip(unique, schemas, strict=True))
        _mend([self._schemas, self.components])
        _name_parts(self.components)
        self._inlined = {shape: self.components.pop(self._name(shape)) for shape in set(inlined)}
        _lift_descriptions(self.components)
        for component in self.components.values():
            for field in component.get("properties", {}).values():
                _join_null(field)
                _tell_default(field)

    def _name(self, shape: Any) -> str:
        reference: str = self._schemas[shape]["$ref"]
        return reference.rpartition("/")[2]

    def describe(self, shape: Any) -> dict[str, Any]:
        """A tuple is one of several shapes."""
        if isinstance(shape, tuple):
            return {"anyOf": [self.describe(alternative) for alternative in shape]}
        schema: dict[str, Any] = self._schemas[shape]
        return schema

    def describe_inline(self, shape: type[msgspec.Struct]) -> dict[str, Any]:
        schema: dict[str, Any] = self._inlined[shape]
        return schema

    def describe_query(self, query: type[msgspec.Struct]) -> list[dict[str, Any]]:
        """The parameters. A parameter is given or left out: there is no null in a query."""
        shape = self._inlined[query]
        parameters = []
        for name, field in shape["properties"].items():
            schema = _without_null(field)
            description = schema.pop("description", None)
            parameter = {"name": name, "in": "query", "schema": schema}
            if name in shape["required"]:
                parameter["required"] = True
            if description:
                parameter["description"] = description
            parameters.append(parameter)
        return parameters


def _mend(node: Any) -> None:
    """The encoder writes a Decimal as a JSON number; the schema that msgspec makes of it says string.

    A list of anything gets its `items`, without which makers of clients stumble. A default of null says nothing, but
    makers of clients demand what has a default.
    """
    if isinstance(node, dict):
        if node.get("type") == "array":
            node.setdefault("items", {})
        if node.get("type") == "string" and node.get("format") == "decimal":
            node["type"] = "number"
            del node["format"]
        if node.get("default", ...) is None:
            del node["default"]
        for value in node.values():
            _mend(value)
    elif isinstance(node, list):
        for value in node:
            _mend(value)


def _join_null(field: dict[str, Any]) -> None:
    """`"type": ["string", "null"]` instead of two alternatives."""
    alternatives = field.get("anyOf", [])
    plain = [schema for schema in alternatives if schema != NULL]
    if len(alternatives) == 2 and len(plain) == 1 and isinstance(plain[0].get("type"), str):
        del field["anyOf"]
        field |= plain[0] | {"type": [plain[0]["type"], "null"]}


def _lift_descriptions(components: dict[str, Any]) -> None:
    """A type that is described the same wherever it is a field is described once, where it is defined."""
    fields = [field for component in components.values() for field in component.get("properties", {}).values()]
    referring = [field for field in fields if "$ref" in field]
    told: dict[str, Counter[str | None]] = {}
    for field in referring:
        told.setdefault(field["$ref"], Counter())[field.get("description")] += 1
    for reference, descriptions in told.items():
        [(description, times)] = descriptions.most_common(1)
        component = components[reference.rpartition("/")[2]]
        if description and times > 2 and None not in descriptions and "description" not in component:
            component["description"] = description
            for field in referring:
                if field["$ref"] == reference and field["description"] == description:
                    del field["description"]


def _tell_default(field: dict[str, Any]) -> None:
    """In words: what has a `default` is demanded by types for TypeScript, in requests too."""
    if "default" in field:
        words = f"default: {msgspec.json.encode(field.pop('default')).decode()}"
        field["description"] = f"{field['description']}; {words}" if "description" in field else words


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    alternatives: list[dict[str, Any]] = [schema for schema in field.get("anyOf", ()) if schema != NULL]
    if len(alternatives) == 1:
        return {name: value for name, value in field.items() if name != "anyOf"} | alternatives[0]
    return dict(field) | ({"anyOf": alternatives} if alternatives else {})


def _name_parts(components: dict[str, Any]) -> None:
    """What has a title gets a schema of its own; an enum in any case, named after the field whose type it is."""

    def refer(node: Any, name: str) -> Any:
        if isinstance(node, list):
            return [refer(value, name) for value in node]
        if not isinstance(node, dict):
            return node
        if "enum" not in node and "title" not in node:
            return {key: refer(value, name) for key, value in node.items()}
        name = node.get("title", name)
        own = {key: value for key, value in node.items() if key not in ("title", "default", "description")}
        part = own | ({"type": "string"} if "enum" in node else {})
        if components.setdefault(name, part) != part:
            raise ValueError(f"Two schemas are called {name}: give one of them another title.")
        return {"$ref": REF.format(name=name)} | {key: node[key] for key in ("default", "description") if key in node}

    for owner, component in list(components.items()):
        component.pop("title", None)  # it is the name
        if "enum" in component:  # an Enum has a schema already
            component["type"] = "string"
        for field, schema in component.get("properties", {}).items():
            component["properties"][field] = refer(schema, owner.removesuffix("Query") + field[:1].upper() + field[1:])

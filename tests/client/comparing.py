"""Holds a model against the answer it was made of."""

from typing import Any


def find_lost(said: Any, known: Any, place: str = "") -> list[str]:
    """What is in an answer and not, or not the same, in the model made of it."""
    if isinstance(said, dict):
        missing = [f"{place}.{name}" for name in said if name not in known]
        return missing + [
            path for name in said if name in known for path in find_lost(said[name], known[name], f"{place}.{name}")
        ]
    if isinstance(said, list):
        assert len(said) == len(known), place
        return [path for left, right in zip(said, known, strict=True) for path in find_lost(left, right, f"{place}[]")]
    if isinstance(said, str) and isinstance(known, str):
        return [] if said in (known, known.replace("T", " ")) else [f"{place}: {said} is not {known}"]
    return [] if said == known else [f"{place}: {said} is not {known}"]


def resolve(document: Any, node: Any) -> Any:
    if not isinstance(node, dict) or "$ref" not in node:
        return node
    found = document
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def find_operation(document: Any, path: str, method: str) -> dict[str, Any]:
    """What the OpenAPI document says of an operation, with shared parameters and bodies in their places."""
    item = document["paths"][path]
    found = item[method.lower()]
    parameters = [*item.get("parameters", []), *found.get("parameters", [])]
    shown = found | {"parameters": [resolve(document, parameter) for parameter in parameters]}
    if "requestBody" in found:
        shown["requestBody"] = resolve(document, found["requestBody"])
    return shown

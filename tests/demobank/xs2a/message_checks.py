"""Checks messages between a client and a bank against schemas of our own (`messages.json`).

They say what Kontor uses of the interface, and allow nothing else. `./dev test peers` compares the same messages with
the official contract, which is not ours to publish.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from jsonschema import Draft202012Validator

DOCUMENT = json.loads(Path(__file__).with_name("messages.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["schemas"]


def find_operation(method: str, path: str) -> dict[str, Any] | None:
    for operation in DOCUMENT["operations"]:
        if operation["method"] == method and re.fullmatch(operation["path"], path):
            return operation
    return None


def list_errors(schema: str, body: bytes) -> list[str]:
    try:
        message = json.loads(body)
    except ValueError:
        return [f"{schema}: no JSON"]
    validator = Draft202012Validator({"$ref": f"#/schemas/{schema}", "schemas": SCHEMAS})
    return [f"{schema}: {error.json_path} {error.message[:200]}" for error in validator.iter_errors(message)]


@dataclass
class CheckedApp:
    """A bank whose messages, and those of its clients, are checked as they pass."""

    app: Any
    violations: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1"):
            await self.app(scope, receive, send)
            return
        request, answer, status = b"", b"", 0

        async def read() -> Any:
            nonlocal request
            message = await receive()
            request += message.get("body", b"")
            return message

        async def write(message: Any) -> None:
            nonlocal answer, status
            status = message.get("status", status)
            answer += message.get("body", b"")
            await send(message)

        await self.app(scope, read, write)
        self._check(scope, request, status, answer)

    def _check(self, scope: Any, request: bytes, status: int, answer: bytes) -> None:
        method, path = scope["method"], scope["path"]
        operation = find_operation(method, path)
        if operation is None:
            self.violations.append(f"{method} {path}: no operation that Kontor uses")
            return
        self.seen.add(f"{method} {operation['path']}")
        found = self._check_request(scope, operation, request)
        expected = operation.get("answers", {}).get(str(status), operation["answer"])
        if status in (500, 503) or (status < 300 and expected is None):
            found += ["a body where none belongs"] if answer else []
        else:
            found += list_errors("refusal" if status >= 400 else expected, answer)
        self.violations += [f"{method} {path} {status}: {error}" for error in found]

    def _check_request(self, scope: Any, operation: dict[str, Any], body: bytes) -> list[str]:
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        missing = [name for name in ("x-request-id", *operation.get("headers", ())) if not headers.get(name)]
        query = parse_qs(scope["query_string"].decode())
        missing += [name for name in operation.get("query", ()) if name not in query]
        found = [f"{name} is missing" for name in missing]
        try:
            UUID(headers.get("x-request-id", ""))
        except ValueError:
            found.append("x-request-id is no UUID")
        if "body" in operation:
            found += list_errors(operation["body"], body or b"{}")
        elif body:
            found.append("a request with a body that none has")
        return found

"""Checks messages between a client and a service such as Enable Banking against schemas of our own.

They say what Kontor uses of the interface, and allow nothing else. `./dev test peers` compares the same messages with
Enable Banking's contract, which names no licence and is not ours to publish.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from jsonschema import Draft202012Validator

DOCUMENT = json.loads(Path(__file__).with_name("service_messages.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["schemas"]
PAGES = ("/authorise/", "/demobank/")  # the bank's own
CUSTOMER_HEADERS = {"psu-ip-address"}


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
class CheckedService:
    """A service whose messages, and those of its clients, are checked as they pass."""

    app: Any
    violations: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"].startswith(PAGES):
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
        found += list_errors("refusal" if status >= 400 else operation["answer"], answer)
        self.violations += [f"{method} {path} {status}: {error}" for error in found]

    def _check_request(self, scope: Any, operation: dict[str, Any], body: bytes) -> list[str]:
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = parse_qs(scope["query_string"].decode(), keep_blank_values=True)
        found = [f"{name} is missing" for name in operation.get("query", ()) if name not in query]
        allowed = {*operation.get("query", ()), *operation.get("parameters", ())}
        found += [f"the parameter {name} is none" for name in query if name not in allowed]
        if not re.fullmatch(r"Bearer [\w-]+\.[\w-]+\.[\w-]+", headers.get("authorization", "")):
            found.append("authorization is no token")
        told = {name for name in headers if name.startswith("psu-")}
        if told - (CUSTOMER_HEADERS if operation.get("is_data") else set()):
            found.append(f"{', '.join(sorted(told))} do not belong here")
        if "body" in operation:
            found += list_errors(operation["body"], body or b"{}")
        elif body:
            found.append("a request with a body that none has")
        return found

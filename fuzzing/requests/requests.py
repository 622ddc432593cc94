"""Requests drawn from the OpenAPI document: the same for a seed and a number, but for ids and tokens."""

import base64
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from fuzzing.requests.values import Values

FULL_SHARE = 1 / 200  # of the requests: for a customer with a full history
METHODS = ("GET", "POST", "PUT", "DELETE")
JSON, FORM, BASE64 = "application/json", "application/x-www-form-urlencoded", "application/octet-stream+base64"
# With the right token these end what others need; they get one rarely.
ENDINGS = frozenset(
    {"erase_customer", "delete_accesses", "delete_access", "revoke_token", "change_password", "revoke_own_tokens"}
)
FILE = (
    b":20:STARTUMSE\r\n:25:37040044/0532013000\r\n:28C:0\r\n:60F:C261101EUR100,00\r\n:61:2611021102DR12,50NMSCNONREF\r\n"
    b":86:166?00LASTSCHRIFT?20Miete?32Erika Beispiel\r\n:62F:C261102EUR87,50\r\n-\r\n"
)


@dataclass(frozen=True)
class World:
    """What there is to name: logins by security scheme, and ids by the name of a parameter."""

    logins: dict[str, list[str]]
    known: dict[str, list[str]]


@dataclass(frozen=True)
class Worlds:
    """An analysis of a full history takes seconds of processor time, and one of a few bookings milliseconds: nearly
    all requests are for customers with few. There are several, since each may have eight analyses in progress."""

    few: Sequence[World]
    full: World


@dataclass(frozen=True)
class Operation:
    id: str
    tag: str
    method: str
    path: str
    security: list[str]
    parameters: list[dict[str, Any]] = field(repr=False)
    bodies: dict[str, Any] = field(repr=False)
    statuses: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class DrawnRequest:
    operation: Operation
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def encode(self, host: str) -> bytes:
        fields = {"Host": host, "Content-Length": str(len(self.body)), **self.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{self.method} {self.target} HTTP/1.1\r\n{head}\r\n".encode("latin-1", "replace") + self.body


class Requests:
    def __init__(self, document: dict[str, Any], seed: int) -> None:
        self._schemas = document["components"]["schemas"]
        self._parameters = document["components"].get("parameters", {})
        self._seed = seed
        self.operations = list(self._list_operations(document))

    def _list_operations(self, document: dict[str, Any]) -> Iterator[Operation]:
        for path, described in document["paths"].items():
            for method, operation in described.items():
                if method.upper() not in METHODS:
                    continue
                parameters = [*described.get("parameters", []), *operation.get("parameters", [])]
                bodies = operation.get("requestBody", {}).get("content", {})
                yield Operation(
                    operation["operationId"],
                    operation["tags"][0],
                    method.upper(),
                    path,
                    [name for schemes in operation["security"] for name in schemes],
                    [self._parameters.get(p["$ref"].rpartition("/")[2]) if "$ref" in p else p for p in parameters],
                    {kind: content.get("schema", {}) for kind, content in bodies.items()},
                    frozenset(operation["responses"]),
                )

    def draw(self, number: int, worlds: Worlds) -> DrawnRequest:
        draws = random.Random(f"{self._seed} {number}")
        world = worlds.full if draws.random() < FULL_SHARE else worlds.few[number % len(worlds.few)]
        operation = draws.choice(self.operations)
        values = Values(draws, self._schemas, world.known)
        headers = self._draw_headers(operation, values, world)
        body = b""
        if operation.bodies or values.is_chance(0.02):
            kind, body = self._draw_body(operation, values)
            if not values.is_chance(0.03):
                headers["Content-Type"] = kind
        method = (
            operation.method if not values.is_chance(0.02) else draws.choice((*METHODS, "PATCH", "HEAD", "OPTIONS"))
        )
        return DrawnRequest(operation, method, self._draw_target(operation, values), headers, body)

    def _draw_headers(self, operation: Operation, values: Values, world: World) -> dict[str, str]:
        headers = {}
        share = 0.02 if operation.id in ENDINGS else 0.92
        if operation.security and values.is_chance(share):
            headers |= _login(operation.security, values, world)
        elif values.is_chance(0.3):
            headers["Authorization"] = f"Bearer {_visible(values.draw_text(''))}"
        for parameter in operation.parameters:
            if parameter["in"] == "header" and values.is_chance(0.5):
                text = "8.8.8.8" if "IP" in parameter["name"] and values.is_chance(0.7) else values.draw_text("")
                headers[parameter["name"]] = _visible(text)
        if values.is_chance(0.05):
            headers["Accept"] = values.draws.choice((JSON, "*/*", "text/html", "application/problem+json", "x", ""))
        return headers

    def _draw_target(self, operation: Operation, values: Values) -> str:
        path = re.sub(r"\{([^}]+)\}", lambda match: quote(values.draw_text(match[1]), safe="") or "%20", operation.path)
        query = []
        for parameter in operation.parameters:
            if parameter["in"] == "query" and values.is_chance(0.35):
                value = values.draw(parameter.get("schema", {}), parameter["name"])
                text = value if isinstance(value, str) else json.dumps(value)
                query += [(parameter["name"], text)] * (2 if values.is_chance(0.02) else 1)
        if values.is_chance(0.03):
            query.append((values.draw_text(""), values.draw_text("")))
        return path + ("?" + urlencode(query, errors="replace") if query else "")

    def _draw_body(self, operation: Operation, values: Values) -> tuple[str, bytes]:
        kind = values.draws.choice(list(operation.bodies) or [JSON])
        schema = operation.bodies.get(kind, {})
        if kind == FORM:
            form = values.draw(schema)
            pairs = form.items() if isinstance(form, dict) else [("grant_type", "password")]
            return kind, urlencode([(name, str(value)) for name, value in pairs], errors="replace").encode()
        if kind == BASE64:
            return kind, base64.b64encode(values.draw_text("").encode("utf-8", "replace"))
        if kind != JSON:
            return kind, _damage(FILE, values)
        body = json.dumps(values.draw(schema), ensure_ascii=values.is_chance(0.5)).encode("utf-8", "replace")
        return kind, _damage(body, values) if values.is_chance(0.05) else body


def _login(schemes: list[str], values: Values, world: World) -> dict[str, str]:
    scheme = values.draws.choice(schemes)
    if values.is_chance(0.04):
        scheme = values.draws.choice(list(world.logins))
    secret = values.draws.choice(world.logins[scheme])
    match scheme:
        case "apiKey":
            return {"X-API-KEY": secret}
        case "clientLogin":
            return {"Authorization": f"Basic {base64.b64encode(secret.encode()).decode()}"}
    return {"Authorization": f"Bearer {secret}"}


def _damage(data: bytes, values: Values) -> bytes:
    changed = bytearray(data)
    for _ in range(values.draws.choice((0, 1, 3, 20))):
        if changed:
            changed[values.draws.randrange(len(changed))] = values.draws.randrange(256)
    return bytes(changed[: values.draws.choice((len(changed), len(changed), len(changed) // 2))])


def _visible(text: str) -> str:
    """What a header can have; others end at the server's parser, and are tried elsewhere."""
    return "".join(character for character in text if " " <= character <= "ÿ" and character != "\x7f").strip()[:2000]

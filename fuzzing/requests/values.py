"""Values for the schemas of the OpenAPI document: mostly such as it asks for, now and then others."""

import random
import string
from typing import Any

ODD_TEXTS = (
    "", " ", "\x00", "a\x00b", "ü", "𝕏", "\ud7ff", "\ufeff", "\u202e", "'", '"', "'; drop table users; --", "{{7*7}}",
    "%s%n", "../../etc/passwd", "<script>alert(1)</script>", "-1", "0", "1e400", "NaN", "null", "true", "[]", "{}",
    "2026-02-30", "9999-12-31", "0001-01-01", "2026-11-18 25:00:00", "https://user@host:99999/", "javascript:alert(1)",
    "http://[::1]/", "DE00", "x" * 300, "x" * 5000, "\r\nX: y", "0b1f9a52-3f0c-4f36-9d36-0f3f5a1c2d3e",
)  # fmt: skip
TEXTS = (
    "DE89370400440532013000", "AT611904300234573201", "COBADEFFXXX", "Erika Beispiel", "Miete November", "EUR", "12.50",
    "2026-11-01", "2026-11-01 00:00:00", "https://example.com/back", "anna", "demo", "student", "test_tan", "MONTH_ONE",
)  # fmt: skip
ODD_NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**30, 1e-300, 1e300, 0.1, -0.0, 1.005, 12345678901234567.89)
DEPTH = 6


class Values:
    """Draws values for one request. `known` has ids of objects that exist, by the name of a field or parameter."""

    def __init__(self, draws: random.Random, schemas: dict[str, Any], known: dict[str, list[str]]) -> None:
        self.draws = draws
        self._schemas = schemas
        self._known = known

    def is_chance(self, share: float) -> bool:
        return self.draws.random() < share

    def draw(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        """A value of the schema, or in one of twelve cases any other."""
        if not isinstance(schema, dict) or self.is_chance(1 / 12):
            return self.draw_any(depth)
        if "$ref" in schema:
            return self.draw(self._schemas.get(schema["$ref"].rpartition("/")[2]), name, depth)
        for key in ("anyOf", "oneOf", "allOf"):
            if schema.get(key):
                return self.draw(self.draws.choice(schema[key]), name, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.draws.choice(schema["enum"])
        if schema.get("examples") and self.is_chance(0.4):
            return self.draws.choice(schema["examples"])
        return self._draw_type(schema, name, depth)

    def _draw_type(self, schema: dict[str, Any], name: str, depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.draws.choice(kind)
        match kind:
            case "object":
                return self._draw_object(schema, depth)
            case "array":
                count = 0 if depth > DEPTH else self.draws.choice((0, 1, 1, 2, 5))
                return [self.draw(schema.get("items", {}), name, depth + 1) for _ in range(count)]
            case "integer":
                return self.draws.choice(
                    (self.draws.randint(-2, 400), schema.get("maximum", 7), schema.get("minimum", 0))
                )
            case "number":
                return self.draws.choice((self.draws.randint(-99999, 99999) / 100, *ODD_NUMBERS[:3]))
            case "boolean":
                return self.is_chance(0.5)
            case "null":
                return None
            case "string":
                return self.draw_text(name)
        return self.draw_any(depth)

    def _draw_object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        made = {
            name: self.draw(inner, name, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if self.is_chance(0.95 if name in required else 0.4 if depth <= DEPTH else 0)
        }
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            for _ in range(self.draws.choice((0, 1, 1, 2))):
                made[self.draw_text("access-id")] = self.draw(others, "", depth + 1)
        if self.is_chance(0.05):
            made[self.draw_text("")] = self.draw_any(depth)
        return made

    def draw_text(self, name: str) -> str:
        """An id that exists where the name of a field asks for one, or a usual text, or an odd one."""
        known = self._known.get(name) or self._known.get(name.removesuffix("Id") + "-id")
        if known and self.is_chance(0.8):
            return self.draws.choice(known)
        if self.is_chance(0.6):
            return self.draws.choice(TEXTS)
        if self.is_chance(0.5):
            return self.draws.choice(ODD_TEXTS)
        return "".join(self.draws.choices(string.printable, k=self.draws.choice((1, 8, 40))))

    def draw_any(self, depth: int = 0) -> Any:
        kind = self.draws.randrange(7 if depth < DEPTH else 5)
        match kind:
            case 0:
                return None
            case 1:
                return self.is_chance(0.5)
            case 2:
                return self.draws.choice(ODD_NUMBERS)
            case 5:
                return [self.draw_any(depth + 1) for _ in range(self.draws.randrange(4))]
            case 6:
                return {self.draw_text(""): self.draw_any(depth + 1) for _ in range(self.draws.randrange(4))}
        return self.draw_text("")

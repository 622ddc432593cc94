"""Prints `docs/security/asvs.md` from `docs/security/asvs.toml`.

python scripts/print_asvs.py > docs/security/asvs.md
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STATUSES = {
    "met": "met",
    "documented": "documented",
    "operation": "met by operation",
    "not applicable": "not applicable",
    "not met": "**not met**",
}
CHAPTERS = {
    1: "Encoding and sanitisation",
    2: "Validation and business logic",
    3: "Web frontend",
    4: "API and web service",
    5: "Files",
    6: "Authentication",
    7: "Sessions",
    8: "Authorisation",
    9: "Self-contained tokens",
    10: "OAuth and OpenID Connect",
    11: "Cryptography",
    12: "Communication",
    13: "Configuration",
    14: "Data protection",
    15: "Code and architecture",
    16: "Logging and errors",
    17: "WebRTC",
}
HEAD = """# OWASP ASVS 5.0, levels 1 and 2

<!-- Printed by scripts/print_asvs.py from asvs.toml. Do not edit. -->

What Kontor does about each requirement of the
[Application Security Verification Standard 5.0](https://owasp.org/www-project-application-security-verification-standard/).
Numbers are the standard's, words are ours: read the requirement there. Nobody but the developers has assessed this.

- **met**: the tests named fail without it. They are files below `tests/`.
- **documented**: the requirement asks for a document, which is named.
- **met by operation**: the operator does it, or switches it on.
- **not applicable**: Kontor has nothing of the kind.
- **not met**: with the reason.
"""


def load() -> dict[str, dict[str, Any]]:
    return tomllib.loads((ROOT / "docs/security/asvs.toml").read_text(encoding="utf-8"))


def render() -> str:
    rows = load()
    parts = [HEAD, _count(rows)]
    for number, title in CHAPTERS.items():
        lines = [
            f"## V{number} {title}",
            "",
            "| # | Level | Status | About | Proof or reason |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(key, row) for key, row in rows.items() if key.partition(".")[0] == str(number)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _count(rows: dict[str, dict[str, Any]]) -> str:
    counts = Counter((row["status"], row["level"]) for row in rows.values())
    lines = ["| Status | Level 1 | Level 2 |", "|---|---:|---:|"]
    lines += [f"| {shown} | {counts[status, 1]} | {counts[status, 2]} |" for status, shown in STATUSES.items()]
    return "\n".join(lines) + "\n"


def _row(key: str, row: dict[str, Any]) -> str:
    proof = [f"`{test}`" for test in row.get("tests", [])]
    pages = [f"[{page}](../../{page})" for page in row.get("pages", [])]
    shown = ", ".join(proof + pages) or row["reason"]
    return f"| {key} | {row['level']} | {STATUSES[row['status']]} | {row['about']} | {shown} |"


if __name__ == "__main__":
    sys.stdout.write(render())

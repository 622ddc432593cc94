"""Canonical JSON (RFC 8785) by a JavaScript engine, which the RFC takes its form of numbers and texts from."""

import subprocess

from timeouts import WAIT_TIMEOUT_SECONDS

PROGRAM = """
const [, ...removed] = process.argv;
const sorted = value => Array.isArray(value) ? value.map(sorted)
  : value && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map(k => [k, sorted(value[k])]))
  : value;
const value = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const name of removed) delete value[name];
process.stdout.write(JSON.stringify(sorted(value)));
"""


def canonicalize(text: str, removed: tuple[str, ...] = ()) -> bytes:
    """Without the members of that name."""
    command = ["node", "-e", PROGRAM, *removed]
    return subprocess.run(
        command, input=text.encode(), capture_output=True, timeout=WAIT_TIMEOUT_SECONDS, check=True
    ).stdout

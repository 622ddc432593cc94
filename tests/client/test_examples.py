"""The examples do as they say, against the real service."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PEERS = Path(sys.executable).parents[1] / "peers"
SECONDS = 200


@pytest.fixture(scope="module")
def demo(bank_server, shared, tmp_path_factory) -> Path:
    """What `kontor demo` writes, as far as the examples read it."""
    tenant = {
        "name": shared.name,
        "adminClient": dict(zip(("username", "password"), shared.admin, strict=True)),
        "userClient": dict(zip(("username", "password"), shared.app, strict=True)),
    }
    path = tmp_path_factory.mktemp("examples") / "demo.json"
    path.write_text(json.dumps({"baseUrl": bank_server, "tenants": [tenant]}))
    return path


def run(*command: object) -> str:
    ran = subprocess.run(
        [str(argument) for argument in command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=dict(os.environ),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def check(output: str) -> None:
    """A user, products, five bookings with categories, contracts."""
    lines = output.splitlines()
    assert lines[0].startswith("user first-hour-")
    assert [line for line in lines if line.startswith("GIROKONTO")]
    bookings = [line for line in lines if re.match(r"\d{4}-\d{2}-\d{2} +-?[\d.]+ [A-Z_]+ ", line)]
    assert len(bookings) == 5
    assert len([line for line in lines if re.match(r"contract +-?[\d.]+ ", line)]) >= 5


def test_the_first_hour_in_python(demo):
    check(run(sys.executable, "-W", "error", EXAMPLES / "first_hour.py", demo))


def test_the_first_hour_with_curl(demo):
    check(run("bash", EXAMPLES / "first_hour.sh", demo))


def test_the_receiver_of_webhooks_says_what_the_demo_needs(demo):
    command = [sys.executable, str(EXAMPLES / "webhook_receiver.py"), str(demo)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("Kontor refuses http://127.0.0.1:")
    assert ran.stderr.endswith("Start the demo with: ./dev demo --allow-loopback\n")
    assert "Traceback" not in ran.stderr


def test_the_readme_names_every_example():
    readme = (EXAMPLES / "README.md").read_text()
    files = {file.name for file in EXAMPLES.iterdir() if file.is_file()} - {"README.md"}
    assert set(re.findall(r"^\| `([^`]+)` ", readme, re.MULTILINE)) == files


@pytest.mark.peers
def test_the_first_hour_runs_with_tsx(demo):
    """Without a package.json beside it, as a reader of the documentation starts it."""
    check(run(PEERS / "node_modules" / ".bin" / "tsx", EXAMPLES / "first_hour.ts", demo))


@pytest.mark.peers
def test_the_first_hour_in_typescript(demo, tmp_path):
    """Checked strictly and made JavaScript by tsc, since Node runs types only from 23.6 on."""
    project = {
        "compilerOptions": {
            "strict": True, "noUncheckedIndexedAccess": True, "target": "es2022", "module": "es2022",
            "moduleResolution": "bundler", "outDir": str(tmp_path), "types": ["node"], "skipLibCheck": True,
            "typeRoots": [str(PEERS / "node_modules" / "@types")],
        },
        "files": [str(EXAMPLES / "first_hour.ts")],
    }  # fmt: skip
    (tmp_path / "tsconfig.json").write_text(json.dumps(project))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run(PEERS / "node_modules" / ".bin" / "tsc", "--project", tmp_path)
    check(run("node", tmp_path / "first_hour.js", demo))

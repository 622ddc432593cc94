"""The quick start: its code runs as a reader pastes it."""

import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from console_site import password_of
from kontor.console.views import quickstart

PEERS = Path(sys.executable).parents[1] / "peers"
SECONDS = 200


@pytest.fixture(scope="module")
def blocks(visitor):
    """All code of the quick start, as a reader copies it."""
    found = {}
    for code in quickstart.CODES:
        page = visitor.get("/console/quickstart", params={"code": code}).text
        found |= dict(
            re.findall(r'<pre tabindex="0"[^>]* id="code-([a-z-]+)"><code>(.*?)</code></pre>', page, re.DOTALL)
        )
    return {name: html.unescape(text) for name, text in found.items()}


@pytest.fixture(scope="module")
def environment(console_site, tmp_path_factory):
    """What `kontor demo` leaves behind for whoever follows the quick start."""
    folder = tmp_path_factory.mktemp("quickstart")
    tenants = [
        {
            "name": tenant.name, "regulated": tenant is console_site.regulated,
            "adminClient": dict(zip(("username", "password"), tenant.admin, strict=True)),
            "userClient": dict(zip(("username", "password"), tenant.app, strict=True)),
        }
        for tenant in (console_site.redirecting, console_site.regulated)
    ]  # fmt: skip
    (folder / "demo.json").write_text(json.dumps({"tenants": tenants}))
    return os.environ | {"KONTOR_DATA": str(folder), "KONTOR_PASSWORD": password_of(console_site.rich)}


def _run(environment, script):
    ran = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=SECONDS, check=False, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _count_bookings(output):
    return len(re.findall(r"^\d{4}-\d\d-\d\d -?[\d.]+ [A-Z_]+ .+$", output, re.MULTILINE))


def test_the_quick_start_with_curl_works_as_pasted(blocks, environment):
    assert _count_bookings(_run(environment, f"{blocks['secrets']}\n{blocks['curl']}")) == 5


def test_the_quick_start_in_python_works_as_pasted(blocks, environment, tmp_path):
    (tmp_path / "first.py").write_text(blocks["python"])
    command = shlex.join([sys.executable, "-W", "error", str(tmp_path / "first.py")])
    output = _run(environment, f"{blocks['secrets']}\n{command}")
    assert _count_bookings(output) == 5


def test_the_quick_start_in_typescript_works_as_pasted(blocks, environment, tmp_path):
    """Made JavaScript by tsc, since Node runs types only from 23.6 on."""
    modules = PEERS / "node_modules"
    compiler = modules / ".bin" / "tsc"
    if not compiler.exists():
        pytest.skip("tsc is installed by ./dev test peers")
    (tmp_path / "first.ts").write_text(blocks["typescript"])
    types = ["--types", "node", "--typeRoots", str(modules / "@types"), "--skipLibCheck"]
    options = ["--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler", *types]
    compile_it = shlex.join([str(compiler), *options, "first.ts"])
    script = f"cd {shlex.quote(str(tmp_path))} && {compile_it} && mv first.js first.mjs && node first.mjs"
    assert _count_bookings(_run(environment, f"{blocks['secrets']}\n{script}")) == 5


def test_the_own_calls_work_as_pasted(blocks, environment, console_site):
    lines = [text for name, text in blocks.items() if name.startswith("own-") and name != "own-token"]
    assert len(lines) == 4
    output = _run(
        environment, "\n".join([blocks["secrets"], blocks["own-token"], *(f"{line} | wc -c" for line in lines)])
    )
    assert all(int(size) > 500 for size in output.split())
    assert console_site.address in blocks["own-accesses"]


def test_a_username_cannot_leave_its_place_in_a_command():
    line = quickstart.write_own_token("http://127.0.0.1", "demo", "x'; rm -rf ~; '")
    assert "username='x'\"'\"'; rm -rf ~; '\"'\"''" in line

"""The audit of dependencies: complete, and never green where it could not find out."""

import importlib.util
import json
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    source = importlib.util.spec_from_file_location("audit_script", ROOT / "scripts/audit.py")
    assert source is not None
    assert source.loader is not None
    module = importlib.util.module_from_spec(source)
    sys.modules["audit_script"] = module  # dataclasses look their module up
    source.loader.exec_module(module)
    return module


class Index:
    """Answers by path; what it does not know is 404."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                told = index.answers.get(self.path)
                self.send_response(404 if told is None else told if isinstance(told, int) else 200)
                self.end_headers()
                if isinstance(told, dict):
                    self.wfile.write(json.dumps(told).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def tell(self, path: str, version: str, *advisories: dict[str, object]) -> None:
        self.answers[f"/{path}/json"] = {"info": {"version": version}, "vulnerabilities": list(advisories)}


@pytest.fixture
def index() -> Iterator[Index]:
    index = Index()
    thread = threading.Thread(target=index.server.serve_forever)
    thread.start()
    yield index
    index.server.shutdown()
    index.server.server_close()
    thread.join()


@pytest.fixture
def run(script, tmp_path, index, capsys):
    """The audit of a lock file with msgspec alone."""
    lock = tmp_path / "one.lock"
    lock.write_text(f"msgspec==1.2 \\\n    --hash=sha256:{'a' * 64}\n")

    def audit(address: str | None = None) -> tuple[int, str]:
        code = script.main(
            ["--lock", str(lock), "--output", str(tmp_path / "bom.json"), "--index", address or index.address]
        )
        assert json.loads((tmp_path / "bom.json").read_text())["components"][0]["name"] == "msgspec"
        return code, capsys.readouterr().out

    return audit


def test_the_list_has_every_locked_package_with_its_hashes(script):
    lock = ROOT / "requirements/run.lock"
    packages = script.read_lock(lock)
    text = lock.read_text()
    assert [f"{package.name}=={package.version}" for package in packages] == re.findall(
        r"^[\w.-]+==[^\s;]+", text, re.MULTILINE
    )
    assert sum(len(package.hashes) for package in packages) == text.count("--hash=sha256:")
    bom = script.make_bom(packages, script.list_vendored(), script.datetime.now(script.UTC))
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    assert "pkg:npm/chart.js" in {part["purl"].partition("@")[0] for part in bom["components"]}
    references = [part["bom-ref"] for part in bom["components"]]
    assert len(set(references)) == len(references) == len(packages) + 1
    assert bom["dependencies"][0]["dependsOn"] == references


def test_every_package_has_a_licence_that_is_allowed(script):
    packages = script.read_lock(ROOT / "requirements/run.lock")
    assert script.check_licences([*packages, *script.list_vendored()]) == []
    assert script.check_licences([script.Package("x", "1", (), "GPL-3.0-only")]) == ["x 1: GPL-3.0-only"]
    assert script.check_licences([script.Package("x", "1")]) == ["x 1: no licence is known; is it installed?"]


def test_a_version_without_advisories_passes(run, index):
    index.tell("msgspec/1.2", "1.2")
    assert run()[0] == 0


def test_the_newest_version_is_known_without_an_address_of_its_own(run, index):
    index.tell("msgspec", "1.2")
    assert run()[0] == 0


def test_an_advisory_fails_the_audit_unless_it_was_withdrawn(run, index):
    index.tell("msgspec/1.2", "1.2", {"id": "PYSEC-1", "fixed_in": ["1.3"]})
    code, told = run()
    assert (code, "msgspec 1.2: PYSEC-1, fixed in: 1.3" in told) == (1, True)
    index.tell("msgspec/1.2", "1.2", {"id": "PYSEC-1", "fixed_in": [], "withdrawn": "2026-01-01T00:00:00Z"})
    assert run()[0] == 0


def test_a_version_that_the_index_does_not_know_fails_the_audit(run, index):
    index.tell("msgspec", "1.3")
    code, told = run()
    assert (code, "msgspec 1.2: the index tells nothing about this version" in told) == (1, True)


@pytest.mark.parametrize("status", [None, 503])
def test_an_index_that_cannot_be_asked_fails_the_audit_after_list_and_licences(run, index, status):
    index.answers["/msgspec/1.2/json"] = status
    code, told = run("http://127.0.0.1:1" if status is None else None)
    assert code == 1
    assert "Licences: 0 problems." in told
    assert "Vulnerabilities: NOT CHECKED" in told

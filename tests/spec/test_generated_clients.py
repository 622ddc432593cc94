"""Generators that nobody here wrote make clean clients of our document: they warn of nothing, and programs that use the
clients compile strictly, without a cast, and work. Linters have nothing to say about the document."""

import base64
import compileall
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from generated_programs import GIVEN, HEY_API, OPENAPI_FETCH, ORVAL, PYTHON

pytestmark = pytest.mark.peers

PEERS = Path(sys.executable).parents[1] / "peers"
BINARIES = PEERS / "node_modules" / ".bin"
CONFIG = Path(__file__).parents[2] / "examples" / "openapi-python-client.yaml"
SECONDS = 250
ORVAL_CONFIG = """
module.exports = {
  kontor: {
    input: "./openapi.json",
    output: { target: "./orval/kontor.ts", client: "fetch", baseUrl: { getBaseUrlFromSpecification: true } },
  },
};
"""


def run(*command: object, folder: Path, is_report: bool = False, **environment: str) -> str:
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # one of the generators formats with ruff
    ran = subprocess.run(
        [str(argument) for argument in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=os.environ | {"PATH": tools, "PYTHONPATH": str(folder), "CI": "true"} | environment,
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said[-4000:]
    return ran.stdout if is_report else said


def generate(*command: object, folder: Path) -> None:
    said = run(*command, folder=folder)
    assert "warn" not in said.lower(), said[-4000:]


@pytest.fixture
def folder(http, tmp_path) -> Path:
    (tmp_path / "openapi.json").write_bytes(http.get("/openapi.json").content)
    (tmp_path / "node_modules").symlink_to(PEERS / "node_modules")
    return tmp_path


@pytest.fixture
def caller(demo1, bank_server, shared) -> dict[str, str]:
    """What a program is told by its environment: who calls, and which access it reads."""
    customer, access_id = demo1
    client, secret = shared.app
    return {
        "BASE": bank_server,
        "CLIENT": client,
        "SECRET": secret,
        "LOGIN": base64.b64encode(f"{client}:{secret}".encode()).decode(),
        "USERNAME": customer.username,
        "PASSWORD": f"password of {customer.username}",
        "ACCESS": access_id,
    }


def check(output: str) -> None:
    lines = [line.split() for line in output.splitlines()]
    assert lines[0][0] == "access"
    assert lines[0][1].endswith("VOLLSTAENDIG")
    rows = [line for line in lines if line[0] == "row"]
    assert len(rows) == 5
    assert all(re.fullmatch("[A-Z_]+", row[2]) and float(row[1]) for row in rows)
    assert ["next", "true"] in [[word.lower() for word in line] for line in lines]
    contracts = [line for line in lines if line[0] == "contract"]
    assert len(contracts) >= 5
    assert {line[2].rpartition(".")[2] for line in contracts} <= {"ACTIVE", "INACTIVE", "PROVISIONAL"}


def compile_strictly(folder: Path, name: str) -> None:
    options = {
        "strict": True, "noUncheckedIndexedAccess": True, "target": "es2022", "module": "commonjs", "outDir": "made",
        "moduleResolution": "node10", "lib": ["es2022", "dom", "dom.iterable"], "types": ["node"], "skipLibCheck": True,
    }  # fmt: skip
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": [name]}))
    run(BINARIES / "tsc", "--project", "tsconfig.json", folder=folder)


def prove(program: str, folder: Path, caller: dict[str, str], wrong: tuple[str, str]) -> None:
    """It compiles without a cast and works; with a wrong word in it, it does not compile."""
    assert not re.search(r"\bas\b|\bany\b|@ts-|\w!\.", program)
    (folder / "given.ts").write_text(GIVEN)
    (folder / "use.ts").write_text(program)
    compile_strictly(folder, "use.ts")
    check(run("node", "made/use.js", folder=folder, **caller))
    assert wrong[0] in program
    (folder / "wrong.ts").write_text(program.replace(*wrong))
    with pytest.raises(AssertionError, match="error TS"):
        compile_strictly(folder, "wrong.ts")


def test_a_program_with_openapi_typescript_and_openapi_fetch_works(folder, caller):
    generate(BINARIES / "openapi-typescript", "openapi.json", "-o", "api.ts", folder=folder)
    prove(OPENAPI_FETCH, folder, caller, ('tag: "categories"', 'tag: "category"'))


def test_a_program_with_hey_api_works(folder, caller):
    generate(BINARIES / "openapi-ts", "-i", "openapi.json", "-o", "hey", folder=folder)
    prove(HEY_API, folder, caller, ('=== "GIROKONTO"', '=== "GIRO"'))


def test_a_program_with_orval_works(folder, caller):
    (folder / "orval.config.cjs").write_text(ORVAL_CONFIG)
    generate(BINARIES / "orval", "--config", "orval.config.cjs", folder=folder)
    prove(ORVAL, folder, caller, ("details.amountLatest", "details.amountLast"))


def test_a_program_with_openapi_python_client_works(folder, caller):
    python = PEERS / "python" / "bin" / "python"
    command = [python.parent / "openapi-python-client", "generate", "--path", "openapi.json", "--config", CONFIG]
    generate(*command, "--meta", "none", "--fail-on-warning", folder=folder)
    made = folder / "kontor_api_client"  # and not kontor_client, which is ours
    assert compileall.compile_dir(made, quiet=1)
    names = {file.stem for file in (made / "api").rglob("*.py")} - {"__init__"}
    wanted = {path[method]["operationId"] for path in read_paths(folder) for method in path if method != "parameters"}
    assert {name.replace("_", "") for name in wanted} == {name.replace("_", "") for name in names}
    assert {file.name for file in (made / "api").iterdir() if file.is_dir()} >= {"tokens", "customer", "payments"}
    assert "cast(" not in PYTHON
    (folder / "use.py").write_text(PYTHON)
    run(sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "use.py", folder=folder)
    check(run(python, "-W", "error", "use.py", folder=folder, **caller))


def test_redocly_reports_nothing(folder):
    lint = [BINARIES / "redocly", "lint", "openapi.json", "--format=json"]
    report = json.loads(run(*lint, folder=folder, is_report=True))
    assert report["problems"] == []
    assert report["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}


def test_spectral_reports_nothing(folder):
    (folder / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    lint = [BINARIES / "spectral", "lint", "openapi.json", "--ruleset", ".spectral.yaml", "--format", "json"]
    report = run(*lint, "--fail-severity", "hint", folder=folder, is_report=True)
    assert json.loads(report.partition("No results")[0] or "[]") == []


def read_paths(folder: Path) -> list[dict[str, dict[str, str]]]:
    return list(json.loads((folder / "openapi.json").read_text())["paths"].values())

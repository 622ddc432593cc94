"""Generators that nobody here wrote make clean clients of our document: they warn of nothing, and the result works."""

import compileall
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.peers

PEERS = Path(sys.executable).parents[1] / "peers"
CONFIG = Path(__file__).parents[2] / "examples" / "openapi-python-client.yaml"
SECONDS = 250

USE_TYPES = """
import type { components, operations, paths } from "./api";

type Providers = paths["/providers/v2"]["get"]["responses"]["200"]["content"]["application/json"];
export const names = (found: Providers): string[] => found.map((one) => one.name);
export const balance = (one: components["schemas"]["BankProduct"]): number | undefined => one.saldo;
export type Query = NonNullable<operations["list_transactions"]["parameters"]["query"]>;
export const query: Query = { from: "2026-01-01", tag: "categories", limit: 10 };
"""

LIST_PROVIDERS = """
import sys, warnings
warnings.simplefilter("error")
from kontor_generated import AuthenticatedClient
from kontor_generated.api.customer import list_accesses
from kontor_generated.api.providers import list_providers

base_url, token = sys.argv[1:]
with AuthenticatedClient(base_url=base_url, token=token) as client:
    found = list_providers.sync(client=client, q="Demo")
    print([str(one.id) for one in found])
    print(list_accesses.sync(client=client).to_dict())
"""


def run(*command: object, folder: Path) -> str:
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # one of the generators formats with ruff
    ran = subprocess.run(
        [str(argument) for argument in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=os.environ | {"PATH": tools, "PYTHONPATH": str(folder)},
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said[-4000:]
    assert "warning" not in said.lower(), said[-4000:]
    return ran.stdout


@pytest.fixture
def folder(http, tmp_path) -> Path:
    (tmp_path / "openapi.json").write_bytes(http.get("/openapi.json").content)
    return tmp_path


def test_openapi_typescript_makes_types_that_compile_strictly(folder):
    binaries = PEERS / "node_modules" / ".bin"
    run(binaries / "openapi-typescript", "openapi.json", "-o", "api.ts", folder=folder)
    (folder / "use.ts").write_text(USE_TYPES)
    check = [binaries / "tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"]
    run(*check, "use.ts", folder=folder)
    (folder / "wrong.ts").write_text(USE_TYPES.replace("limit: 10", 'limit: "ten"'))
    with pytest.raises(AssertionError, match="not assignable"):
        run(*check, "wrong.ts", folder=folder)


def test_openapi_python_client_makes_a_package_that_works(folder, server, shared):
    python = PEERS / "python" / "bin" / "python"
    generate = [python.parent / "openapi-python-client", "generate", "--path", "openapi.json", "--config", CONFIG]
    run(*generate, "--meta", "none", "--output-path", "kontor_generated", "--fail-on-warning", folder=folder)
    assert compileall.compile_dir(folder / "kontor_generated", quiet=1)
    made = {file.stem for file in (folder / "kontor_generated" / "api").rglob("*.py")} - {"__init__"}
    wanted = {operation["operationId"] for path in read_paths(folder) for operation in path.values()}
    assert {name.replace("_", "") for name in wanted} == {name.replace("_", "") for name in made}
    shown = run(python, "-c", LIST_PROVIDERS, server, shared.user_token(), folder=folder).splitlines()
    assert "00000000-0000-0000-0000-000000000000" in shown[0]
    assert shown[1] == "{}"


def read_paths(folder: Path) -> list[dict[str, dict[str, str]]]:
    return list(json.loads((folder / "openapi.json").read_text())["paths"].values())

"""`kontor dora register`: what follows from the installation, marks for all else, and nothing secret."""

import csv
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from operating import BANK

from kontor.cli.dora.components import list_packages
from kontor.cli.dora.outside_services import REASONS, SERVICE_TYPES, find_database_hosts
from kontor.domain.secrets import Secret
from kontor.egress import Purpose
from kontor.wire.dora.registers import MARK, OPERATOR
from kontor.wire.dora.templates import TEMPLATES

ROOT = Path(__file__).parents[2]
TODAY = datetime.now(UTC).date()
# Article 5(1), points (a) to (o), of Implementing Regulation (EU) 2024/2956.
CODES = [
    "B_01.01", "B_01.02", "B_01.03", "B_02.01", "B_02.02", "B_02.03", "B_03.01", "B_03.02", "B_03.03", "B_04.01",
    "B_05.01", "B_05.02", "B_06.01", "B_07.01", "B_99.01",
]  # fmt: skip
# Columns in the EBA's data model (DPM 4.0), as two public programs that write its files have them.
COLUMNS = [6, 11, 4, 5, 18, 3, 3, 3, 3, 4, 12, 7, 10, 12, 19]
VAULT = "vault.example.com"


@pytest.fixture
def connected(operator, monkeypatch):
    """An installation with services of others, and with others that are none."""
    operator.owner.execute("delete from egress_days")
    for host, purpose in (
        ("fints.bank.example", "bank"),
        ("hooks.tenant.example", "webhook"),
        ("push.browser.example", "push"),
        ("gone.browser.example", "push"),
        ("127.0.0.1", "tracing"),
        ("=evil.example", "other"),
    ):
        operator.owner.execute(
            "insert into egress_days values (%s, %s, %s, %s, 1, 0, 100, 2000)",
            [TODAY, host, purpose, 0 if host.startswith("gone") else 3],
        )
    monkeypatch.setenv("KONTOR_VAULT_ADDRESS", f"https://{VAULT}:8200")
    monkeypatch.setenv("KONTOR_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    operator.add_access()
    operator.add_access("south")
    yield operator
    operator.owner.execute("delete from egress_days")


@pytest.fixture
async def files(connected, kontor, tmp_path):
    code, out, err = await kontor("dora", "register", "--output", str(tmp_path / "register"))
    assert (code, "Nothing is sent." in err) == (0, True), err
    assert "B_05.01" in out
    return {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "register").iterdir()}


def read_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_there_are_the_templates_and_columns_of_the_regulation():
    assert [template.code for template in TEMPLATES] == CODES
    assert [len(template.columns) for template in TEMPLATES] == COLUMNS
    for template in TEMPLATES:
        codes = [code for code, _ in template.columns]
        assert codes == sorted(set(codes))


def test_packages_are_those_of_the_lock_file():
    """The lock file is uv's: a foreign program's answer to the same question."""
    lock = (ROOT / "requirements/run.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    optional = {"duckdb", "kontor-client"}  # an extra beside the lock, and a package of the same repository
    listed = {package.name: package.version for package in list_packages() if package.name not in optional}
    assert len(listed) > 90
    assert listed == {name: locked[name] for name in listed}
    assert {"litestar", "psycopg", "cryptography", "certifi"} <= set(listed)
    assert not {"hatchling", "hatch-vcs", "editables", "pytest", "ruff"} & set(listed)


def test_packages_are_found_without_a_checkout(tmp_path, monkeypatch):
    """As a wheel installs them: metadata alone, with extras, markers, a circle, and one that is not installed."""
    needs = {
        "app": ["direct>=1", "with_extra[fast] ; extra == 'all'", "windows-only ; sys_platform == 'win32'", "gone"],
        "direct": ["app", "indirect"],
        "indirect": [],
        "with-extra": ["speed ; extra == 'fast'", "slow ; extra == 'slow'"],
        "speed": [], "slow": [], "windows-only": [], "unrelated": [],
    }  # fmt: skip
    for name, required in needs.items():
        folder = tmp_path / f"{name.replace('-', '_')}-2.0.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 2.0", "License: Apache-2.0", "Provides-Extra: all"]
        (folder / "METADATA").write_text(
            "\n".join([*lines, *(f"Requires-Dist: {requirement}" for requirement in required)]) + "\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = list_packages("app")
    assert [component.name for component in found] == ["direct", "indirect", "speed", "with-extra"]
    assert {(component.version, component.licence) for component in found} == {("2.0", "Apache-2.0")}


async def test_every_template_is_a_file_whose_columns_are_explained(files):
    assert set(files) == {f"{code.lower()}.csv" for code in CODES} | {
        "columns.csv", "hosts.csv", "banks.csv", "components.csv", "register.json",
    }  # fmt: skip
    explained = {(row["template"], row["column"]) for row in read_rows(files["columns.csv"])}
    for code in CODES:
        heading = next(csv.reader(io.StringIO(files[f"{code.lower()}.csv"])))
        assert {(code, column) for column in heading} <= explained


async def test_services_of_others_are_providers_and_banks_and_receivers_are_not(files):
    references = [row["c0010"] for row in read_rows(files["b_02.01.csv"])]
    assert references == ["kontor:push:push.browser.example", f"kontor:vault:{VAULT}"]
    services = read_rows(files["b_02.02.csv"])
    assert [row["c0060"] for row in services] == ["S19", "S04"]
    told = {(row["host"], row["register"]) for row in read_rows(files["hosts.csv"])}
    assert told == {
        ("fints.bank.example", "no: a bank of a user, in banks.csv"),
        ("hooks.tenant.example", "no: a receiver that a tenant has named"),
        ("push.browser.example", "yes"),
        ("gone.browser.example", "only where a setting names it: no connection"),
        ("127.0.0.1", "no: the operator's own machine"),
        ("'=evil.example", "no: refused"),
    }


def test_every_purpose_of_a_connection_has_its_place():
    assert set(SERVICE_TYPES) | set(REASONS) == set(Purpose)
    assert not set(SERVICE_TYPES) & set(REASONS)


async def test_rows_of_all_templates_are_connected(files):
    def values(template, column):
        return {row[column] for row in read_rows(files[f"{template}.csv"])}

    references, providers = values("b_02.01", "c0010"), values("b_05.01", "c0010")
    for template in ("b_02.02", "b_03.01", "b_03.02", "b_04.01", "b_05.02", "b_07.01"):
        assert values(template, "c0010") == references
    assert values("b_02.02", "c0030") == values("b_05.02", "c0030") == values("b_07.01", "c0020") == providers
    assert values("b_02.02", "c0050") == values("b_06.01", "c0010") == {"F1"}
    entity = values("b_01.01", "c0010")
    assert values("b_01.02", "c0010") == values("b_02.02", "c0020") == values("b_06.01", "c0040") == entity
    assert len(providers) == len(references) == 2


async def test_cells_of_the_operator_are_marked_and_counted(files):
    register = json.loads(files["register.json"])
    for template in register["templates"]:
        rows = read_rows(files[f"{template['code'].lower()}.csv"])
        cells = [cell for row in rows for cell in row.values()]
        assert sum(cell.startswith(MARK) for cell in cells) == template["openCells"]
        assert [list(row.values()) for row in rows] == template["rows"]
    (entity,) = read_rows(files["b_01.01.csv"])
    assert entity == {
        "c0010": "[operator: LEI]", "c0020": OPERATOR, "c0030": OPERATOR, "c0040": OPERATOR, "c0050": OPERATOR,
        "c0060": TODAY.isoformat(),
    }  # fmt: skip


async def test_banks_are_counted_over_all_tenants_and_components_have_versions(files):
    (bank,) = read_rows(files["banks.csv"])
    assert (bank["providerId"], bank["accesses"]) == (str(BANK), "2")
    assert bank["name"]
    assert bank["bankCode"]
    components = read_rows(files["components.csv"])
    assert {row["kind"] for row in components} == {"package", "file", "runtime"}
    assert [row["name"] for row in components if not row["version"]] == []
    assert {"PostgreSQL", "chart.js", "litestar"} <= {row["name"] for row in components}


async def test_the_register_tells_no_secrets_and_no_customers(connected, kontor, monkeypatch):
    monkeypatch.setenv("KONTOR_METRICS_TOKEN", "very-secret-metrics")
    code, out, _ = await kontor("dora", "register", "--json")
    assert code == 0
    password = re.search(r":([^:@/]+)@", connected.settings.database_url.reveal())
    users = [str(row) for rows in connected.owner.execute("select id, username, pseudonym from users") for row in rows]
    secrets = ["very-secret-metrics", *users, *([password[1]] if password else [])]
    assert [secret for secret in secrets if secret in out] == []
    assert json.loads(out)["ledger"]["until"] == TODAY.isoformat()


@pytest.mark.parametrize("days", ["0", "732"])
async def test_days_beyond_the_ledger_are_refused(kontor, days):
    code, out, err = await kontor("dora", "register", "--days", days)
    assert (code, out, err.startswith("Refused: --days must be 1 to 731")) == (1, "", True)


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("postgresql://app:geheim@db1.example,db2.example:5433/kontor", ["db1.example", "db2.example"]),
        ("postgresql://app@localhost/kontor", []),
        ("postgresql:///kontor?host=/run/postgresql", []),
        ("host=[::1] dbname=kontor", []),
    ],
)
def test_a_database_elsewhere_is_a_service_of_somebody(url, hosts):
    assert find_database_hosts(Secret(url)) == hosts

"""The register of information as far as an installation knows it; every other cell waits for the operator.

The operator replaces a mark such as `[operator: LEI]` everywhere by the same text, so that rows stay connected.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from typing import Any

from kontor.domain.spreadsheets import escape_formula
from kontor.wire.dora.templates import TEMPLATES, Template

OPERATOR = "[operator]"
OWN_LEI = "[operator: LEI]"
MARK = "[operator"
FUNCTION, FUNCTION_NAME = "F1", "Account information, payment initiation and transaction analysis with Kontor"
RANK_OF_DIRECT_PROVIDERS = "1"
# Templates of which an installation knows nothing, and which may well stay empty: branches, groups.
LEFT_EMPTY = ("B_01.03", "B_02.03", "B_03.03")


@dataclass(frozen=True, slots=True)
class OutsideService:
    """What another host does for the installation. `service_type` is one of annex III that is proposed, None where
    several are possible."""

    host: str
    purpose: str
    named_by: str
    service_type: str | None

    @property
    def reference(self) -> str:
        """Of the contractual arrangement, as a proposal."""
        return f"kontor:{self.purpose}:{self.host}"

    @property
    def provider(self) -> str:
        return f"[operator: LEI or EUID of {self.host}]"


@dataclass(frozen=True, slots=True)
class Host:
    """One host and purpose of the connection counters. `register` says whether it is in the templates, and why not."""

    host: str
    purpose: str
    connections: int
    failures: int
    refused: int
    bytesSent: int  # noqa: N815
    bytesReceived: int  # noqa: N815
    firstDay: date  # noqa: N815
    lastDay: date  # noqa: N815
    register: str


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank that users have connected, with the number of accesses."""

    providerId: str  # noqa: N815
    name: str
    bankCode: str  # noqa: N815
    bic: str
    accesses: int


@dataclass(frozen=True, slots=True)
class SoftwareComponent:
    kind: str
    name: str
    version: str
    licence: str
    home: str


@dataclass(frozen=True, slots=True)
class RegisterFacts:
    at: datetime
    version: str
    since: date
    until: date
    services: tuple[OutsideService, ...]
    hosts: tuple[Host, ...]
    banks: tuple[Bank, ...]
    components: tuple[SoftwareComponent, ...]


Row = tuple[str, ...]


def fill_templates(facts: RegisterFacts) -> dict[str, list[Row]]:
    """Rows by the code of the template, in the order of its columns."""
    rows: dict[str, list[Row]] = {template.code: [] for template in TEMPLATES}
    for template in TEMPLATES:
        if template.code.startswith(("B_01", "B_06", "B_99")) and template.code not in LEFT_EMPTY:
            rows[template.code].append(_make_row(template, _know_installation(template.code, facts)))
    for service in facts.services:
        for template in TEMPLATES:
            known = _know_service(template.code, service)
            if known is not None:
                rows[template.code].append(_make_row(template, known))
    return rows


def _make_row(template: Template, known: Mapping[str, str]) -> Row:
    return tuple(known.get(code, OPERATOR) for code, _ in template.columns)


def _know_installation(code: str, facts: RegisterFacts) -> Mapping[str, str]:
    return {
        "B_01.01": {"c0010": OWN_LEI, "c0060": facts.at.date().isoformat()},
        "B_01.02": {"c0010": OWN_LEI},
        "B_06.01": {"c0010": FUNCTION, "c0030": FUNCTION_NAME, "c0040": OWN_LEI},
    }.get(code, {})


def _know_service(code: str, service: OutsideService) -> Mapping[str, str] | None:
    """None where the template has no rows of services. What is empty here does not apply to a direct provider."""
    reference, provider, kind = service.reference, service.provider, service.service_type or OPERATOR
    return {
        "B_02.01": {"c0010": reference},
        "B_02.02": {
            "c0010": reference, "c0020": OWN_LEI, "c0030": provider, "c0050": FUNCTION, "c0060": kind, "c0090": "",
        },
        "B_03.01": {"c0010": reference, "c0020": OWN_LEI, "c0030": "true"},
        "B_03.02": {"c0010": reference, "c0020": provider},
        "B_04.01": {"c0010": reference, "c0020": OWN_LEI, "c0040": ""},
        "B_05.01": {"c0010": provider, "c0050": f"[operator: legal name of {service.host}]"},
        "B_05.02": {
            "c0010": reference, "c0020": kind, "c0030": provider, "c0050": RANK_OF_DIRECT_PROVIDERS,
            "c0060": "", "c0070": "",
        },
        "B_07.01": {"c0010": reference, "c0020": provider, "c0040": kind},
    }.get(code)  # fmt: skip


def count_open_cells(rows: Sequence[Row]) -> int:
    return sum(cell.startswith(MARK) for row in rows for cell in row)


def write_files(facts: RegisterFacts) -> dict[str, str]:
    """Text by file name: a CSV for each template and list, and all of it as JSON."""
    filled = fill_templates(facts)
    files = {
        f"{template.code.lower()}.csv": write_csv([code for code, _ in template.columns], filled[template.code])
        for template in TEMPLATES
    }
    columns = [(template.code, template.name, *column) for template in TEMPLATES for column in template.columns]
    files["columns.csv"] = write_csv(["template", "templateName", "column", "columnName"], columns)
    lists: dict[str, tuple[type, Sequence[Any]]] = {
        "hosts": (Host, facts.hosts), "banks": (Bank, facts.banks), "components": (SoftwareComponent, facts.components),
    }  # fmt: skip
    for name, (shape, members) in lists.items():
        headings = [attribute.name for attribute in fields(shape)]
        files[f"{name}.csv"] = write_csv(headings, [tuple(map(str, asdict(member).values())) for member in members])
    files["register.json"] = json.dumps(show_register(facts), ensure_ascii=False, indent=2, default=str) + "\n"
    return files


def show_register(facts: RegisterFacts) -> dict[str, Any]:
    filled = fill_templates(facts)
    return {
        "createdAt": facts.at.isoformat(timespec="seconds"),
        "kontor": facts.version,
        "ledger": {"since": facts.since.isoformat(), "until": facts.until.isoformat()},
        "mark": OPERATOR,
        "templates": [
            {
                "code": template.code,
                "name": template.name,
                "columns": [{"code": code, "name": name} for code, name in template.columns],
                "rows": [list(row) for row in filled[template.code]],
                "openCells": count_open_cells(filled[template.code]),
            }
            for template in TEMPLATES
        ],
        "services": [asdict(service) | {"reference": service.reference} for service in facts.services],
        "hosts": [asdict(host) for host in facts.hosts],
        "banks": [asdict(bank) for bank in facts.banks],
        "components": [asdict(component) for component in facts.components],
    }


def write_csv(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(
        [headings, *([escape_formula(cell) for cell in row] for row in rows)]
    )
    return text.getvalue()

"""`kontor dora`: the register of information; incidents are in a file of their own."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from kontor import __version__
from kontor.cli.context import AsJson, say, use_services
from kontor.cli.dora.components import list_components
from kontor.cli.dora.incidents import incident
from kontor.cli.dora.outside_services import describe_hosts, find_services
from kontor.cli.output import show_json, show_rows
from kontor.config import read_settings
from kontor.domain.egress import KEPT_DAYS
from kontor.domain.errors import InvalidError
from kontor.services.bundle import Services
from kontor.wire.dora.registers import (
    Bank,
    RegisterFacts,
    SoftwareComponent,
    count_open_cells,
    fill_templates,
    show_register,
    write_files,
)
from kontor.wire.dora.templates import TEMPLATES

dora = App(name="dora", help="Register of information and incidents (DORA): drafts for the operator.")
dora.command(incident)

DISCLAIMER = "The register is a draft, and no legal advice: cells with [operator] are yours. Nothing is sent."


@dora.command(name="register")
def write_register(
    *,
    output: Annotated[Path | None, Parameter(help="Folder for the files; it is made where it is missing.")] = None,
    days: Annotated[int, Parameter(help="Days of the ledger of connections, today included, in UTC.")] = 365,
    as_json: AsJson = False,
) -> None:
    """Draft the register of information: templates, hosts, banks and software components."""
    if not 1 <= days <= KEPT_DAYS:
        raise InvalidError(f"--days must be 1 to {KEPT_DAYS}")
    facts = use_services(lambda services: collect_facts(services, days))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in write_files(facts).items():
            (output / name).write_text(text, encoding="utf-8", newline="")
        say(f"Written to {output}.")
    if as_json:
        show_json(show_register(facts))
    else:
        filled = fill_templates(facts)
        rows = [
            (template.code, template.name, len(filled[template.code]), count_open_cells(filled[template.code]))
            for template in TEMPLATES
        ]
        show_rows(("template", "name", "rows", "cells to fill"), rows, as_json=False, keys=())
    say(DISCLAIMER)


async def collect_facts(services: Services, days: int) -> RegisterFacts:
    """Nothing about customers but how many accesses there are to each bank."""
    now = datetime.now(UTC)
    since, until = now.date() - timedelta(days=days - 1), now.date()
    counted = await services.ops.egress.list_hosts(since, until)
    database = SoftwareComponent("runtime", "PostgreSQL", await services.ops.read_server_version(), "", "")
    components = [
        SoftwareComponent(**{name: value or "" for name, value in asdict(component).items()})
        for component in list_components()
    ]
    return RegisterFacts(
        at=now,
        version=__version__,
        since=since,
        until=until,
        services=tuple(find_services(read_settings(), counted)),
        hosts=tuple(describe_hosts(counted)),
        banks=tuple(await _list_banks(services)),
        components=(*components, database),
    )


async def _list_banks(services: Services) -> list[Bank]:
    banks = []
    for provider_id, accesses in (await services.ops.count_accesses_by_provider()).items():
        provider = services.providers.find(provider_id)
        known = (provider.name, provider.bank_code or "", provider.bic or "") if provider else ("", "", "")
        banks.append(Bank(str(provider_id), *known, accesses))
    return sorted(banks, key=lambda bank: (bank.name, bank.providerId))

"""The audit trail: reading it, and proving that it is whole."""

from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_rows
from kontor.domain.audit import SYSTEM_CHAIN, ChainedEntry
from kontor.services.bundle import Services
from kontor.services.security import read_chain, verify_chains

audit = App(name="audit", help="The audit trail.")


@audit.command(name="list")
def list_entries(
    tenant: Annotated[str | None, Parameter(help="The tenant; without it, the system's own trail.")] = None,
    *,
    after: Annotated[int, Parameter(help="Only entries after this serial.")] = 0,
    limit: Annotated[int, Parameter(help="At most this many.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the entries of a trail."""

    async def read(services: Services) -> list[ChainedEntry]:
        chain = SYSTEM_CHAIN
        if tenant is not None:
            chain = (await services.tenant_administration.find_tenant(tenant)).id
        return await read_chain(services.database, chain, after, limit)

    rows = [
        (
            chained_entry.serial,
            f"{chained_entry.at:%Y-%m-%d %H:%M:%S}Z",
            chained_entry.entry.actor,
            chained_entry.entry.action,
            chained_entry.entry.object,
            chained_entry.entry.result,
            chained_entry.entry.correlation_id,
        )
        for chained_entry in use_services(read)
    ]
    names = ("serial", "at", "actor", "action", "object", "result", "correlation")
    show_rows(names, rows, as_json=as_json, keys=names)


@audit.command(name="verify")
def verify(*, as_json: AsJson = False) -> int:
    """Check every hash chain. Exit code 1 when one is broken."""
    findings = use_services(lambda services: verify_chains(services.database))
    rows = [(str(chain), problem or "whole") for chain, problem in findings.items()]
    show_rows(("chain", "finding"), rows, as_json=as_json, keys=("chain", "finding"))
    broken = sum(problem is not None for problem in findings.values())
    say(f"{broken} of {len(findings)} chains are broken." if broken else "All chains are whole.")
    return 1 if broken else 0

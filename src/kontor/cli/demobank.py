"""`kontor demobank`: the demo bank on the wire, for those who build or test banking clients."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from kontor.cli.demo import Stopping, StopRequested
from kontor.cli.output import say
from kontor.cli.processes import refuse_used_port
from kontor.config import Settings, read_settings

if TYPE_CHECKING:
    from kontor.demobank.certificates import Certificates

TLS_FOLDER = "demobank"


def demobank(
    *,
    fints_port: Annotated[int, Parameter(help="Port of the FinTS server.")] = 8443,
    xs2a_port: Annotated[int, Parameter(help="Port of the XS2A server (plain HTTP).")] = 8480,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    data: Annotated[Path | None, Parameter(help="Folder of the bank's books and certificates.")] = None,
    today: Annotated[date | None, Parameter(help="Run at another date.", show_default=False)] = None,
    page_rows: Annotated[int, Parameter(help="Bookings in one FinTS message, before clients must ask on.")] = 500,
    maintenance: Annotated[
        bool, Parameter(negative="", help="Answer that the bank is closed for maintenance.")
    ] = False,
) -> int:
    """Serve the demo bank to banking clients: FinTS 3.0 with PIN/TAN, and Berlin Group XS2A 1.3. Ctrl-C stops it."""
    from kontor.bootstrap import migrate_database, with_database
    from kontor.demobank.certificates import ensure_certificates

    settings = read_settings(data=data, today=today, demo=True)
    settings = replace(settings, data=settings.data.resolve())
    stopping = Stopping()
    refuse_used_port(host, fints_port)
    refuse_used_port(host, xs2a_port)
    try:
        with with_database(settings) as ready:
            migrate_database(ready)
            files = ensure_certificates(settings.data / TLS_FOLDER, host)
            options = (page_rows, maintenance)
            with (
                serving_fints(ready, host, fints_port, files, *options) as fints_address,
                serving_xs2a(ready, host, xs2a_port) as xs2a_address,
            ):
                _show_welcome(fints_address, xs2a_address, files.authority)
                while True:
                    stopping.check()
                    time.sleep(0.1)
    except StopRequested:
        say("Stopped")
    return 0


@contextmanager
def serving_fints(
    settings: Settings, host: str, port: int, files: "Certificates", page_rows: int, is_under_maintenance: bool
) -> Iterator[str]:
    """Yields the address."""
    from kontor.demobank.fints import FintsBank, FintsOptions, FintsServer
    from kontor.services.runtime import Clock
    from kontor.storage.demo_bank import DemoBankMemory

    assert settings.database_url is not None
    bank = DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm")
    server = FintsServer(host, port, files.certificate, files.key)
    options = FintsOptions(
        address=f"{_name_host(host)}:{server.port}/fints",
        page_rows=page_rows,
        slow_seconds=settings.demo_slow_seconds,
        is_under_maintenance=is_under_maintenance,
    )
    server.start(FintsBank(bank, options, Clock(settings.today).now))
    try:
        yield f"https://{options.address}"
    finally:
        server.stop()


@contextmanager
def serving_xs2a(settings: Settings, host: str, port: int) -> Iterator[str]:
    """Yields the address. The bank's own page is served there too."""
    from kontor.demobank.xs2a import Desk, make_xs2a_app
    from kontor.demobank.xs2a.pages import make_pages
    from kontor.demobank.xs2a.serving import AppServer
    from kontor.services.runtime import Clock
    from kontor.storage.demo_bank_pages import DemoBankPages

    assert settings.database_url is not None
    address = f"http://{_name_host(host)}:{port}"
    bank = DemoBankPages(settings.database_url, f"{address}/demobank/confirm")
    desk = Desk(bank, slow_seconds=settings.demo_slow_seconds, read_time=Clock(settings.today).now)
    server = AppServer(host, port, make_xs2a_app(desk, pages=make_pages(bank)))
    server.start()
    try:
        yield address
    finally:
        server.stop()


def _name_host(host: str) -> str:
    """What clients on this machine call it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 (compared, not bound)
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _show_welcome(fints_address: str, xs2a_address: str, authority: Path) -> None:
    say("[bold]The demo bank is open[/bold]\n", is_styled=True)
    say(f"  FinTS 3.0           {fints_address}   bank code 99999999")
    say(f"  XS2A 1.3            {xs2a_address}/v1")
    say(f"  CA certificate      {authority}")
    say("  Logins              demo1, student, familie, …; test_sca_method, test_decoupled, test_phototan, …")
    say("  PIN                 demo\n")
    say("What each login does: docs/guides/demo-bank.md")
    say("[dim]Ctrl-C stops the bank.[/dim]", is_styled=True)

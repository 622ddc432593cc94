"""`kontor demobank`: the demo bank on the wire, for those who build or test banking clients."""

import time
from collections.abc import Iterator, Sequence
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
from kontor.domain.errors import InvalidError

if TYPE_CHECKING:
    from kontor.demobank.certificates import Certificates
    from kontor.demobank.faults import FaultPlan

TLS_FOLDER = "demobank"
REDIRECT_HELP = "Where that service may send customers back to; repeatable."
APPLICATION_FOLDER = "demobank-application"
RETURN_PATHS = ("/customer/v2/webform/return", "/console/connect/back")


def demobank(
    *,
    fints_port: Annotated[int, Parameter(help="Port of the FinTS server.")] = 8443,
    xs2a_port: Annotated[int, Parameter(help="Port of the XS2A server (plain HTTP).")] = 8480,
    enable_banking_port: Annotated[int, Parameter(help="Port of a service such as Enable Banking.")] = 8482,
    redirect_url: Annotated[list[str] | None, Parameter(negative="", help=REDIRECT_HELP, show_default=False)] = None,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    data: Annotated[Path | None, Parameter(help="Folder of the bank's books and certificates.")] = None,
    today: Annotated[date | None, Parameter(help="Run at another date.", show_default=False)] = None,
    page_rows: Annotated[int, Parameter(help="Bookings in one FinTS message, before clients must ask on.")] = 500,
    maintenance: Annotated[
        bool, Parameter(negative="", help="Answer that the bank is closed for maintenance.")
    ] = False,
    mode: Annotated[
        list[str] | None,
        Parameter(negative="", help="Behaviour of real banks to adopt over FinTS, such as payees-later; repeatable."),
    ] = None,
    xs2a_mode: Annotated[
        list[str] | None,
        Parameter(negative="", help="Problem of real banks to have over XS2A, such as order-held; repeatable."),
    ] = None,
    dialect: Annotated[
        str | None, Parameter(help="Bank family to imitate over XS2A, such as sparkasse.", show_default=False)
    ] = None,
    fault_seed: Annotated[
        int | None, Parameter(help="Misbehave as real banks do; the seed decides how.", show_default=False)
    ] = None,
    faults: Annotated[
        str | None, Parameter(help="Misbehave in these ways only: names with commas between them.", show_default=False)
    ] = None,
) -> int:
    """Serve the demo bank to banking clients: by FinTS 3.0, by XS2A 1.3, and as Enable Banking. Ctrl-C stops it."""
    from kontor.bootstrap import migrate_database, with_database
    from kontor.demobank.certificates import ensure_certificates

    settings = read_settings(data=data, today=today, demo=True)
    settings = replace(settings, data=settings.data.resolve())
    stopping = Stopping()
    plan = _plan_faults(fault_seed, faults)
    refuse_used_port(host, fints_port)
    refuse_used_port(host, xs2a_port)
    refuse_used_port(host, enable_banking_port)
    try:
        with with_database(settings) as ready:
            migrate_database(ready)
            files = ensure_certificates(settings.data / TLS_FOLDER, host)
            options = (page_rows, maintenance, mode or [], plan)
            with (
                serving_fints(ready, host, fints_port, files, *options) as fints_address,
                serving_xs2a(ready, host, xs2a_port, plan, dialect, xs2a_mode or []) as xs2a_address,
                serving_enablebanking(ready, host, enable_banking_port, redirect_url or []) as (service, key_file),
            ):
                _show_welcome(fints_address, xs2a_address, files.authority, plan, dialect)
                _show_service(service, key_file)
                while True:
                    stopping.check()
                    time.sleep(0.1)
    except StopRequested:
        say("Stopped")
    return 0


@contextmanager
def serving_fints(
    settings: Settings,
    host: str,
    port: int,
    files: "Certificates",
    page_rows: int,
    is_under_maintenance: bool,
    modes: list[str],
    plan: "FaultPlan | None" = None,
) -> Iterator[str]:
    """Yields the address."""
    from kontor.demobank.faults import FaultInjector
    from kontor.demobank.fints import FintsBank, FintsOptions, FintsServer
    from kontor.demobank.fints.modes import MODES, Mode
    from kontor.services.runtime import Clock
    from kontor.storage.demo_bank import DemoBankMemory

    if unknown := [name for name in modes if name not in MODES]:
        raise InvalidError(f"{', '.join(unknown)} is unknown; there are {', '.join(MODES)}", "--mode")
    assert settings.database_url is not None
    pages = f"{settings.base_url}/demobank/confirm"
    bank = DemoBankMemory(settings.database_url, pages, pays_twice=_pays_twice(plan))
    server = FintsServer(host, port, files.certificate, files.key)
    options = FintsOptions(
        address=f"{_name_host(host)}:{server.port}/fints",
        page_rows=page_rows,
        slow_seconds=settings.demo_slow_seconds,
        is_under_maintenance=is_under_maintenance,
        modes=frozenset(map(Mode, modes)),
        faults=None if plan is None else FaultInjector(plan),
    )
    server.start(FintsBank(bank, options, Clock(settings.today).now))
    try:
        yield f"https://{options.address}"
    finally:
        server.stop()


@contextmanager
def serving_xs2a(
    settings: Settings,
    host: str,
    port: int,
    plan: "FaultPlan | None" = None,
    dialect: str | None = None,
    modes: Sequence[str] = (),
) -> Iterator[str]:
    """Yields the address. The bank's own page is served there too."""
    from kontor.demobank.faults import FaultInjector
    from kontor.demobank.xs2a import DemoAspsp, make_xs2a_app
    from kontor.demobank.xs2a.dialects import DIALECTS, STANDARD
    from kontor.demobank.xs2a.modes import XS2A_MODES, Xs2aMode
    from kontor.demobank.xs2a.pages import make_pages
    from kontor.demobank.xs2a.serving import AppServer
    from kontor.services.runtime import Clock
    from kontor.storage.demo_bank_pages import DemoBankPages

    if dialect is not None and dialect not in DIALECTS:
        raise InvalidError(f"{dialect} is unknown; there are {', '.join(DIALECTS)}", "--dialect")
    if unknown := [name for name in modes if name not in XS2A_MODES]:
        raise InvalidError(f"{', '.join(unknown)} is unknown; there are {', '.join(XS2A_MODES)}", "--xs2a-mode")
    assert settings.database_url is not None
    address = f"http://{_name_host(host)}:{port}"
    bank = DemoBankPages(settings.database_url, f"{address}/demobank/confirm", pays_twice=_pays_twice(plan))
    aspsp = DemoAspsp(
        bank,
        slow_seconds=settings.demo_slow_seconds,
        read_time=Clock(settings.today).now,
        modes=frozenset(map(Xs2aMode, modes)),
    )
    faults = None if plan is None else FaultInjector(plan)
    spoken = STANDARD if dialect is None else DIALECTS[dialect]
    server = AppServer(host, port, make_xs2a_app(aspsp, pages=make_pages(bank), faults=faults, dialect=spoken))
    server.start()
    try:
        yield address
    finally:
        server.stop()


@contextmanager
def serving_enablebanking(
    settings: Settings, host: str, port: int, redirect_urls: Sequence[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Yields the address, and the file with the key of the one application that may call it."""
    from kontor.demobank.enablebanking import DemoService, make_application, make_enablebanking_app
    from kontor.demobank.xs2a import DemoAspsp
    from kontor.demobank.xs2a.serving import AppServer
    from kontor.services.runtime import Clock
    from kontor.storage.demo_bank_pages import DemoBankPages

    assert settings.database_url is not None
    usual = [f"{settings.base_url}{path}" for path in RETURN_PATHS]
    application, key_file = make_application(settings.data / APPLICATION_FOLDER, tuple(redirect_urls or usual))
    address = f"http://{_name_host(host)}:{port}"
    bank = DemoBankPages(settings.database_url, f"{address}/demobank/confirm")
    aspsp = DemoAspsp(bank, slow_seconds=settings.demo_slow_seconds, read_time=Clock(settings.today).now)
    server = AppServer(host, port, make_enablebanking_app(DemoService(aspsp, application)))
    server.start()
    try:
        yield address, key_file
    finally:
        server.stop()


def _plan_faults(seed: int | None, names: str | None) -> "FaultPlan | None":
    """Named faults all occur; of the others the seed chooses some. It also decides where they occur."""
    from kontor.demobank.faults import FaultPlan, draw_plan, read_faults

    if names is None:
        return None if seed is None else draw_plan(seed)
    try:
        return FaultPlan(seed or 0, read_faults(names))
    except ValueError as error:
        raise InvalidError(str(error), "--faults") from None


def _pays_twice(plan: "FaultPlan | None") -> bool:
    from kontor.demobank.faults import Fault

    return plan is not None and Fault.PAYS_TWICE in plan.faults


def _name_host(host: str) -> str:
    """What clients on this machine call it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 (compared, not bound)
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _show_welcome(
    fints_address: str, xs2a_address: str, authority: Path, plan: "FaultPlan | None", dialect: str | None
) -> None:
    say("[bold]The demo bank is open[/bold]\n", is_styled=True)
    say(f"  FinTS 3.0           {fints_address}   bank code 99999999")
    spoken = "" if dialect is None else f"   dialect {dialect}"
    say(f"  XS2A 1.3            {xs2a_address}/v1{spoken}")
    say(f"  CA certificate      {authority}")
    say("  Logins              demo1, student, familie, …; test_sca_method, test_decoupled, test_phototan, …")
    say("  PIN                 demo\n")
    if plan is not None:
        say(f"  Faults, seed {plan.seed:<6} {', '.join(plan.faults)}\n")


def _show_service(address: str, key_file: Path) -> None:
    say("As Enable Banking")
    say(f"  KONTOR_ENABLE_BANKING_URL          {address}")
    say(f"  KONTOR_ENABLE_BANKING_APPLICATION  {key_file.stem}")
    say(f"  KONTOR_ENABLE_BANKING_KEY          {key_file}\n")
    say("What each login does: docs/guides/demo-bank.md")
    say("[dim]Ctrl-C stops the bank.[/dim]", is_styled=True)

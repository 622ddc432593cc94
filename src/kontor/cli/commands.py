"""All commands of `kontor`, and how errors leave the program."""

import signal
import sys
from typing import Any

from cyclopts import App, CycloptsError
from rich.text import Text

from kontor import __version__
from kontor.cli.installations import adopt_installation
from kontor.cli.output import errors, print_error, say
from kontor.config import SettingError, find_unknown_variables
from kontor.domain.errors import InvalidError, KontorError

OK, REFUSED, USAGE, INTERRUPTED = 0, 1, 2, 130

HELP = frozenset({"--help", "-h", "--version"})
REFUSING = ("serve", "worker", "demo", "check")  # they refuse or report unknown variables themselves

COMMANDS = {
    "demo": ("kontor.cli.demo:demo", "Start everything, with two tenants to try. Ctrl-C stops it all."),
    "demobank": ("kontor.cli.demobank:demobank", "Serve the demo bank to banking clients. Ctrl-C stops it."),
    "serve": ("kontor.cli.processes:serve", "Serve the API. The database must have been migrated."),
    "worker": ("kontor.cli.processes:worker", "Run a worker: background refresh, webhooks, housekeeping."),
    "migrate": ("kontor.cli.processes:migrate", "Bring the database to this version. Safe to repeat."),
    "distribute": ("kontor.cli.distributing:distribute", "Distribute tables over the nodes of a Citus cluster."),
    "check": ("kontor.cli.checking:check", "Try settings, files, addresses and the database; say what is wrong."),
    "settings": ("kontor.cli.processes:settings", "List every setting with its default."),
    "openapi": ("kontor.cli.processes:openapi", "Print the OpenAPI document."),
    "tenant": ("kontor.cli.administration:tenant", "Tenants: who uses this Kontor."),
    "client": ("kontor.cli.clients:client", "Clients of a tenant: programs that obtain tokens."),
    "role": ("kontor.cli.administration:role", "Roles of a client: the scopes its users get."),
    "user": ("kontor.cli.administration:user", "Users of a tenant."),
    "api-key": ("kontor.cli.administration:api_key", "API keys: a classic token without a password."),
    "bank": ("kontor.cli.banks:bank", "Bank profiles: addresses, dialects and quirks."),
    "key": ("kontor.cli.keys:key", "Keys of tenants, and the master key."),
    "mcp": ("kontor.cli.assistants:mcp", "Serve an assistant (MCP) over standard input and output."),
    "analyse": ("kontor.cli.analysing:analyse", "Analyse statement files; writes an HTML report. Needs no server."),
    "evaluate": ("kontor.cli.evaluation:evaluate", "Score the tagger on labelled transactions."),
    "explain": ("kontor.cli.evaluation:explain", "Show what a transaction is taken for, and why."),
    "import": ("kontor.cli.imports:import_statements", "Import statement files of a bank into a user's accounts."),
    "export": ("kontor.cli.exports:export", "Write what a user has into a file: JSON, CSV, bookkeeping."),
    "sync": ("kontor.cli.syncing:sync", "Keep a program for personal finance up to date: Actual Budget, Firefly III."),
    "export-case": ("kontor.cli.cases:export_case", "Print a user's data as an anonymised golden case."),
    "trace": ("kontor.cli.traces:trace", "Record a dialogue with a bank, masked, in a form that tests replay."),
    "model": ("kontor.cli.own_models:model", "The own model that is asked about unknown merchants."),
    "retag": ("kontor.cli.retagging:retag", "Tag everybody's transactions anew, after the tagger has changed."),
    "refresh": ("kontor.cli.refreshing:refresh", "Background refresh: what is due, running, late, failing, paused."),
    "operator": ("kontor.cli.operators:operator", "Operators: tokens that see the state of every tenant."),
    "backup": ("kontor.cli.backups:backup", "Back up the database, with PostgreSQL's pg_dump, while processes run."),
    "restore": ("kontor.cli.backups:restore", "Restore a backup into an empty database, and erase again."),
    "erasures": ("kontor.cli.erasures:erasures", "Erase again what a restored backup has brought back."),
    "egress": ("kontor.cli.egress:egress", "Connections to other hosts: what for, how often, how many bytes."),
    "dora": ("kontor.cli.dora.commands:dora", "Register of information and incidents (DORA): drafts for the operator."),
    "audit": ("kontor.cli.audit:audit", "The audit trail: read it, prove that it is whole."),
}


def make_app() -> App:
    """Each noun has its own file, loaded when it is called: `kontor serve` does not wait for what it does not use."""
    app = App(
        name="kontor",
        version=__version__,
        help="Kontor connects bank accounts, pays, and understands what transactions mean.",
        help_epilogue="Settings are environment variables, see `kontor settings`. Exit: 0 done, 1 refused, 2 usage.",
        error_console=errors,
        error_formatter=lambda error: Text(f"{error} Try --help."),
    )
    for name, (place, summary) in COMMANDS.items():
        app.command(place, name=name, help=summary)
    return app


def run(arguments: list[str]) -> int:
    # Like Ctrl-C, a polite request to end must reach the `finally` that stops an embedded database.
    signal.signal(signal.SIGTERM, _end)
    app = make_app()
    try:
        if arguments and arguments[0] in COMMANDS and not HELP.intersection(arguments):
            adopt_installation(arguments[0])
    except SettingError as error:
        print_error(str(error))
        return REFUSED
    if not arguments or arguments[0] not in REFUSING:
        for warning in find_unknown_variables():
            say(f"Warning: {warning}")
    try:
        result: Any = app(arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return USAGE  # cyclopts has explained it
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        reason = explain(error)
        if reason is None:
            raise
        print_error(reason)
        return REFUSED
    return result if isinstance(result, int) else OK


def explain(error: Exception) -> str | None:
    """What an expected error means to the person at the keyboard; None for a defect."""
    from psycopg import Error, OperationalError, ProgrammingError
    from psycopg.errors import InsufficientPrivilege

    from kontor.cli.syncs.entries import LedgerError
    from kontor.connectors.aspsps import SetupError
    from kontor.connectors.profiles import ProfileError
    from kontor.storage.backups import BackupError
    from kontor.storage.database import UnsafeDatabaseError
    from kontor.storage.embedded_host import EmbeddedError
    from kontor.storage.keys import KeyUnusableError
    from kontor.storage.migrate import MigrationError
    from kontor.storage.postgres_programs import ProgramError
    from kontor_client import KontorClientError

    match error:
        case InvalidError():
            return f"{error}."
        case KontorError() | SettingError() | ProfileError() | SetupError() | EmbeddedError() | KeyUnusableError():
            return str(error)
        case LedgerError():
            return str(error)
        case KontorClientError():
            return f"Kontor says: {error}"
        case MigrationError() | UnsafeDatabaseError() | BackupError() | ProgramError():
            return str(error)
        case InsufficientPrivilege():
            return f"This database role may not do that ({_first_line(error)}); set KONTOR_MIGRATION_DATABASE_URL."
        case OperationalError():
            return f"The database cannot be reached: {_first_line(error)}"
        case ProgrammingError() if error.sqlstate is None:
            return f"KONTOR_DATABASE_URL cannot be understood: {_first_line(error)}"
        case Error():
            return None
        case OSError():
            place = f" ({error.filename})" if error.filename else ""
            return f"The system says: {error.strerror or error}{place}."
    return None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _end(*_: object) -> None:
    sys.exit(128 + signal.SIGTERM)

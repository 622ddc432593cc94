"""All commands of `kontor`, and how errors leave the program."""

from typing import Any

from cyclopts import App, CycloptsError
from psycopg import OperationalError

from kontor import __version__
from kontor.cli.output import errors
from kontor.config import SettingError
from kontor.domain.errors import KontorError
from kontor.storage.database import UnsafeDatabaseError
from kontor.storage.embedded import EmbeddedError
from kontor.storage.keys import KeyUnusableError
from kontor.storage.migrate import MigrationError

OK, REFUSED, USAGE = 0, 1, 2
EXPECTED = (SettingError, KontorError, EmbeddedError, KeyUnusableError, MigrationError, UnsafeDatabaseError)


def make_app() -> App:
    """Each noun has its own file; they are loaded here, so that `kontor --help` knows all of them."""
    from kontor.cli import administration, audit, demo, keys, processes

    app = App(
        name="kontor",
        version=__version__,
        help="Kontor connects bank accounts, pays, and understands what transactions mean.",
        help_epilogue="Settings are environment variables, see `kontor settings`. Exit: 0 done, 1 refused, 2 usage.",
    )
    processes.add_commands(app)
    demo.add_commands(app)
    administration.add_commands(app)
    keys.add_commands(app)
    audit.add_commands(app)
    return app


def run(arguments: list[str]) -> int:
    app = make_app()
    try:
        result: Any = app(arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return USAGE  # cyclopts has explained it
    except EXPECTED as error:
        errors.print(f"[red]Refused:[/red] {error}")
        return REFUSED
    except OperationalError as error:
        errors.print(f"[red]The database cannot be reached:[/red] {str(error).splitlines()[0]}")
        return REFUSED
    except KeyboardInterrupt:
        return 130
    return result if isinstance(result, int) else OK

"""The command line."""

import sys


def main() -> None:
    """Run a command. A user's mistake is one sentence on standard error, never a stack trace."""
    try:
        from kontor.cli.commands import run

        status = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in ("kontor", "kontor_client"):
            raise
        sys.stderr.write(
            f"This command needs the package {error.name}, which is not installed. Install kontor[server], or"
            " kontor[files] for `kontor analyse` alone.\n"
        )
        status = 1
    sys.exit(status)

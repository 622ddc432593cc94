"""The command line."""

import sys


def main() -> None:
    """Run a command. A user's mistake is one sentence on standard error, never a stack trace."""
    from kontor.cli.commands import run

    sys.exit(run(sys.argv[1:]))

"""Serves the limit as `kontor serve` serves Kontor: `python -m benchmarks.limit <port>`.

Kontor's own function starts the server, so that every option is the same; only the application is another.
"""

import sys
from typing import Any

import granian.server

from kontor.cli.processes import run_server
from kontor.config import read_settings


class LimitServer(granian.server.Server):
    def __init__(self, target: str, **options: Any) -> None:
        super().__init__("benchmarks.limit.app:create_app", **options)


if __name__ == "__main__":
    granian.server.Server = LimitServer
    run_server(read_settings(), "127.0.0.1", int(sys.argv[1]), workers=1)

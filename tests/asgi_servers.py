"""An ASGI application on a real socket, in a thread of the test's own process."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kontor.demobank.xs2a.serving import AppServer
from processes import free_port


@contextmanager
def serve_app(app: Any, **tls: Any) -> Iterator[str]:
    """Yields the base address."""
    port = free_port()
    server = AppServer("127.0.0.1", port, app, **tls)
    server.start()
    try:
        _wait(port)
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        server.stop()


def _wait(port: int) -> None:
    for _ in range(1500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the server does not start")

"""An ASGI application on a socket, in a thread of this process."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from granian.constants import Interfaces
from granian.server.embed import Server

from kontor.demobank.xs2a.asgi import AsgiApp


class AppServer:
    """`tls` may hold `ssl_cert`, `ssl_key` and what else the server knows of TLS."""

    def __init__(self, host: str, port: int, app: AsgiApp, **tls: Any) -> None:
        self._address = (host, port)
        self._make: Callable[[], Any] = lambda: Server(
            app, host, port, interface=Interfaces.ASGI, log_enabled=False, **tls
        )
        self._loop = asyncio.new_event_loop()
        self._server: Any = None
        self._is_made = threading.Event()
        self._thread = threading.Thread(target=self._run, name="xs2a server", daemon=True)

    def start(self) -> None:
        """Returns when it accepts connections."""
        self._thread.start()
        self._is_made.wait()
        while self._thread.is_alive():
            with suppress(OSError), socket.create_connection(self._address, timeout=1):
                return
            time.sleep(0.01)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = self._make()
        self._is_made.set()
        self._loop.run_until_complete(self._server.serve())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

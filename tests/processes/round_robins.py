"""One address for several servers: connections are handed to them in turn, as a load balancer does."""

import itertools
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress


class RoundRobin:
    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()

    def start(self, ports: Sequence[int]) -> None:
        threading.Thread(target=self._accept, args=[itertools.cycle(ports)], daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            _cut(connection)

    def _accept(self, ports: "itertools.cycle[int]") -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", next(ports)), timeout=5)
            except OSError:
                caller.close()
                continue
            server.settimeout(None)
            for source, target in ((caller, server), (server, caller)):
                self._open.add(source)
                threading.Thread(target=self._pump, args=[source, target], daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        _cut(target)
        self._open.discard(source)
        source.close()


def _cut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)

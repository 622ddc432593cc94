"""A server that only sends a ready answer of the same length, to see what the generator can do.

`python -m benchmarks.ceiling <port>`
"""

import asyncio
import os
import sys

import uvloop

BODY = b"x" * int(os.environ["BENCH_BODY_BYTES"])
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Whoever asks sends one whole request at a time, which fits into one packet."""
        self.transport.write(ANSWER)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))

"""Serves the conventional reference with Uvicorn: `python -m benchmarks.conventional <port>`."""

import sys

import uvicorn

uvicorn.run(
    "benchmarks.conventional.app:create_app",
    factory=True,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    workers=1,
    # Tuned: the fastest event loop and parser that Uvicorn has.
    loop="uvloop",
    http="httptools",
    ws="none",
    lifespan="on",
    # Tuned: nothing is logged, while Kontor writes a line for each request; no proxy headers are looked for.
    access_log=False,
    log_level="warning",
    proxy_headers=False,
    backlog=2048,
)

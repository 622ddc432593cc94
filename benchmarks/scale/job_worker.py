"""A worker that notes when each job starts: `python -m benchmarks.scale.job_worker <kind> <count>`.

After so many jobs it prints their ids and times as JSON. Kinds: the library alone on psycopg or on asyncpg, as its
manual has it, with a job that does nothing; Kontor's worker with such a job; Kontor's worker as it is, whose job finds
that its fetch is gone.
"""

import asyncio
import json
import logging
import os
import sys
import time
from uuid import UUID

from pgqueuer import AsyncpgDriver, Job, PgQueuer, PsycopgDriver

from kontor.config import Settings, read_settings
from kontor.jobs import worker
from kontor.jobs.concurrency import ConcurrencyLimit
from kontor.jobs.tasks import register_jobs
from kontor.logs import configure_logs
from kontor.services.bundle import Services
from kontor.services.fetching.fetching import Outcome
from kontor.storage.queue import FETCH

BARE_PSYCOPG, BARE_ASYNCPG, PLAIN, WHOLE = "bare-psycopg", "bare-asyncpg", "plain", "whole"


class Notes:
    def __init__(self, count: int) -> None:
        self._count = count
        self._found: list[tuple[bytes, float]] = []

    def note(self, payload: bytes) -> None:
        self._found.append((payload, time.time()))
        if len(self._found) == self._count:
            starts = {str(UUID(bytes=payload)): at for payload, at in self._found}
            print(json.dumps({"starts": starts, "cpu": time.process_time()}), flush=True)


def register_nothing(queuer: PgQueuer, notes: Notes) -> None:
    @queuer.entrypoint(FETCH)
    async def fetch(job: Job) -> None:
        assert job.payload is not None
        notes.note(job.payload)


async def run_bare(kind: str, settings: Settings, notes: Notes) -> None:
    assert settings.database_url is not None
    url = settings.database_url.reveal()
    if kind == BARE_ASYNCPG:
        import asyncpg
        from psycopg.conninfo import conninfo_to_dict

        facts = conninfo_to_dict(url)
        facts["database"] = facts.pop("dbname")
        queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(**facts)))
    else:
        import psycopg

        queuer = PgQueuer(PsycopgDriver(await psycopg.AsyncConnection.connect(url, autocommit=True)))
    register_nothing(queuer, notes)
    print("ready", flush=True)
    await queuer.run()


def run_ours(kind: str, settings: Settings, notes: Notes) -> None:
    from kontor.bootstrap import run_worker

    def register(queuer: PgQueuer, services: Services) -> dict[str, ConcurrencyLimit]:
        warming.append(asyncio.create_task(announce(services)))
        if kind == PLAIN:
            register_nothing(queuer, notes)
            return {}
        count_fetches(services, notes)
        return register_jobs(queuer, services)

    warming: list[asyncio.Task[None]] = []
    worker.register_jobs = register
    run_worker(settings)


async def announce(services: Services) -> None:
    """The worker starts its compute processes first; that is no part of what is measured."""
    try:
        await services.compute.warm_up()
    except Exception:
        logging.exception("The worker could not be prepared")
        os._exit(1)
    print("ready", flush=True)


def count_fetches(services: Services, notes: Notes) -> None:
    run = services.fetching.run

    async def run_counted(fetch_id: UUID) -> Outcome:
        notes.note(fetch_id.bytes)
        return await run(fetch_id)

    services.fetching.run = run_counted


def main(kind: str, count: int) -> None:
    settings = read_settings()
    configure_logs("warning", "json")
    notes = Notes(count)
    if kind.startswith("bare"):
        asyncio.run(run_bare(kind, settings, notes))
    else:
        run_ours(kind, settings, notes)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

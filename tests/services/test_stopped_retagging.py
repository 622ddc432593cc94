"""Tagging anew is cut off again and again, at any moment: no tag is lost or wrong, and it ends where it should.

A process is ended by a signal that it does not handle, while it retags. It is forked from one that has loaded the
tagger before: loading takes longer than everything else.
"""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from test_retagging import KNOWN, OLD, ROWS, owner, services, user  # noqa: F401 (fixtures)

from kontor.config import export_settings
from process_tree import clean_environment
from processes import beside

STOPS = [5, pytest.param(100, marks=pytest.mark.long)]
DRIVER = """
import asyncio, json, os, random, signal, sys
import psycopg
from uuid import UUID
from kontor import bootstrap
from kontor.config import read_settings
from kontor.services.analyses import tagging

user_id, stops, owner_url, reset = UUID(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
tagging.RETAG_ROWS = 1
settings = read_settings()
moments = random.Random(stops)

async def retag(seconds):
    async with bootstrap.open_services(settings, "kontor tests, retagging") as services:
        await services.transaction_tagging.count_users()
        services.transaction_tagging.version  # loads nothing more afterwards
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        while await services.transaction_tagging.retag_step(user_id):
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)

def run(seconds):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, which learns nothing of it
        asyncio.run(retag(seconds))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

asyncio.run(retag(None))  # loads the tagger
stopped = tried = 0
longest = 0.2
with psycopg.connect(owner_url, autocommit=True) as connection:
    while stopped < stops and tried < 20 * stops:
        tried += 1
        code = run(moments.uniform(0.0005, longest))
        rows = connection.execute(
            "select count(*), count(*) filter (where tagger_version <> %s) from transaction_tags where user_id = %s",
            [reset, user_id],
        ).fetchone()
        if code == 0:
            longest *= 0.8
            connection.execute("update transaction_tags set tagger_version = %s, category = case when source = 'TAGGER'"
                               " then 'OTHER_SPENDING' else category end where user_id = %s", [reset, user_id])
            connection.execute("update tagging_states set tagger_version = %s where user_id = %s", [reset, user_id])
        else:
            stopped += 1
        print(json.dumps([code, *rows]), flush=True)
code = run(None)
print(json.dumps([code, 0, 0]), flush=True)
"""


@pytest.fixture(scope="module")
def own(settings):
    with beside(settings) as own:
        yield replace(own, pool_size=2)


@pytest.mark.programs
@pytest.mark.parametrize("stops", STOPS)
async def test_retagging_that_is_cut_off_again_and_again_ends_as_if_it_had_not_been(services, user, own, stops):  # noqa: F811
    user_id = user.principal.user_id
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", DRIVER, str(user_id), str(stops), own.migration_database_url.reveal(), OLD],
        env=clean_environment(**export_settings(own)), capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(code != 0 for code, _, _ in told) == stops
    assert {count for _, count, _ in told[:-1]} == {len(ROWS)}, "no tag was lost in between"
    assert told[-1][0] == 0
    found = user.tags()
    version = services.transaction_tagging.version
    for name, category in KNOWN.items():
        assert found[name] == (category, "TAGGER", version)
    assert found["Kiosk"] == ("HEALTH_CONSUMABLES", "USER", version)
    assert found["Verein"] == ("RECREATION_HOBBY", "RULE", version)
    assert user.state() == version

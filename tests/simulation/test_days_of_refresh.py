"""A simulated day of background refresh under faults; `./dev soak` is the long form."""

from datetime import datetime

import pytest
from simulation.running import Plan, simulate

pytestmark = pytest.mark.long

# A day around the end of summer time.
START = datetime.fromisoformat("2026-10-24T12:00:00+02:00")


@pytest.mark.timeout(600)
def test_every_slot_has_one_outcome_and_the_books_agree_whatever_is_killed(tmp_path):
    plan = Plan(START, days=1, accesses=30, factor=1500, kill_minutes=(20, 60), settle_seconds=300)
    outcome = simulate(plan, tmp_path)
    assert outcome.violations == []
    assert outcome.killed > 0
    assert outcome.slots["DONE"] > outcome.plan.accesses
    assert outcome.serials > 0

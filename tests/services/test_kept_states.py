"""What a connector keeps during a dialogue is stored at once, whatever becomes of the dialogue."""

import pytest

from kontor.connectors.base import Failed, FailureKind

LATE = Failed(FailureKind.UNREACHABLE)


@pytest.mark.parametrize("end", [LATE, RuntimeError("a defect")])
async def test_a_kept_state_outlasts_a_fetch_that_fails(refreshing, refresh_bank, end):
    await refreshing.add()
    refresh_bank.keeps, refresh_bank.refusal_at_the_end = {"refresh": "rotated"}, end
    await refreshing.refresh()
    refresh_bank.keeps, refresh_bank.refusal_at_the_end = None, None
    await refreshing.refresh()
    assert refresh_bank.states == [None, {"known": True}, {"refresh": "rotated"}]


async def test_a_kept_state_outlasts_a_dialogue_that_fails_at_its_first_step(refreshing, refresh_bank):
    await refreshing.add()
    refresh_bank.keeps, refresh_bank.refusal = {"refresh": "rotated"}, LATE
    await refreshing.refresh()
    refresh_bank.keeps, refresh_bank.refusal = None, None
    await refreshing.refresh()
    assert refresh_bank.states[-1] == {"refresh": "rotated"}


async def test_a_kept_state_is_sealed_and_the_end_of_a_fetch_replaces_it(refreshing, refresh_bank):
    await refreshing.add()
    refresh_bank.keeps = {"refresh": "rotated"}
    await refreshing.refresh()
    (sealed,) = refreshing.owner.execute("select memory from accesses where id = 'a'").fetchone()
    assert b"rotated" not in bytes(sealed)
    refresh_bank.keeps = None
    await refreshing.refresh()
    assert refresh_bank.states[-1] == {"known": True}


async def test_nothing_is_kept_for_an_access_whose_credentials_are_not_stored(refreshing, refresh_bank):
    refresh_bank.keeps = {"refresh": "rotated"}
    await refreshing.add(is_synced=False)
    (sealed,) = refreshing.owner.execute("select memory from accesses where id = 'a'").fetchone()
    assert sealed is None

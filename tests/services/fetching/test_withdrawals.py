"""Withdrawn permissions while banks are asked: fetches are fenced, the bank is told once, and nobody waits for long."""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from fetch_harness import DATA, Gate, second_worker

from kontor.connectors.base import Failed, FailureKind
from kontor.connectors.revocations import Revoke
from kontor.domain.clocks import BERLIN
from kontor.domain.permissions import PermissionChannel, PermissionStatus
from kontor.services.accesses import revocations
from kontor.services.fetching.writing import FetchWriting

SECRETS = "credentials, memory, lease_key"


async def only(harness):
    [view] = await harness.services.accesses.permissions.list_permissions(harness.principal)
    return view.permission


async def add_by_xs2a(harness):
    """The fake bank is reached as if by XS2A."""
    await harness.add()
    harness.owner.execute("update permissions set channel = 'XS2A' where user_id = %s", [harness.user_id])
    return (await only(harness)).id


def withdraw(harness, permission_id):
    return harness.services.accesses.permissions.withdraw(harness.principal, permission_id)


@pytest.mark.parametrize("moment", ["on_begin", "on_resume"])
async def test_what_a_running_fetch_brings_after_the_withdrawal_is_not_stored_and_none_begins(harness, bank, moment):
    await harness.add()
    permission_id = (await only(harness)).id
    gate = Gate()
    setattr(bank, moment, gate)
    posted = harness.post({"a": await harness.request(pin="new")}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    ended = await withdraw(harness, permission_id)
    assert (ended.ended_as, ended.receipt.erased.products) == (PermissionStatus.WITHDRAWN, 3)
    gate.open.set()
    await running
    await posted
    assert [harness.rows(table) for table in (*DATA, "accesses", "fetches")] == [[]] * 5
    assert harness.owner.execute("select count(*) from pgqueuer where entrypoint = 'fetch'").fetchone() == (0,)


async def test_after_its_last_day_no_fetch_begins_even_before_a_worker_has_ended_it(harness, bank):
    await harness.add()
    yesterday = datetime.now(BERLIN).date() - timedelta(days=1)
    harness.owner.execute("update permissions set usable_until = %s where user_id = %s", [yesterday, harness.user_id])
    bank.calls.clear()
    await harness.refresh()
    assert bank.calls == []
    assert await harness.services.housekeeping.end_permissions() == 1
    assert (await only(harness)).ended_as is PermissionStatus.EXPIRED
    assert await harness.services.housekeeping.end_permissions() == 0


async def test_the_last_day_ends_also_what_is_running(harness, bank):
    await harness.add()
    bank.on_resume = gate = Gate()
    posted = harness.post({"a": await harness.request(pin="new")}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    yesterday = datetime.now(BERLIN).date() - timedelta(days=1)
    harness.owner.execute("update permissions set usable_until = %s where user_id = %s", [yesterday, harness.user_id])
    await harness.services.housekeeping.end_permissions()
    gate.open.set()
    await running
    await posted
    assert [harness.rows(table) for table in DATA] == [[]] * 3


async def test_the_bank_is_told_with_what_was_kept_and_nothing_of_it_is_left(harness, bank):
    permission_id = await add_by_xs2a(harness)
    ended = await withdraw(harness, permission_id)
    assert (ended.channel, ended.receipt.is_bank_told) == (PermissionChannel.XS2A, True)
    assert (bank.calls[-1], bank.jobs[-1], bank.states[-1], bank.pins[-1]) == (
        "revoke", Revoke(), {"known": True}, "demo",
    )  # fmt: skip
    assert harness.rows("permissions", SECRETS) == [(None, None, None)]
    assert await withdraw(harness, permission_id) == ended
    assert bank.calls.count("revoke") == 1


@pytest.mark.parametrize(
    "refusal", [Failed(FailureKind.UNREACHABLE), Failed(FailureKind.REJECTED), RuntimeError("a defect")]
)
async def test_a_bank_that_refuses_changes_nothing_but_the_receipt(harness, bank, refusal):
    bank.refusal_to_end = refusal
    ended = await withdraw(harness, await add_by_xs2a(harness))
    assert ended.receipt.is_bank_told is False
    assert harness.rows("permissions", SECRETS) == [(None, None, None)]
    assert harness.rows("accesses") == []


async def test_a_bank_that_does_not_answer_holds_up_the_withdrawal_for_seconds_only(harness, bank, monkeypatch):
    monkeypatch.setattr(revocations, "REVOCATION_SECONDS", 0.2)
    permission_id = await add_by_xs2a(harness)
    bank.on_revoke = gate = Gate()
    began = time.monotonic()
    withdrawing = asyncio.create_task(withdraw(harness, permission_id))
    await gate.wait()
    assert harness.rows("accesses") == [], "erased before the bank is told"
    ended = await withdrawing
    assert time.monotonic() - began < 30
    assert ended.receipt.is_bank_told is False
    gate.open.set()


async def test_two_withdrawals_at_once_tell_the_bank_once_and_get_one_receipt(harness, bank, own):
    permission_id = await add_by_xs2a(harness)
    bank.on_revoke = gate = Gate()
    async with second_worker(own, harness) as other:
        calls = [asyncio.create_task(withdraw(each, permission_id)) for each in (harness, other)]
        await gate.wait()
        gate.open.set()
        first, second = await asyncio.gather(*calls)
    assert first == second
    assert (first.receipt.is_bank_told, bank.calls.count("revoke")) == (True, 1)


async def test_a_worker_tells_the_bank_where_the_process_of_the_withdrawal_has_died(harness, bank, monkeypatch):
    permission_id = await add_by_xs2a(harness)
    permissions = harness.services.accesses.permissions

    async def die(*_):
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr(permissions.revocations, "revoke", die)
        with pytest.raises(ConnectionResetError):
            await withdraw(harness, permission_id)
    waiting = await only(harness)
    assert (waiting.receipt, waiting.erased.products, waiting.is_open) == (None, 3, False)
    assert await permissions.revocations.revoke_pending() == 1
    assert (await only(harness)).receipt.is_bank_told is True
    assert await permissions.revocations.revoke_pending() == 0


async def test_an_attempt_that_was_begun_is_repeated_only_after_a_while(harness, bank):
    permission_id = await add_by_xs2a(harness)
    permissions = harness.services.accesses.permissions
    await permissions._end(harness.principal, permission_id)
    harness.owner.execute("update permissions set told_at = now() where id = %s", [permission_id])
    assert await permissions.revocations.revoke_pending() == 0
    harness.owner.execute("update permissions set told_at = now() - interval '1 minute' where id = %s", [permission_id])
    assert await permissions.revocations.revoke_pending() == 1
    assert bank.calls.count("revoke") == 1


async def test_deleting_all_accesses_tells_every_bank(harness, bank):
    await harness.add("a")
    await harness.add("b", login="berta")
    harness.owner.execute("update permissions set channel = 'AGGREGATOR' where user_id = %s", [harness.user_id])
    await harness.services.accesses.delete_all(harness.principal)
    views = await harness.services.accesses.permissions.list_permissions(harness.principal)
    assert [view.permission.receipt.is_bank_told for view in views] == [True, True]


async def test_over_fints_no_bank_is_told(harness, bank):
    await harness.add()
    harness.owner.execute("update permissions set channel = 'FINTS' where user_id = %s", [harness.user_id])
    ended = await withdraw(harness, (await only(harness)).id)
    assert (ended.receipt.is_bank_told, bank.calls.count("revoke")) == (False, 0)


async def test_which_of_several_channels_was_taken_is_told(harness, bank):
    bank.keeps = None
    await harness.add()
    assert (await only(harness)).channel is PermissionChannel.DEMO
    assert (await only(harness)).used_at <= datetime.now(UTC)
    assert replace(await only(harness), channel=None).channel is None


async def callers_of(harness):
    views = await harness.services.accesses.permissions.list_permissions(harness.principal)
    return {view.permission.access_id: view.permission.callers[0] for view in views}


async def test_a_use_while_a_fetch_writes_its_bookings_is_noted(harness, bank, monkeypatch):
    await harness.add()
    budget = replace(harness.principal, client_id=uuid4(), client_name="budget-app")
    write, seen = FetchWriting.write_fetched, []

    async def use_meanwhile(*values):
        written = await write(*values)
        await harness.services.accesses.permissions.uses.note(budget, "a")
        seen.append(await callers_of(harness))
        return written

    monkeypatch.setattr(FetchWriting, "write_fetched", use_meanwhile)
    await harness.refresh()
    assert seen == [{"a": "budget-app"}]


async def test_a_use_of_all_accesses_is_a_use_of_one_that_was_added_just_before(harness, bank):
    await harness.add("a")
    budget = replace(harness.principal, client_id=uuid4(), client_name="budget-app")
    uses = harness.services.accesses.permissions.uses
    await uses.note(budget, None)
    await harness.add("b", login="berta")
    await uses.note(budget, None)
    assert await callers_of(harness) == {"a": "budget-app", "b": "budget-app"}
    await harness.services.accesses.store_access(harness.principal, "c", await harness.request(login="carla"))
    await uses.note(budget, None)
    assert (await callers_of(harness))["c"] == "budget-app"

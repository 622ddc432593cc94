"""Deletions, deactivations and calls while a fetch runs."""

import asyncio
import base64
from dataclasses import replace
from decimal import Decimal

import pytest
from fake_bank import GIRO
from fetch_harness import DATA, Gate

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.errors import BusyError, ConflictError, InvalidError
from kontor.services.accesses.accesses import Accesses
from kontor.services.accesses.requests import AccessRequest
from kontor.services.accesses.waiting import LAST_POLL_SECONDS
from kontor.services.fetching.fetching import Outcome

# Nobody left to fetch for


async def deactivate(harness):
    harness.owner.execute("update users set is_active = false where id = %s", [harness.user_id])


@pytest.mark.parametrize("is_first", [True, False])
async def test_user_deactivated_while_the_bank_is_asked_gets_nothing_written_and_no_further_call(
    harness, bank, is_first
):
    if not is_first:
        await harness.add()
        bank.products, bank.calls = (replace(GIRO, balance=Decimal("9.00")),), []
    before = harness.data(), harness.rows("accesses", "status, issues, updated_at")
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": await harness.request() if is_first else AccessRequest()}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await deactivate(harness)
    gate.open.set()
    await running
    posted.cancel()
    assert bank.calls == ["begin"]
    assert harness.data() == before[0]
    if not is_first:
        assert harness.rows("accesses", "status, issues, updated_at") == before[1]


@pytest.mark.parametrize("moment", ["on_begin", "on_resume"])
async def test_access_deleted_while_the_bank_is_asked_leaves_nothing(harness, bank, moment):
    gate = Gate()
    setattr(bank, moment, gate)
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await harness.services.accesses.delete_access(harness.principal, "a")
    gate.open.set()
    await running
    await posted
    assert [harness.rows(table) for table in (*DATA, "accesses", "fetches")] == [[]] * 5
    assert harness.owner.execute("select count(*) from pgqueuer where entrypoint = 'fetch'").fetchone() == (0,)
    assert harness.owner.execute("select count(*) from credential_leases").fetchone() == (0,)


async def test_deleting_takes_waiting_and_failed_jobs_out_of_the_queue(harness, bank):
    posted = harness.post({"a": await harness.request()})
    fetch_id = await harness.queued()
    jobs = "select count(*) from pgqueuer where payload = %s"
    assert harness.owner.execute(jobs, [fetch_id.bytes]).fetchone() == (1,)
    harness.owner.execute("update pgqueuer set status = 'failed' where payload = %s", [fetch_id.bytes])
    harness.owner.execute("update fetches set state = 'DONE' where id = %s", [fetch_id])
    await posted
    await harness.services.accesses.delete_access(harness.principal, "a")
    assert harness.owner.execute(jobs, [fetch_id.bytes]).fetchone() == (0,)


# Changes while a fetch runs


async def test_other_credentials_are_tried_although_a_fetch_runs_with_the_old_ones(harness, bank):
    gate = bank.on_begin = Gate()
    bank.refusal = Failed(FailureKind.WRONG_CREDENTIALS)
    old = harness.post({"a": await harness.request(pin="wrong")})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    new = harness.post({"a": await harness.request(pin="right")})
    following = await harness.queued()
    gate.open.set()
    await running
    await old
    assert await harness.notices() == ([], [])
    bank.refusal = None
    assert await harness.services.fetching.run(following) is Outcome.FINISHED
    await new
    assert bank.pins == ["wrong", "right"]
    assert (await harness.view()).access.status == "COMPLETE"


async def test_refresh_joins_the_fetch_that_runs_with_the_same_credentials(harness, bank):
    gate = bank.on_begin = Gate()
    first = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    second = harness.post({"a": AccessRequest()}, refresh=True)
    await asyncio.sleep(0.1)
    gate.open.set()
    await asyncio.gather(running, first, second)
    assert bank.calls == ["begin", "resume"]


async def test_sync_switched_off_while_a_fetch_runs_is_respected_at_its_end(harness, bank):
    gate = bank.on_resume = Gate()
    posted = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await posted
    await harness.post({"a": AccessRequest(is_synced=False)})
    gate.open.set()
    await running
    assert harness.rows("accesses", "credentials, memory") == [(None, None)]
    assert harness.rows("accesses", "expires_at is not null, 1") == [(True, 1)]


async def test_incomplete_credentials_never_call_the_bank_not_even_with_refresh(harness, bank):
    await harness.add()
    bank.calls = []
    await harness.post({"a": await harness.request(login="")}, refresh=True)
    assert bank.calls == []
    assert await harness.notices() == (["INCOMPLETE_CREDENTIALS"], ["INCOMPLETE_CREDENTIALS"])


# Two calls at once


async def test_two_calls_that_add_the_same_id_at_two_providers_cannot_mix_them(harness, bank, monkeypatch):
    """The second has looked before the first wrote."""
    other = next(provider for provider in harness.services.providers.search("sparkasse") if provider.login_fields)
    fields = {field.key: "12345" for field in other.login_fields}
    sealed = {
        key: base64.b64encode(await harness.services.encryption.encrypt(harness.principal, text.encode())).decode()
        for key, text in fields.items()
    }
    both_checked = asyncio.Barrier(2)
    write = Accesses._write

    async def write_after_both_checked(*arguments, **options):
        await both_checked.wait()
        return await write(*arguments, **options)

    monkeypatch.setattr(Accesses, "_write", write_after_both_checked)
    calls = [harness.post({"a": await harness.request()}), harness.post({"a": AccessRequest(other.id, sealed)})]
    fetch_id = await harness.queued()
    await harness.services.fetching.run(fetch_id)
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["InvalidError", "NoneType"]
    assert len(harness.rows("accesses")) == 1


async def test_refresh_of_an_access_that_is_deleted_meanwhile_does_not_bring_it_back(harness, bank, monkeypatch):
    await harness.add()
    store = Accesses._store

    async def store_after_deletion(*arguments, **options):
        monkeypatch.setattr(Accesses, "_store", store)
        await harness.services.accesses.delete_access(harness.principal, "a")
        return await store(*arguments, **options)

    monkeypatch.setattr(Accesses, "_store", store_after_deletion)
    with pytest.raises(InvalidError):
        await harness.post({"a": AccessRequest()}, refresh=True)
    assert harness.rows("accesses") == []


# Waiting


async def test_call_that_waits_for_busy_credentials_to_its_limit_is_told_so(harness, bank, monkeypatch):
    # Long enough for the first fetch to be at its bank by then.
    monkeypatch.setattr(harness.services.accesses, "_wait_seconds", 1.5)
    gate = bank.on_begin = Gate()
    slow = harness.post({"a": await harness.request()})
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued("a")))
    await gate.wait()
    with pytest.raises(TimeoutError):
        await slow
    with pytest.raises(BusyError):
        await harness.post({"b": await harness.request()})
    gate.open.set()
    await running
    await harness.services.fetching.run(await harness.queued("b"))
    assert {str(view.access.status) for view in await harness.services.accesses.list_accesses(harness.principal)} == {
        "COMPLETE"
    }


async def test_call_that_waits_for_a_worker_to_its_limit_is_timed_out_not_busy(harness, bank, monkeypatch):
    monkeypatch.setattr(harness.services.accesses, "_wait_seconds", 0.2)
    with pytest.raises(TimeoutError):
        await harness.post({"a": await harness.request()})
    assert LAST_POLL_SECONDS < 1


@pytest.fixture
def read_together(monkeypatch):
    """Two requests: both have read what is stored before either of them stores."""
    check, barrier = Accesses._check, asyncio.Barrier(2)

    async def check_together(self, *facts):
        plan = await check(self, *facts)
        await barrier.wait()
        return plan

    def begin():
        monkeypatch.setattr(Accesses, "_check", check_together)

    yield begin
    monkeypatch.setattr(Accesses, "_check", check)


def read_selection(harness):
    return harness.owner.execute(
        "select selected_products from accesses where user_id = %s", [harness.user_id]
    ).fetchone()[0]


async def test_of_two_selections_at_once_the_second_is_refused_and_overwrites_nothing(harness, bank, read_together):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    wanted = [[ids["giro"]], [ids["spar"]]]
    read_together()
    posted = [harness.post({"a": AccessRequest(selected_products=tuple(selected))}) for selected in wanted]
    outcomes = await asyncio.gather(*posted, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {type(None), ConflictError}
    assert read_selection(harness) == wanted[outcomes.index(None)]


async def test_equal_selections_at_once_are_both_stored_and_a_selection_after_reading_again_replaces(
    harness, bank, read_together
):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    read_together()
    posted = [harness.post({"a": AccessRequest(selected_products=(ids["giro"],))}) for _ in range(2)]
    assert await asyncio.gather(*posted) == [None, None]
    assert read_selection(harness) == [ids["giro"]]
    posted = [harness.post({"a": AccessRequest(selected_products=(ids["spar"],))}) for _ in range(2)]
    await harness.services.fetching.run(await harness.queued())  # what was not selected is fetched again, once
    assert await asyncio.gather(*posted) == [None, None]
    assert read_selection(harness) == [ids["spar"]]
    assert [stored.product.key for stored in (await harness.view()).products] == ["spar"]


async def test_a_selection_that_is_changed_while_a_fetch_runs_is_the_one_that_counts(harness, bank):
    await harness.add()
    ids = {stored.product.key: stored.id for stored in (await harness.view()).products}
    gate = bank.on_begin = Gate()
    posted = harness.post({"a": AccessRequest()}, refresh=True)
    running = asyncio.create_task(harness.services.fetching.run(await harness.queued()))
    await gate.wait()
    await harness.post({"a": AccessRequest(selected_products=(ids["spar"],))})
    gate.open.set()
    await running
    await posted
    assert read_selection(harness) == [ids["spar"]]
    assert [stored.product.key for stored in (await harness.view()).products] == ["spar"]

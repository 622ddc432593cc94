"""What takes several locks takes them in the declared order, also where a caller names accesses in another one."""

import asyncio
from decimal import Decimal
from uuid import uuid4

import pytest
from refresh_harness import RefreshHarness, make_user

from kontor.domain.redirects import UseCase
from kontor.domain.transactions import Transaction
from kontor.services.transactions import PushedTransaction


@pytest.fixture
def harness(refreshing):
    return refreshing


async def add(harness, *access_ids):
    """All with one call, while a worker runs what it asks for."""
    requests = {access_id: await harness.request(login=f"login {access_id}") for access_id in access_ids}
    call = asyncio.create_task(
        harness.services.accesses.add_accesses(harness.principal, requests, refresh=False, is_attended=True)
    )
    while not call.done():
        await harness.run_queued()
        await asyncio.sleep(0.005)
    await call


async def test_two_calls_that_name_the_same_accesses_in_different_orders(harness, refresh_bank):
    await add(harness, "b", "a")
    await asyncio.gather(add(harness, "a", "b"), add(harness, "b", "a"), add(harness, "b"))


async def test_all_accesses_are_deleted_before_that_is_audited(harness, refresh_bank):
    await add(harness, "b", "a")
    await harness.services.accesses.delete_all(harness.principal)
    assert harness.count("accesses") == 0


async def test_a_push_locks_the_access_before_its_product_and_the_data_version(harness, refresh_bank):
    await add(harness, "a")
    views = await harness.services.accesses.list_accesses(harness.principal)
    product = next(view for view in views[0].products if not view.product.category.is_depot)
    pushed = PushedTransaction("batch", Transaction(Decimal("-1.00"), "EUR", None))
    assert await harness.services.transactions.push(harness.principal, "a", product.id, [pushed]) == 1


async def test_expired_accesses_of_several_users_are_deleted_one_after_the_other(harness, refresh_bank):
    other = RefreshHarness(
        harness.services, await make_user(harness.services, harness.owner), harness.owner, harness.clock
    )
    await add(harness, "b", "a")
    await add(other, "b", "a")
    harness.owner.execute("update accesses set expires_at = now() - random() * interval '1 hour'")
    await harness.services.housekeeping.clean()
    assert harness.count("accesses") == 0


async def test_accesses_that_nobody_confirmed_are_deleted_one_after_the_other(harness, refresh_bank):
    await add(harness, "b", "a")
    harness.owner.execute("update accesses set form_session_id = gen_random_uuid()")
    await harness.services.housekeeping.clean()
    assert harness.count("accesses") == 0


async def start_session(harness, access_id):
    return await harness.services.redirects.start_session(
        harness.principal, UseCase.CREATE_ACCOUNT, access_id, "https://example.com/back", None
    )


async def test_all_form_sessions_of_a_user_are_locked_before_their_end_is_audited(harness, refresh_bank):
    await add(harness, "a")
    for access_id in ("a", *(uuid4().hex for _ in range(5))):
        await start_session(harness, access_id)
    harness.owner.execute(
        "update accesses a set form_session_id = s.id from redirect_sessions s where s.access_id = a.id"
    )
    await harness.services.redirects.delete_sessions(harness.principal)
    assert harness.count("redirect_sessions") == 1, "the one in which an access is being added"
    assert harness.count("redirect_sessions", "step = 'END'") == 1


async def test_a_form_session_that_is_opened_is_locked_before_its_access(harness, refresh_bank):
    handle = await start_session(harness, "new")
    cookie = await harness.services.redirects.open_session(handle, None, None, is_framed=False)
    await add(harness, "new")
    harness.owner.execute(
        "update accesses a set form_session_id = s.id from redirect_sessions s where s.access_id = a.id"
    )
    again = await start_session(harness, "new")
    await harness.services.redirects.open_session(again, None, cookie, is_framed=False)
    [(count,)] = harness.owner.execute(
        "select count(*) from accesses a join redirect_sessions s on s.id = a.form_session_id and s.step <> 'END'"
    ).fetchall()
    assert count == 1, "the later session goes on with it"

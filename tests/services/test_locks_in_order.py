"""What takes several locks takes them in the declared order, also where a caller names accesses in another one."""

import asyncio
from decimal import Decimal

import pytest

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

"""Histories through PostgreSQL: loaded, merged and written as fetches and imports do it."""

from collections import Counter
from collections.abc import Callable
from datetime import date
from uuid import UUID

from benchmarks.environment import DEMO_BANK, BenchmarkEnvironment
from benchmarks.merging.histories import Delivery, History, make_history
from benchmarks.merging.scoring import Score, play
from kontor.config import Settings
from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.merge_plans import plan_merge
from kontor.domain.merging import find_first_day
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction, find_day
from kontor.services.bundle import Services
from kontor.services.fetching.bookings import load_known, write_plan
from kontor.storage import accesses, products, transactions

ACCESS = "model"
TODAY = date(2026, 5, 1)  # a day without meaning: every row has one of its own


async def score_stored(settings: Settings, seeds: range, say: Callable[[str], None]) -> Score:
    """As in memory, and what PostgreSQL holds at the end must be the same rows, with no balance called wrong."""
    total = Score()
    async with BenchmarkEnvironment(settings, tenant="bench-merging") as environment:
        customer = await environment.add_customer()
        async with environment.services.database.transaction(customer.id) as connection:
            await accesses.insert_access(
                connection, customer.id, ACCESS, DEMO_BANK, is_synced=True, selected_products=None
            )
            await accesses.set_status(connection, customer.id, ACCESS, AccessStatus.COMPLETE)
        for seed in seeds:
            history = make_history(seed)
            score, account = play(history)
            held, has_gap = await _store(environment, customer.id, history, f"history-{seed}")
            expected = Counter(account.rows.values())
            score.lost += (expected - held).total()
            score.doubled += (held - expected).total()
            score.alarms += has_gap
            if not score.is_right:
                score.wrong.append(seed)
            total.add(score)
            if total.histories % 250 == 0:
                say(f"  {total.histories:,} histories stored")
    return total


async def _store(
    environment: BenchmarkEnvironment, user_id: UUID, history: History, key: str
) -> tuple[Counter[Transaction], bool]:
    product_id = make_product_id(user_id, ACCESS, key)
    product = Product(key, ProductCategory.CHECKING, "Konto", "", "EUR")
    async with environment.services.database.transaction(user_id) as connection:
        await products.upsert_product(connection, user_id, product_id, ACCESS, 0, product)
    for number, delivery in enumerate(history.deliveries):
        if number == history.upgrade_before:
            with environment.owner() as owner:
                owner.execute("update transactions set channel = null where product_id = %s", [product_id])
        await _deliver(environment.services, user_id, product_id, delivery)
    async with environment.services.database.connect(user_id) as connection:
        stored = await transactions.load_transactions(connection, user_id, product_id, None)
        gap = await products.find_gap(connection, user_id, product_id)
    return Counter(row.transaction for row in stored), gap is not None


async def _deliver(services: Services, user_id: UUID, product_id: UUID, delivery: Delivery) -> None:
    rows = sorted(delivery.rows, key=lambda row: find_day(row) or TODAY)
    async with services.database.transaction(user_id) as connection:
        first = find_first_day(rows)
        known = await load_known(connection, user_id, product_id, first, delivery.spans, delivery.since)
        plan = plan_merge(known.rows, known.gap, rows, delivery.spans, keeps_pending=delivery.is_file)
        await write_plan(connection, user_id, product_id, plan, TODAY)

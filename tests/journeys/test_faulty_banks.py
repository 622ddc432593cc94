"""Journeys of customers at a bank that misbehaves as the seed says, and what must hold after each of them.

A seed decides the journey, the protocol, the customer and the bank's faults. To run seeds of your own choice:
`./dev test tests/journeys/test_faulty_banks.py --seed 123` (several are given as `--seed 123 --seed 124`).
"""

from collections.abc import AsyncIterator

import pytest
import structlog
from customer_journeys import JOURNEYS
from faulty_banks import JourneyEnvironment, Traveller, open_environment
from invariants import check_all, check_told_bookings

from kontor.domain.accesses import NoticeKind

FAST_SEEDS = range(2 * len(JOURNEYS))  # each journey over each protocol
LONG_SEEDS = range(len(FAST_SEEDS), 500)
PROTOCOLS = ("fints", "xs2a")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" not in metafunc.fixturenames:
        return
    named = metafunc.config.getoption("--seed")
    seeds = [pytest.param(seed, id=str(seed)) for seed in named or FAST_SEEDS]
    if not named:
        seeds += [pytest.param(seed, id=str(seed), marks=pytest.mark.long) for seed in LONG_SEEDS]
    metafunc.parametrize("seed", seeds)


@pytest.fixture(scope="module")
async def environment(settings, tmp_path_factory) -> AsyncIterator[JourneyEnvironment]:
    async with open_environment(settings, tmp_path_factory.mktemp("journeys")) as environment:
        yield environment


async def test_a_journey_ends_in_agreement_with_the_books_of_the_bank(environment: JourneyEnvironment, seed: int):
    journey, kind = list(JOURNEYS.items())[seed % len(JOURNEYS)]
    protocol = PROTOCOLS[seed // len(JOURNEYS) % len(PROTOCOLS)]
    traveller = await environment.new_traveller(seed, kind, protocol)
    with structlog.testing.capture_logs() as logs:
        await journey(traveller)
        notices = await list_notices(traveller)
        found = check_told_bookings(traveller, await traveller.read_payments(), notices)
        violations = [f"before recovery: {violation}" for violation in found]
        await recover(traveller)
    violations += check_all(traveller, await traveller.read_payments(), await list_notices(traveller))
    violations += [f"logged: {entry}" for entry in logs if entry["log_level"] in ("error", "critical")]
    faults = [f"{visit.number} {visit.fault}" for visit in traveller.visits if visit.fault is not None]
    story = f"seed {seed}: {journey.__name__} over {protocol}, {traveller.plan.faults}, {faults}, {traveller.told}"
    assert not violations, f"{story}, {notices}: {violations}"


async def recover(traveller: Traveller) -> None:
    """The bank is well again: what is open comes to an end, and one more fetch brings everything."""
    traveller.heal_bank()
    await traveller.give_up_open_payments()
    for _ in range(2):
        await traveller.look_up()
    for access_id in await list_accesses(traveller):
        await traveller.connect(access_id)
        await traveller.refresh(access_id)
        if NoticeKind.SCA_NEEDED in await traveller.list_notices(access_id):
            await traveller.authorise(access_id)


async def list_accesses(traveller: Traveller) -> list[str]:
    return [view.access.id for view in await traveller.services.accesses.list_accesses(traveller.principal)]


async def list_notices(traveller: Traveller) -> dict:
    return {access_id: await traveller.list_notices(access_id) for access_id in await list_accesses(traveller)}

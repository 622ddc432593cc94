"""Named journeys of one customer. Each takes the bank as it is; `invariants` judges what is left."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from faulty_banks import TODAY, Traveller
from invariants import list_books

from kontor.connectors.demo.people import person_for
from kontor.demobank.statements import write_camt052
from kontor.domain.accesses import make_product_id
from kontor.domain.errors import KontorError
from kontor.domain.payments import PaymentKind
from kontor.domain.transactions import find_day
from kontor.services.statements.imports import name_owner

GAP_DAYS = 45
SMALL = "test_vop_close"  # an ordinary customer with few bookings
Journey = Callable[[Traveller], Awaitable[None]]


async def connect_and_fetch(traveller: Traveller) -> None:
    await traveller.connect()


async def refresh(traveller: Traveller) -> None:
    await traveller.connect()
    for _ in range(2):
        await traveller.refresh_recent()


async def refresh_after_a_gap(traveller: Traveller) -> None:
    """Of what is stored, only what was booked until some weeks ago is left."""
    await traveller.connect()
    traveller.environment.owner.execute(
        "delete from transactions where user_id = %s and coalesce(booked_at, value_at) > %s",
        [traveller.user_id, TODAY - timedelta(days=GAP_DAYS)],
    )
    traveller.environment.owner.execute(
        "update accesses set updated_at = %s where user_id = %s",
        [TODAY - timedelta(days=GAP_DAYS), traveller.user_id],
    )
    for _ in range(2):
        await traveller.refresh_recent()


async def fetch_all_history(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.refresh_recent()
    await traveller.refresh()


async def renew_consent(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.authorise()
    await traveller.refresh_recent()
    await traveller.authorise()


async def delete_while_fetching(traveller: Traveller) -> None:
    await traveller.connect()
    before = len(traveller.visits)
    fetching = asyncio.create_task(traveller.refresh())
    while len(traveller.visits) <= before and not fetching.done():
        await asyncio.wait({fetching}, timeout=0.005)
    await traveller.services.accesses.delete_access(traveller.principal, "a")
    await fetching


async def pay_single(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.pay((traveller.make_order(),))


async def pay_decoupled(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.pay((traveller.make_order(),))


async def pay_despite_a_payee_mismatch(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.pay((traveller.make_order("Ganz Anders"),))


async def look_up_after_a_lost_answer(traveller: Traveller) -> None:
    """From the second answer of the payment on, the bank's answers are lost."""
    await traveller.connect()
    await traveller.pay((traveller.make_order(),), lost_from=1)
    traveller.restore_plan()
    await traveller.look_up()


async def pay_bulk(traveller: Traveller) -> None:
    await traveller.connect()
    orders = tuple(traveller.make_order() for _ in range(3))
    await traveller.pay(orders, PaymentKind.BULK)


async def pay_on_a_later_day(traveller: Traveller) -> None:
    await traveller.connect()
    await traveller.pay((traveller.make_order(),), execution_date=TODAY + timedelta(days=5))


async def have_the_same_account_in_two_accesses(traveller: Traveller) -> None:
    await traveller.connect("a")
    await traveller.connect("b")
    await asyncio.gather(traveller.refresh("a"), traveller.refresh("b"))


async def import_beside_a_fetch(traveller: Traveller) -> None:
    """The bank's own file of the same bookings, while a fetch runs."""
    await traveller.connect()
    person = person_for(traveller.login, TODAY)
    assert person is not None
    product = person.accounts[0].product
    rows = [row for row in list_books(traveller)[product.iban or ""] if (find_day(row) or TODAY).year == TODAY.year]
    file = write_camt052(product, rows[-200:], product.balance or rows[0].amount, day=TODAY)
    key = product.iban if traveller.protocol == "xs2a" else None
    ids = traveller.query("select id from products where user_id = %s and iban = %s", traveller.user_id, product.iban)
    if not ids:
        return
    assert key is None or ids[0][0] == make_product_id(traveller.user_id, "a", key)

    async def import_file() -> None:
        try:
            await traveller.services.imports.import_file(
                name_owner(traveller.principal), "a", file, product_id=ids[0][0]
            )
        except KontorError as error:
            traveller.told.append(f"{type(error).__name__}: {error}")

    await asyncio.gather(traveller.refresh(), import_file())


# Each with the login that it needs.
JOURNEYS: dict[Journey, str] = {
    connect_and_fetch: SMALL,
    refresh: SMALL,
    refresh_after_a_gap: SMALL,
    fetch_all_history: "test_sca_method",
    renew_consent: "test_sca_method",
    delete_while_fetching: SMALL,
    pay_single: "test_sca_method",
    pay_decoupled: "test_decoupled",
    pay_despite_a_payee_mismatch: "test_vop_nomatch",
    look_up_after_a_lost_answer: "test_sca_method",
    pay_bulk: SMALL,
    pay_on_a_later_day: SMALL,
    have_the_same_account_in_two_accesses: SMALL,
    import_beside_a_fetch: SMALL,
}

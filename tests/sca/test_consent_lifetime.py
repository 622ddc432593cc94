"""A consent comes to its end and is renewed: servers and workers on one database, on different days."""

from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import date, timedelta

import httpx
import psycopg
import pytest

from banking import ACCESSES, BankCustomer, new_customer, rels
from consenting import at_server, codes, new_login, renew, start, wait_for_fetch
from kontor.bootstrap import open_services
from kontor.domain.principals import Principal
from plain_http import plain_client
from process_tree import own_database
from processes import free_port, running_server, running_worker

pytestmark = pytest.mark.long

FIRST_DAY = date(2026, 3, 2)
CONSENT_DAYS = 180


class Days:
    """One database, and a customer who added two accesses on the first day."""

    def __init__(self, settings, folder):
        self.settings, self.folder = settings, folder
        self.customer: BankCustomer | None = None
        self.accesses: dict[str, str] = {}

    def on(self, day: int):
        return replace(self.settings, today=FIRST_DAY + timedelta(days=day), log_level="info")

    def serve(self, stack: ExitStack, day: int) -> httpx.Client:
        own = replace(self.on(day), base_url=f"http://127.0.0.1:{free_port()}")
        address = stack.enter_context(running_server(own, self.folder / f"server-{day}.log"))
        return stack.enter_context(plain_client(base_url=address, timeout=60))

    def work(self, stack: ExitStack, day: int) -> None:
        stack.enter_context(running_worker(self.on(day), self.folder / f"worker-{day}.log"))

    @asynccontextmanager
    async def services(self, day: int):
        async with open_services(replace(self.on(day), pool_size=2), "kontor tests, days") as services:
            yield services


@pytest.fixture(scope="module")
async def days(tmp_path_factory, shared, make_like):
    folder = tmp_path_factory.mktemp("days")
    with own_database(folder / "data") as (_, settings):
        days = Days(settings, folder)
        with ExitStack() as stack:
            http = days.serve(stack, 0)
            days.work(stack, 0)
            async with days.services(0) as services:
                tenant = await make_like(services, replace(shared, http=http))
            days.customer = new_customer(tenant)
            asked = start(days.customer, new_login("test_phototan"))
            asked.enter("8534842")
            asked.wait_until_complete()
            days.accesses = {"asked": asked.access_id, "plain": days.customer.add_complete("test_products")}
        yield days


@pytest.mark.parametrize(
    ("day", "is_needed"), [(0, False), (90, False), (165, False), (166, True), (179, True), (180, True), (181, True)]
)
async def test_start_sca_appears_fourteen_days_before_the_end(days, day, is_needed):
    async with days.services(day) as services:
        async with services.database.connect() as connection:
            cursor = await connection.execute(
                "select tenant_id, pseudonym from users where id = %s", [days.customer.reference]
            )
            tenant_id, pseudonym = await cursor.fetchone()
        user = days.customer.reference
        principal = Principal(tenant_id, "", True, tenant_id, "", frozenset(), user, pseudonym)
        for access_id in days.accesses.values():
            view = await services.accesses.read_access(principal, access_id)
            assert view.access.consent_until == FIRST_DAY + timedelta(days=CONSENT_DAYS)
            assert view.needs_sca is is_needed
            assert [str(message.kind) for message in view.access.messages] == (["SCA_NEEDED"] if is_needed else [])


def test_after_the_end_refreshes_stop_until_the_consent_is_renewed(days):
    assert days.customer is not None
    asked, plain = days.accesses["asked"], days.accesses["plain"]
    owner_url = days.settings.migration_database_url.reveal()
    with ExitStack() as stack:
        owner = stack.enter_context(psycopg.connect(owner_url, autocommit=True))
        customer = at_server(days.customer, days.serve(stack, CONSENT_DAYS + 1))
        days.work(stack, CONSENT_DAYS + 1)
        before = {access_id: customer.read_access(access_id) for access_id in (asked, plain)}
        outcomes = owner.execute("select count(*) from provider_outcomes").fetchone()
        for access_id in (asked, plain):
            assert codes(before[access_id]) == ["BA3000"]
            assert "start_sca" in rels(before[access_id])
            assert customer.refresh(access_id).status_code == 201
            # A login that never demands SCA would have been fetched, had the bank been called.
            assert wait_for_fetch(owner, customer, access_id)[-1] == "WAITING"
            after = customer.read_access(access_id)
            assert after == before[access_id], "data stays readable, nothing changes"
            assert customer.transactions(customer.product(access_id, "GIROKONTO"))
            assert customer.issue_codes(access_id) == ["BA3000"]
        assert owner.execute("select count(*) from provider_outcomes").fetchone() == outcomes
        newest = max(
            transaction["buchungsdatum"] for transaction in customer.transactions(customer.product(asked, "GIROKONTO"))
        )
        # Renewal with the stored credentials and the last method.
        consent = renew(customer, asked)
        assert codes(consent.read()) == ["BA3030"]
        assert codes(consent.enter("1")) == ["BA1103", "BA3030"]
        assert codes(consent.enter("8534842")) == ["BA3050"]
        done = consent.wait_until_complete()
        assert codes(done) == []
        renewed = renew(customer, plain)
        assert codes(renewed.read()) == ["BA3050"]
        assert codes(renewed.wait_until_complete()) == []
        rows = owner.execute("select distinct consent_until from accesses").fetchall()
        assert rows == [(FIRST_DAY + timedelta(days=2 * CONSENT_DAYS + 1),)]
        shown = customer.transactions(customer.product(asked, "GIROKONTO"))
        assert max(transaction["buchungsdatum"] for transaction in shown) > newest
        assert len({transaction["id"] for transaction in shown}) == len(shown)
        for access_id in (asked, plain):
            assert customer.refresh(access_id).status_code == 201
            assert wait_for_fetch(owner, customer, access_id)[-1] == "DONE"
            assert "start_sca" not in rels(customer.read(f"{ACCESSES}/{access_id}/issues"))

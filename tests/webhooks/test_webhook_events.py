"""Every kind of event, from the bank to the receiver; and no event where there is nothing to tell."""

import asyncio
import base64
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from news_bank import NewsBank, demand_tan, rows
from psycopg import AsyncConnection

from kontor import bootstrap
from kontor.connectors.base import Failed, FailureKind, Problem, ProblemKind
from kontor.connectors.registry import Registry
from kontor.domain.accesses import make_product_id
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import Order, PaymentKind, PaymentOutcome, PaymentState
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import Event, EventType
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.identity.users import NewUser
from kontor.services.payments.requests import PaymentRequest
from kontor.services.transactions import DeltaView
from kontor.wire.transactions import CUSTOMER_FIELDS

BANK = UUID(int=0)
ORDER = Order("Erika Mustermann", "DE89370400440532013000", Decimal("12.30"), purpose="Rechnung")
UNREACHABLE = Failed(FailureKind.UNREACHABLE)


@dataclass
class Newsroom:
    """A user with an access at a bank that does as told, and a receiver that is told about it."""

    office: Any
    services: Any
    bank: NewsBank
    user: Any
    receiver: Any

    async def request(self, **facts):
        encrypt = self.services.encryption.encrypt
        sealed = {
            key: base64.b64encode(await encrypt(self.user, text.encode())).decode()
            for key, text in (("userid", f"login{uuid4().hex[:8]}"), ("pin", "demo"))
        }
        return AccessRequest(BANK, sealed, **facts)

    async def fetch(self, request=None, *, is_attended=False, access_id="a"):
        """Ask the bank for the access, as a caller and a worker would."""
        call = self.services.accesses.add_accesses(
            self.user, {access_id: request or AccessRequest()}, refresh=True, is_attended=is_attended
        )
        posted = asyncio.create_task(call)
        query = "select id from fetches where user_id = %s and access_id = %s and state = 'QUEUED'"
        for _ in range(4000):
            if row := self.office.owner.execute(query, [self.user.user_id, access_id]).fetchone():
                break
            assert not posted.done(), "no fetch was asked for"
            await asyncio.sleep(0.005)
        try:
            await self.services.fetching.run(row[0])
        except Exception:
            posted.cancel()
            raise
        await posted

    async def add(self, **facts):
        await self.fetch(await self.request(**facts), is_attended=True)

    async def news(self):
        """What the receiver is told now, oldest first."""
        before = len(self.receiver.received)
        await self.office.run_out()
        return sorted((call.content for call in self.receiver.received[before:]), key=lambda event: event["serial"])

    async def told(self):
        return [event["type"] for event in await self.news()]

    def product(self, key="giro"):
        return str(make_product_id(self.user.user_id, "a", key))


@pytest.fixture(scope="session")
async def news_services(webhook_settings):
    bank = NewsBank()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "make_registry", lambda _: Registry([bank]))
        opening = bootstrap.open_services(replace(webhook_settings, pool_size=4), "kontor tests, news")
        services = await opening.__aenter__()
    yield services, bank
    await opening.__aexit__(None, None, None)


@pytest.fixture
async def newsroom(office, receiver, user, news_services):
    services, bank = news_services
    bank.__init__()
    await office.register(receiver)
    return Newsroom(office, services, bank, user, receiver)


# transactions.new


async def test_new_transactions_of_a_refresh_are_counted_per_product(newsroom):
    await newsroom.add()
    assert await newsroom.news() == []  # whoever adds an access waits for it
    newsroom.bank.transactions["giro"] += rows(2, first=100)
    await newsroom.fetch()
    (event,) = await newsroom.news()
    assert event == {
        "type": "transactions.new",
        "serial": 1,
        "createdAt": event["createdAt"],
        "tenant": newsroom.office.name,
        "user": str(newsroom.user.user_id),
        "bankzugang": {"id": "a", "href": f"{newsroom.office.http.base_url}/customer/v2/bankzugaenge/a"},
        "produkte": [{"id": newsroom.product(), "neueUmsaetze": 2}],
        "cursor": event["cursor"],
    }
    newsroom.bank.transactions["giro"] += rows(1, first=200)
    newsroom.bank.transactions["spar"] += rows(4, first=300)
    await newsroom.fetch(is_attended=True)
    (event,) = await newsroom.news()
    found = {product["id"]: product["neueUmsaetze"] for product in event["produkte"]}
    assert (event["serial"], found) == (2, {newsroom.product(): 1, newsroom.product("spar"): 4})


async def read_changes(newsroom, since):
    view = DeltaView(None, CUSTOMER_FIELDS)
    return await newsroom.services.deltas.read(newsroom.user, since, 100, view)


async def test_the_cursor_of_an_event_is_the_position_after_it(newsroom):
    await newsroom.add()
    own = (await read_changes(newsroom, None)).cursor
    newsroom.bank.transactions["giro"] += rows(2, first=100)
    await newsroom.fetch()
    (event,) = await newsroom.news()
    delta = await read_changes(newsroom, own)
    assert (len(delta.new), delta.cursor) == (2, event["cursor"])
    assert (await read_changes(newsroom, event["cursor"])).new == []


async def test_an_event_counts_what_has_changed_and_what_is_gone(newsroom):
    (known,) = rows(1)
    pending = replace(known, purpose="Vorgemerkt 7", is_pending=True, amount=Decimal(7))
    newsroom.bank.transactions["giro"] = (known, pending)
    await newsroom.add()
    newsroom.bank.transactions["giro"] = (replace(known, booking_text="GUTSCHRIFT"), *rows(1, first=50))
    await newsroom.fetch()
    (event,) = await newsroom.news()
    assert event["produkte"] == [{"id": newsroom.product(), "neueUmsaetze": 1, "geaendert": 1, "entfernt": 1}]


async def test_a_refresh_without_news_tells_nothing(newsroom):
    await newsroom.add()
    await newsroom.fetch()
    assert await newsroom.news() == []


async def test_what_a_receiver_is_told_is_there_when_it_reads(newsroom):
    """Delivery, serial and transactions are one commit: no look finds the one without the other."""
    await newsroom.add()
    owner, seen = newsroom.office.owner, set()
    query = (
        "select (select count(*) from transactions where user_id = %(user)s and purpose like 'Umsatz 4%%'),"
        " (select count(*) from transaction_tags g join transactions x on x.user_id = g.user_id and x.id ="
        " g.transaction_id where x.user_id = %(user)s and x.purpose like 'Umsatz 4%%'),"
        " (select count(*) from webhook_deliveries where user_id = %(user)s),"
        " (select last_serial from webhooks), (select count(*) from pgqueuer where entrypoint = 'deliver')"
    )
    newsroom.bank.transactions["giro"] += rows(5, first=400)
    fetching = asyncio.create_task(newsroom.fetch())
    while not fetching.done():
        seen.add(owner.execute(query, {"user": newsroom.user.user_id}).fetchone())
        await asyncio.sleep(0)
    await fetching
    seen.add(owner.execute(query, {"user": newsroom.user.user_id}).fetchone())
    assert seen == {(0, 0, 0, 0, 0), (5, 5, 1, 1, 1)}


async def test_a_fetch_that_could_not_be_stored_tells_nothing_and_uses_no_serial(newsroom, monkeypatch):
    await newsroom.add()
    newsroom.bank.transactions["giro"] += rows(2, first=500)
    results = newsroom.services.fetching._results
    publish = results._publish

    async def publish_and_fail(*facts: Any) -> None:
        await publish(*facts)
        raise ConnectionError("at the very end")

    monkeypatch.setattr(results, "_publish", publish_and_fail)
    with pytest.raises(ConnectionError):
        await newsroom.fetch()
    assert await newsroom.news() == []
    (last,) = newsroom.office.owner.execute("select last_serial from webhooks").fetchone()
    assert last == 0


async def test_an_access_without_sync_is_nobodys_business(newsroom):
    await newsroom.add(is_synced=False)
    newsroom.bank.transactions["giro"] += rows(2, first=600)
    await newsroom.fetch(await newsroom.request())
    assert await newsroom.news() == []


# access.error and access.sca_required


async def test_an_error_in_the_background_is_told_once_until_it_is_over(newsroom):
    await newsroom.add()
    newsroom.bank.refusal = UNREACHABLE
    await newsroom.fetch()
    (event,) = await newsroom.news()
    assert (event["type"], event["bankzugang"]["id"], event["produkte"]) == ("access.error", "a", [])
    await newsroom.fetch()
    assert await newsroom.told() == []
    newsroom.bank.refusal = None
    await newsroom.fetch()
    newsroom.bank.refusal = UNREACHABLE
    await newsroom.fetch()
    assert await newsroom.told() == ["access.error"]


async def test_an_error_that_somebody_sees_is_no_event(newsroom):
    await newsroom.add()
    newsroom.bank.refusal = UNREACHABLE
    await newsroom.fetch(is_attended=True)
    assert await newsroom.told() == []


async def test_a_part_that_fails_is_an_error_beside_what_is_new(newsroom):
    await newsroom.add()
    newsroom.bank.transactions["giro"] += rows(1, first=700)
    newsroom.bank.problems = (Problem(ProblemKind.TRANSACTIONS, "spar"),)
    await newsroom.fetch()
    assert await newsroom.told() == ["transactions.new", "access.error"]


async def test_a_fetch_that_was_interrupted_for_good_is_an_error(newsroom):
    await newsroom.add()
    await newsroom.services.fetching._results.note_interrupted(newsroom.user.user_id, "a")
    assert await newsroom.told() == ["access.error"]


async def test_deactivated_users_are_nobodys_errors_and_nobodys_ending_consents(newsroom):
    newsroom.bank.consent_until = datetime.now(BERLIN).date() + timedelta(days=10)
    await newsroom.add()
    users = newsroom.services.users
    found = await users.read_any_user(newsroom.user, newsroom.user.tenant_name, newsroom.user.user_id)
    await users.deactivate_user(newsroom.user, found)
    await newsroom.services.fetching._results.note_interrupted(newsroom.user.user_id, "a")  # its last fetch
    await newsroom.services.refreshing.warn_of_consents()
    assert await newsroom.told() == []
    assert (await newsroom.services.accesses.read_access(newsroom.user, "a")).access.issues == ()
    await users.reactivate_user(
        newsroom.user,
        await users.read_any_user(newsroom.user, newsroom.user.tenant_name, found.id),
        NewUser(found.username, Secret("another password")),
    )
    await newsroom.services.refreshing.warn_of_consents()
    assert await newsroom.told() == ["consent.expiring"]


async def test_a_demand_for_sca_in_the_background_is_told_once(newsroom):
    await newsroom.add()
    newsroom.bank.refusal = demand_tan()
    await newsroom.fetch()
    (event,) = await newsroom.news()
    assert (event["type"], event["bankzugang"]["id"]) == ("access.sca_required", "a")
    await newsroom.fetch()
    assert await newsroom.told() == []


# consent.expiring


async def test_a_consent_that_ends_soon_is_told_once(newsroom):
    newsroom.bank.consent_until = datetime.now(BERLIN).date() + timedelta(days=10)
    await newsroom.add()
    assert await newsroom.services.refreshing.warn_of_consents() >= 1
    (event,) = await newsroom.news()
    assert (event["type"], event["user"]) == ("consent.expiring", str(newsroom.user.user_id))
    await newsroom.services.refreshing.warn_of_consents()
    assert await newsroom.told() == []


# payment.status


async def pay(newsroom):
    payments = newsroom.services.payments
    product_id = make_product_id(newsroom.user.user_id, "a", "giro")
    debtor = await payments.debtors.find_stored(newsroom.user, "a", product_id, PaymentKind.SINGLE)
    request = PaymentRequest(PaymentKind.SINGLE, (ORDER,), payment_id=uuid4())
    return (await payments.initiate(newsroom.user, debtor, request)).payment


async def test_what_became_of_a_payment_is_told(newsroom):
    await newsroom.add()
    payment = await pay(newsroom)
    assert payment.state is PaymentState.EXECUTED
    (event,) = await newsroom.news()
    href = f"{newsroom.office.http.base_url}/customer/v2/payment/single-transfer/{payment.id}"
    assert (event["type"], event["bankzugang"]["id"]) == ("payment.status", "a")
    assert event["transfer"] == {"paymentId": str(payment.id), "href": href}


async def test_a_refused_payment_is_told(newsroom):
    await newsroom.add()
    newsroom.bank.refusal = Failed(FailureKind.REJECTED)
    assert (await pay(newsroom)).state is PaymentState.FAILED
    assert await newsroom.told() == ["payment.status"]


async def test_an_unknown_payment_is_told_and_again_when_it_is_known(newsroom):
    await newsroom.add()
    newsroom.bank.outcome = newsroom.bank.later = PaymentOutcome.UNKNOWN
    payment = await pay(newsroom)
    assert (payment.state, await newsroom.told()) == (PaymentState.UNKNOWN, ["payment.status"])
    recovery = newsroom.services.payments.recovery
    await recovery.look_up(payment)
    assert await newsroom.told() == []  # still unknown: nothing has changed
    newsroom.bank.later = PaymentOutcome.EXECUTED
    await recovery.look_up(payment)
    assert await newsroom.told() == ["payment.status"]


async def test_a_payment_whose_process_died_is_told(newsroom):
    await newsroom.add()
    payment = await pay(newsroom)
    await newsroom.news()
    newsroom.office.owner.execute(
        "update payments set state = 'SENDING', fence = 0, failure = null where id = %s", [payment.id]
    )
    await newsroom.services.payments.recovery.close_orphaned(newsroom.user.user_id, payment.id)
    assert await newsroom.told() == ["payment.status"]


# What it costs


async def test_without_a_webhook_an_event_costs_one_query(office, user, news_services, monkeypatch):
    asked = []
    execute = AsyncConnection.execute

    async def count(self, query, *facts, **others):
        asked.append(query)
        return await execute(self, query, *facts, **others)

    async with news_services[0].database.transaction() as connection:
        with monkeypatch.context() as patch:
            patch.setattr(AsyncConnection, "execute", count)
            events = [Event(kind, user.user_id, "a") for kind in EventType]
            assert await news_services[0].events.publish(connection, *events) == 0
    assert len(asked) == 1

"""Every kind of event, from the bank to the receiver; and no event where there is nothing to tell."""

import asyncio
import base64
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection
from scripted_webhook_bank import ScriptedWebhookBank, demand_tan, rows

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
    bank: ScriptedWebhookBank
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
    bank = ScriptedWebhookBank()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "make_registry", lambda _: Registry([bank]))
        opening = bootstrap.open_services(replace(webhook_settings, pool_size=4), "kontor tests, news")
        services = await opening.__aenter__()
    yield services, bank
    await opening.__aexit__(None, None, None)


@pytest.fixture
async def webhook_setup(office, receiver, user, news_services):
    services, bank = news_services
    bank.__init__()
    await office.register(receiver)
    return Newsroom(office, services, bank, user, receiver)


# transactions.new


async def test_new_transactions_of_a_refresh_are_counted_per_product(webhook_setup):
    await webhook_setup.add()
    assert await webhook_setup.news() == []  # whoever adds an access waits for it
    webhook_setup.bank.transactions["giro"] += rows(2, first=100)
    await webhook_setup.fetch()
    (event,) = await webhook_setup.news()
    assert event == {
        "type": "transactions.new",
        "serial": 1,
        "createdAt": event["createdAt"],
        "tenant": webhook_setup.office.name,
        "user": str(webhook_setup.user.user_id),
        "bankzugang": {"id": "a", "href": f"{webhook_setup.office.http.base_url}/customer/v2/bankzugaenge/a"},
        "produkte": [{"id": webhook_setup.product(), "neueUmsaetze": 2}],
        "cursor": event["cursor"],
    }
    webhook_setup.bank.transactions["giro"] += rows(1, first=200)
    webhook_setup.bank.transactions["spar"] += rows(4, first=300)
    await webhook_setup.fetch(is_attended=True)
    (event,) = await webhook_setup.news()
    found = {product["id"]: product["neueUmsaetze"] for product in event["produkte"]}
    assert (event["serial"], found) == (2, {webhook_setup.product(): 1, webhook_setup.product("spar"): 4})


async def read_changes(webhook_setup, since):
    view = DeltaView(None, CUSTOMER_FIELDS)
    return await webhook_setup.services.deltas.read(webhook_setup.user, since, 100, view)


async def test_the_cursor_of_an_event_is_the_position_after_it(webhook_setup):
    await webhook_setup.add()
    own = (await read_changes(webhook_setup, None)).cursor
    webhook_setup.bank.transactions["giro"] += rows(2, first=100)
    await webhook_setup.fetch()
    (event,) = await webhook_setup.news()
    delta = await read_changes(webhook_setup, own)
    assert (len(delta.new), delta.cursor) == (2, event["cursor"])
    assert (await read_changes(webhook_setup, event["cursor"])).new == []


async def test_an_event_counts_what_has_changed_and_what_is_gone(webhook_setup):
    (known,) = rows(1)
    pending = replace(known, purpose="Vorgemerkt 7", is_pending=True, amount=Decimal(7))
    webhook_setup.bank.transactions["giro"] = (known, pending)
    await webhook_setup.add()
    webhook_setup.bank.transactions["giro"] = (replace(known, booking_text="GUTSCHRIFT"), *rows(1, first=50))
    await webhook_setup.fetch()
    (event,) = await webhook_setup.news()
    assert event["produkte"] == [{"id": webhook_setup.product(), "neueUmsaetze": 1, "geaendert": 1, "entfernt": 1}]


async def test_a_refresh_without_news_tells_nothing(webhook_setup):
    await webhook_setup.add()
    await webhook_setup.fetch()
    assert await webhook_setup.news() == []


async def test_what_a_receiver_is_told_is_there_when_it_reads(webhook_setup):
    """Delivery, serial and transactions are one commit: no look finds the one without the other."""
    await webhook_setup.add()
    owner, seen = webhook_setup.office.owner, set()
    query = (
        "select (select count(*) from transactions where user_id = %(user)s and purpose like 'Umsatz 4%%'),"
        " (select count(*) from transaction_tags g join transactions x on x.user_id = g.user_id and x.id ="
        " g.transaction_id where x.user_id = %(user)s and x.purpose like 'Umsatz 4%%'),"
        " (select count(*) from webhook_deliveries where user_id = %(user)s),"
        " (select last_serial from webhooks), (select count(*) from pgqueuer where entrypoint = 'deliver')"
    )
    webhook_setup.bank.transactions["giro"] += rows(5, first=400)
    fetching = asyncio.create_task(webhook_setup.fetch())
    while not fetching.done():
        seen.add(owner.execute(query, {"user": webhook_setup.user.user_id}).fetchone())
        await asyncio.sleep(0)
    await fetching
    seen.add(owner.execute(query, {"user": webhook_setup.user.user_id}).fetchone())
    assert seen == {(0, 0, 0, 0, 0), (5, 5, 1, 1, 1)}


async def test_a_fetch_that_could_not_be_stored_tells_nothing_and_uses_no_serial(webhook_setup, monkeypatch):
    await webhook_setup.add()
    webhook_setup.bank.transactions["giro"] += rows(2, first=500)
    results = webhook_setup.services.fetching._results
    publish = results._publish

    async def publish_and_fail(*facts: Any) -> None:
        await publish(*facts)
        raise ConnectionError("at the very end")

    monkeypatch.setattr(results, "_publish", publish_and_fail)
    with pytest.raises(ConnectionError):
        await webhook_setup.fetch()
    assert await webhook_setup.news() == []
    (last,) = webhook_setup.office.owner.execute("select last_serial from webhooks").fetchone()
    assert last == 0


async def test_an_access_without_sync_is_nobodys_business(webhook_setup):
    await webhook_setup.add(is_synced=False)
    webhook_setup.bank.transactions["giro"] += rows(2, first=600)
    await webhook_setup.fetch(await webhook_setup.request())
    assert await webhook_setup.news() == []


# access.error and access.sca_required


async def test_an_error_in_the_background_is_told_once_until_it_is_over(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.refusal = UNREACHABLE
    await webhook_setup.fetch()
    (event,) = await webhook_setup.news()
    assert (event["type"], event["bankzugang"]["id"], event["produkte"]) == ("access.error", "a", [])
    await webhook_setup.fetch()
    assert await webhook_setup.told() == []
    webhook_setup.bank.refusal = None
    await webhook_setup.fetch()
    webhook_setup.bank.refusal = UNREACHABLE
    await webhook_setup.fetch()
    assert await webhook_setup.told() == ["access.error"]


async def test_an_error_that_somebody_sees_is_no_event(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.refusal = UNREACHABLE
    await webhook_setup.fetch(is_attended=True)
    assert await webhook_setup.told() == []


async def test_a_part_that_fails_is_an_error_beside_what_is_new(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.transactions["giro"] += rows(1, first=700)
    webhook_setup.bank.problems = (Problem(ProblemKind.TRANSACTIONS, "spar"),)
    await webhook_setup.fetch()
    assert await webhook_setup.told() == ["transactions.new", "access.error"]


async def test_a_fetch_that_was_interrupted_for_good_is_an_error(webhook_setup):
    await webhook_setup.add()
    await webhook_setup.services.fetching._results.note_interrupted(webhook_setup.user.user_id, "a")
    assert await webhook_setup.told() == ["access.error"]


async def test_deactivated_users_are_nobodys_errors_and_nobodys_ending_consents(webhook_setup):
    webhook_setup.bank.consent_until = datetime.now(BERLIN).date() + timedelta(days=10)
    await webhook_setup.add()
    users = webhook_setup.services.users
    found = await users.read_any_user(webhook_setup.user, webhook_setup.user.tenant_name, webhook_setup.user.user_id)
    await users.deactivate_user(webhook_setup.user, found)
    await webhook_setup.services.fetching._results.note_interrupted(webhook_setup.user.user_id, "a")  # its last fetch
    await webhook_setup.services.refreshing.warn_of_consents()
    assert await webhook_setup.told() == []
    assert (await webhook_setup.services.accesses.read_access(webhook_setup.user, "a")).access.issues == ()
    await users.reactivate_user(
        webhook_setup.user,
        await users.read_any_user(webhook_setup.user, webhook_setup.user.tenant_name, found.id),
        NewUser(found.username, Secret("another password")),
    )
    await webhook_setup.services.refreshing.warn_of_consents()
    assert await webhook_setup.told() == ["consent.expiring"]


async def test_a_demand_for_sca_in_the_background_is_told_once(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.refusal = demand_tan()
    await webhook_setup.fetch()
    (event,) = await webhook_setup.news()
    assert (event["type"], event["bankzugang"]["id"]) == ("access.sca_required", "a")
    await webhook_setup.fetch()
    assert await webhook_setup.told() == []


# consent.expiring


async def test_a_consent_that_ends_soon_is_told_once(webhook_setup):
    webhook_setup.bank.consent_until = datetime.now(BERLIN).date() + timedelta(days=10)
    await webhook_setup.add()
    assert await webhook_setup.services.refreshing.warn_of_consents() >= 1
    (event,) = await webhook_setup.news()
    assert (event["type"], event["user"]) == ("consent.expiring", str(webhook_setup.user.user_id))
    await webhook_setup.services.refreshing.warn_of_consents()
    assert await webhook_setup.told() == []


# payment.status


async def pay(webhook_setup):
    payments = webhook_setup.services.payments
    product_id = make_product_id(webhook_setup.user.user_id, "a", "giro")
    debtor = await payments.debtors.find_stored(webhook_setup.user, "a", product_id, PaymentKind.SINGLE)
    request = PaymentRequest(PaymentKind.SINGLE, (ORDER,), payment_id=uuid4())
    return (await payments.initiate(webhook_setup.user, debtor, request)).payment


async def test_what_became_of_a_payment_is_told(webhook_setup):
    await webhook_setup.add()
    payment = await pay(webhook_setup)
    assert payment.state is PaymentState.EXECUTED
    (event,) = await webhook_setup.news()
    href = f"{webhook_setup.office.http.base_url}/customer/v2/payment/single-transfer/{payment.id}"
    assert (event["type"], event["bankzugang"]["id"]) == ("payment.status", "a")
    assert event["transfer"] == {"paymentId": str(payment.id), "href": href}


async def test_a_refused_payment_is_told(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.refusal = Failed(FailureKind.REJECTED)
    assert (await pay(webhook_setup)).state is PaymentState.FAILED
    assert await webhook_setup.told() == ["payment.status"]


async def test_an_unknown_payment_is_told_and_again_when_it_is_known(webhook_setup):
    await webhook_setup.add()
    webhook_setup.bank.outcome = webhook_setup.bank.later = PaymentOutcome.UNKNOWN
    payment = await pay(webhook_setup)
    assert (payment.state, await webhook_setup.told()) == (PaymentState.UNKNOWN, ["payment.status"])
    recovery = webhook_setup.services.payments.recovery
    await recovery.look_up(payment)
    assert await webhook_setup.told() == []  # still unknown: nothing has changed
    webhook_setup.bank.later = PaymentOutcome.EXECUTED
    await recovery.look_up(payment)
    assert await webhook_setup.told() == ["payment.status"]


async def test_a_payment_whose_process_died_is_told(webhook_setup):
    await webhook_setup.add()
    payment = await pay(webhook_setup)
    await webhook_setup.news()
    webhook_setup.office.owner.execute(
        "update payments set state = 'SENDING', fence = 0, failure = null where id = %s", [payment.id]
    )
    await webhook_setup.services.payments.recovery.close_orphaned(webhook_setup.user.user_id, payment.id)
    assert await webhook_setup.told() == ["payment.status"]


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

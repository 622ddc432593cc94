"""Consents and payments driven to their end, with every kind of authentication of the demo bank."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import msgspec
import pytest
from comparing import find_lost

from banking import DEMO_BANK, new_customer
from consenting import decide_at_bank, new_login
from kontor.domain.clocks import BERLIN
from kontor_client import (
    ApiError,
    AsyncKontor,
    Authenticator,
    Kontor,
    Order,
    ProductCategory,
    TimeLimitError,
    authentication,
)
from kontor_client.sessions import encode_json

CALLBACK = "https://example.com/back?state=1"
PRESENT = {"callback_url": CALLBACK, "customer_ip": "8.8.8.8"}
PAYEE = "DE89370400440532013000"
ORDER = Order(recipient="Erika Mustermann", iban=PAYEE, amount=Decimal("12.30"), purpose="Rechnung", bic="COBADEFFXXX")


@pytest.fixture(autouse=True)
def _poll_quickly(monkeypatch):
    monkeypatch.setattr(authentication, "POLL_SECONDS", 0.05)


@dataclass
class Person:
    """A user who does as told; what was asked is remembered."""

    tans: list[str | None] = field(default_factory=lambda: ["12"])
    method: int | None = 901
    medium: str = "Mein Tablet"
    pays_anyway: bool = True
    owner: object = None
    asked: list[str] = field(default_factory=list)

    def choose_method(self, methods):
        self.asked.append("method")
        assert self.method is None or self.method in [method.code for method in methods]
        return self.method

    def choose_medium(self, media):
        self.asked.append("medium")
        assert self.medium in [medium.name for medium in media]
        return self.medium

    def enter_tan(self, challenge, is_repeated):
        self.asked.append("tan again" if is_repeated else "tan")
        assert challenge.content.instructions
        return self.tans.pop(0)

    def confirm(self, challenge):
        self.asked.append("confirm")
        assert challenge.is_decoupled

    def follow_redirect(self, url):
        self.asked.append("redirect")
        return urlsplit(decide_at_bank(self.owner, url)).query or "code=xyz"

    def decide_payee(self, message):
        self.asked.append(f"payee {message.code}")
        return self.pays_anyway


class AsyncPerson(Person):
    """The same, with coroutines."""

    async def choose_method(self, methods):
        return super().choose_method(methods)

    async def enter_tan(self, challenge, is_repeated):
        return super().enter_tan(challenge, is_repeated)


async def consent(own: AsyncKontor, login: str, person: Authenticator, **options):
    access_id = str(uuid4())
    credentials = {"userid": new_login(login), "pin": "demo"}
    status = await own.give_consent(
        access_id, person, provider_id=DEMO_BANK, credentials=credentials, **PRESENT, **options
    )
    return access_id, status


@pytest.mark.parametrize(
    ("login", "person", "asked"),
    [
        ("test_sca_method", AsyncPerson(method=900), ["method", "tan"]),
        ("test_sca_method_media", Person(["4711112"]), ["method", "medium", "tan"]),
        ("test_decoupled", Person(), ["confirm"]),
        pytest.param("test_phototan", Person(["8534842"]), ["tan"], marks=pytest.mark.long),
        pytest.param("test_chiptan", Person(["936086"]), ["tan"], marks=pytest.mark.long),
        ("test_sca_method", Person(["7", "12"], method=900), ["method", "tan", "tan again"]),
    ],
)
async def test_a_consent_is_given_and_the_access_complete(own, login, person, asked):
    access_id, status = await consent(own, login, person)
    assert (status.is_given, person.asked) == (True, asked)
    assert (await own.wait_until_complete(access_id)).products


async def test_a_consent_is_given_on_the_banks_page(own, owner):
    person = Person(owner=owner)
    access_id, status = await consent(own, "test_redirect", person)
    assert (status.is_given, person.asked) == (True, ["redirect"])
    await own.wait_until_complete(access_id)


async def test_the_third_wrong_tan_ends_it(own):
    person = Person(["7", "7", "7"], method=900)
    _, status = await consent(own, "test_sca_method", person)
    assert (status.is_given, status.code) == (False, "BA3040")


@pytest.mark.parametrize("person", [Person(method=None), Person([None], method=900)], ids=["method", "tan"])
async def test_nothing_as_an_answer_cancels(own, person):
    _, status = await consent(own, "test_sca_method", person)
    assert status.code == "BA3040"


async def test_a_consent_is_renewed_with_what_is_stored(own):
    access_id, _ = await consent(own, "test_sca_method", Person(method=900))
    await own.wait_until_complete(access_id)
    person = Person(method=900, medium="Mein Handy")
    status = await own.give_consent(access_id, person, asks_settings=True, **PRESENT)
    assert (status.is_given, person.asked) == (True, ["method", "medium", "tan"])


async def test_an_authenticator_that_fails_is_heard(own):
    class Gone(Person):
        def choose_method(self, methods):
            raise RuntimeError("the user has left")

    with pytest.raises(RuntimeError, match="the user has left"):
        await consent(own, "test_sca_method", Gone())


async def test_waiting_for_the_app_ends_after_its_time(own):
    with pytest.raises(TimeLimitError):
        await consent(own, "test_decoupled", Person(), timeout_seconds=0)


# Payments


@pytest.fixture(scope="module")
def payer(bank_server: str, shared) -> Iterator[tuple[Kontor, str, str]]:
    """A client without asyncio, an access and its checking account."""
    with Kontor(bank_server, new_customer(shared).token) as client:
        access = client.add_access(DEMO_BANK, {"userid": "student+payer", "pin": "demo"})
        complete = client.wait_until_complete(access.id)
        giro = next(product for product in complete.products if product.category == ProductCategory.CHECKING)
        assert giro.can_transfer
        yield client, access.id, giro.id


def order_to(iban: str = PAYEE, amount: str = "1.00") -> Order:
    name = "Erika Mustermann" if iban == PAYEE else f"Erika Mustermann {iban[-4:]}"  # else it is warned of
    return Order(recipient=name, iban=iban, amount=Decimal(amount), purpose=uuid4().hex, bic="COBADEFFXXX")


def pay(payer, order, person, **options):
    client, access_id, product_id = payer
    return client.pay(access_id, product_id, order, person, **PRESENT, **options)


def test_a_payment_is_made(payer):
    person = Person(["2"])
    status = pay(payer, order_to(amount="1.20"), person)
    assert status.is_executed
    assert status.transfer.details.amount == Decimal("1.20")
    assert person.asked[-1] == "tan"
    found = payer[0].read_transfer(status.transfer.payment_id)
    assert found.is_executed
    said = payer[0].request("GET", found.href("self")).json()
    assert find_lost(said, msgspec.json.decode(encode_json(found))) == [".transfer.ebics"]
    assert status.transfer.payment_id in [payment.transfer.payment_id for payment in payer[0].list_payments()]
    assert b"pain.001" in payer[0].export_transfer(status.transfer.payment_id)


def test_several_are_paid_at_once(payer):
    status = pay(payer, [order_to(), order_to()], Person(["2"]))
    assert status.is_executed
    assert len(status.transfer.details) == 2
    assert payer[0].read_transfer(status.transfer.payment_id, is_bulk=True).is_executed


def test_the_same_payment_id_pays_once(payer):
    payment_id, order = str(uuid4()), order_to()
    first = pay(payer, order, Person(["2"]), payment_id=payment_id)
    person = Person([])
    again = pay(payer, order, person, payment_id=payment_id)
    assert (first.transfer.payment_id, again.is_executed, person.asked) == (payment_id, True, [])
    with pytest.raises(ApiError) as caught:
        pay(payer, order_to(amount="2.00"), Person([]), payment_id=payment_id)
    assert caught.value.status == 409


@pytest.mark.parametrize(("pays_anyway", "is_executed"), [(True, True), (False, False)])
def test_the_user_decides_about_a_payee_that_does_not_fit(payer, pays_anyway, is_executed):
    person = Person(["2"], pays_anyway=pays_anyway)
    status = pay(payer, order_to("DE71999999990000000009"), person)
    assert "payee BA1120" in person.asked
    assert (status.is_executed, status.is_failed) == (is_executed, not is_executed)


def test_a_payee_is_verified_before(payer):
    client, access_id, product_id = payer
    order = order_to("DE98999999990000000008")
    found = client.verify_payee(access_id, product_id, order)
    assert found.results[0].result == "CLOSE_MATCH"
    person = Person(["2"])
    status = pay(payer, order, person, payment_id=found.payment_id, verification_id=found.id)
    assert status.is_executed
    assert [question for question in person.asked if "payee" in question] == []


def test_a_refusal_of_the_bank_is_a_failure(payer):
    status = pay(payer, order_to("DE93999999990000000001"), Person(["2"]))
    assert (status.is_failed, status.code) == (True, "BA1104")


def test_an_unknown_outcome_is_waited_for(payer):
    status = pay(payer, order_to("DE12999999990000000004"), Person(["2"]))
    assert status.is_unknown
    assert payer[0].wait_for_outcome(status.transfer.payment_id, 60).is_executed


def test_an_order_is_cancelled(payer):
    client, access_id, product_id = payer
    status = client.order_transfer(access_id, product_id, order_to(), **PRESENT)
    assert client.cancel_transfer(status.transfer.payment_id).is_failed


def test_a_payment_is_confirmed_in_the_app(bank_server, customer):
    access_id, person = str(uuid4()), Person()
    credentials = {"userid": new_login("test_decoupled"), "pin": "demo"}
    with Kontor(bank_server, customer.token) as client:
        client.give_consent(access_id, person, provider_id=DEMO_BANK, credentials=credentials, **PRESENT)
        product = client.wait_until_complete(access_id).products[0]
        status = client.pay(access_id, product.id, order_to(), person, **PRESENT)
    assert (status.is_executed, person.asked) == (True, ["confirm", "confirm"])


async def test_a_redirect_tenants_user_pays_in_the_form(server, redirect_tenant):
    async with await AsyncKontor.login(server, *redirect_tenant.app, "anna", "annas password") as client:
        details = {
            "recipient": "E",
            "iban": PAYEE,
            "amount": Decimal("1.10"),
            "purpose": "p",
            "bic": "COBADEFFXXX",
            "currency": "EUR",
        }
        answer = await client.request(
            "POST",
            "/customer/v2/payment/single-transfer",
            params={"callbackUrl": "https://example.com/back"},
            json={"instant": False, "transferDetails": details},
            headers={"Customer-IP-Address": "8.8.8.8"},
        )
    assert answer.status == 451
    assert "webform" in answer.headers["location"]


def test_a_status_with_a_form_asks_nothing():
    body = {
        "messages": [],
        "relations": [
            {"rel": "self", "href": "https://kontor.example/p"},
            {"rel": "get_webform", "href": "https://kontor.example/form"},
        ],
        "transfer": {
            "paymentId": "p", "ebics": False, "instant": False,
            "transferDetails": {"recipient": "E", "purpose": "p", "iban": "i", "currency": "EUR", "amount": 1.1},
        },
    }  # fmt: skip
    transport = httpx.MockTransport(lambda _: httpx.Response(451, json=body))
    with Kontor("https://kontor.example", "t", transport=transport) as client:
        status = client.pay("a", "p", ORDER, Person([]), **PRESENT)
    assert status.web_form == "https://kontor.example/form"


async def test_a_step_that_was_answered_elsewhere_is_looked_at_again(own):
    access_id = str(uuid4())
    credentials = {"userid": new_login("test_sca_method"), "pin": "demo"}
    consent_id = await own.start_consent(access_id, provider_id=DEMO_BANK, credentials=credentials, **PRESENT)

    class Twice(Person):
        """Chooses the method in a second window, too."""

        async def choose_method(self, methods):
            await own.request("POST", f"/customer/v2/consent/{consent_id}", json={"chosenScaMethodId": 900})
            return super().choose_method(methods)

    person = Twice(method=900)
    status = await own.authenticate_consent(consent_id, person)
    assert (status.is_given, person.asked) == (True, ["method", "tan"])


def test_a_standing_order_is_created_changed_and_deleted(payer):
    client, access_id, product_id = payer
    first, order = datetime.now(BERLIN).date() + timedelta(days=20), order_to(amount="3.00")
    plan = {"period": "MONTH_ONE", "first_execution_date": first}
    status = client.create_standing_order(access_id, product_id, order, **plan, **PRESENT)
    status = client.authenticate_standing_order(status.transfer.payment_id, Person(["2"]))
    assert status.is_executed
    assert (status.transfer.period, status.transfer.first_execution_date) == ("MONTH_ONE", first)
    order_id = status.transfer.standing_order_id
    assert order_id is not None
    listed = client.read_standing_order(access_id, product_id, order_id)
    assert (listed.is_active, listed.next_execution_date, listed.details.amount) == (True, first, Decimal("3.00"))
    assert order_id in [found.id for found in client.list_standing_orders(access_id, product_id)]
    said = client.request("GET", listed.href("self")).json()
    assert find_lost(said, msgspec.json.decode(encode_json(listed))) == []
    changed = client.change_standing_order(
        access_id, product_id, order_id, order, **plan | {"period": "YEAR_ONE"}, **PRESENT
    )
    cancelled = client.cancel_standing_order(changed.transfer.payment_id)
    assert cancelled.is_failed
    changed = client.change_standing_order(
        access_id, product_id, order_id, order, **plan | {"period": "YEAR_ONE"}, **PRESENT
    )
    assert client.authenticate_standing_order(changed.transfer.payment_id, Person(["2"])).is_executed
    assert client.read_standing_order(access_id, product_id, order_id).period == "YEAR_ONE"
    deleted = client.delete_standing_order(access_id, product_id, order_id, **PRESENT)
    assert client.authenticate_standing_order(deleted.transfer.payment_id, Person(["2"])).is_executed
    assert client.read_standing_order_status(deleted.transfer.payment_id).is_executed
    assert not client.read_standing_order(access_id, product_id, order_id).is_active


def test_a_file_of_orders_is_paid(payer):
    client, access_id, product_id = payer
    exported = client.export_transfer(pay(payer, order_to(amount="1.10"), Person(["2"])).transfer.payment_id)
    (status,) = client.order_file(access_id, product_id, exported, **PRESENT)
    paid = client.authenticate_transfer(status.transfer.payment_id, Person(["2"]))
    assert (paid.is_executed, paid.transfer.details.amount) == (True, Decimal("1.10"))
    assert client.order_file(access_id, product_id, exported, **PRESENT)[0].is_executed

"""What is refused before any bank sees it: with 400, the code, and the name of the field."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from paying import CALLBACK, CUSTOMER, DETAILS, PRESENT, SAVINGS

from kontor.domain.clocks import BERLIN
from kontor.domain.order_checks import CURRENCIES

WRONG = [
    ("iban", "DE89370400440532013001"),
    ("iban", "DE8937040044053201300"),
    ("iban", "XX89370400440532013000"),
    ("iban", ""),
    ("iban", "DE89-3704-0044-0532-0130-00"),
    ("bic", "COBADEFFXX"),
    ("bic", "COBA1EFF"),
    ("bic", ""),
    ("currency", "EURO"),
    ("currency", "eur"),
    ("currency", "XXX"),
    ("amount", 0),
    ("amount", -1),
    ("amount", 0.001),
    ("amount", 1.005),
    ("amount", 1e15),
    ("amount", "12.30"),
    ("amount", None),
    ("amount", True),
    ("purpose", "x" * 141),
    ("purpose", "ü" * 71),
    ("purpose", "日本"),
    ("purpose", "a\nb"),
    ("purpose", "5 €"),
    ("recipient", ""),
    ("recipient", "   "),
    ("recipient", "x" * 71),
    ("recipient", "<b>"),
    ("endToEndId", "x" * 36),
    ("endToEndId", ""),
    ("endToEndId", "Müller"),
    ("endToEndId", "//"),
    ("purposeCode", "SAL"),
    ("purposeCode", "SALAR"),
    ("purposeCode", "SA1A"),
    ("ultimateDebtor", "x" * 71),
    ("ultimateCreditor", "日本"),
]


@pytest.mark.parametrize(("field", "value"), WRONG, ids=[f"{name}-{number}" for number, (name, _) in enumerate(WRONG)])
async def test_a_wrong_value_is_named(payer, field, value):
    answer = await payer.order(**{field: value})
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert body["message"].startswith(f"transferDetails.{field}: ")
    (message,) = body["messages"]
    assert (message["level"], message["code"]) == ("ERROR", "BA1100")
    assert field in message["details"]
    assert await payer.list_payments() == []


@pytest.mark.parametrize("field", ["recipient", "purpose", "iban", "bic", "currency", "amount"])
async def test_a_missing_value_is_named(payer, field):
    details = {key: value for key, value in DETAILS.items() if key != field}
    answer = await payer.order({"instant": False, "transferDetails": details})
    assert answer.status_code == 400
    assert answer.json()["message"] == f"transferDetails.{field}: is required"
    assert answer.json()["messages"][0]["code"] == "BA1100"


async def test_the_entry_of_a_bulk_transfer_is_named(payer):
    body = {"instant": False, "transferDetails": [DETAILS, DETAILS | {"iban": "DE00"}]}
    answer = await payer.order(body, what="bulk-transfer")
    assert (answer.status_code, answer.json()["message"]) == (400, "transferDetails[1].iban: is not a valid IBAN")
    empty = await payer.order({"instant": False, "transferDetails": []}, what="bulk-transfer")
    assert (empty.status_code, empty.json()["messages"][0]["code"]) == (400, "BA1100")


@pytest.mark.parametrize(
    ("value", "fits"),
    [("yesterday", False), ("today", True), ("next year", True), ("2026-13-01", False), ("tomorrow", True), (7, False)],
)
async def test_execution_date_lies_not_in_the_past(payer, value, fits):
    days = {"yesterday": -1, "today": 0, "tomorrow": 1, "next year": 365}
    if value in days:
        value = (datetime.now(UTC) + timedelta(hours=1, days=days[value])).date().isoformat()
    answer = await payer.order({"instant": False, "requestedExecutionDate": value, "transferDetails": DETAILS})
    assert answer.status_code == (200 if fits else 400), answer.text
    if not fits:
        assert "requestedExecutionDate" in answer.json()["message"]
        assert answer.json()["messages"][0]["code"] == "BA1100"


@pytest.mark.parametrize(("days", "status"), [(0, 200), (1, 400), (30, 400)])
@pytest.mark.parametrize("what", ["single-transfer", "bulk-transfer"])
async def test_an_instant_transfer_with_a_later_day_is_refused(payer, what, days, status):
    day = (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()
    details = [DETAILS] if what == "bulk-transfer" else DETAILS
    body = {"instant": True, "requestedExecutionDate": day, "transferDetails": details}
    before = len(payer.environment.bank.orders)
    answer = await payer.order(body, what=what)
    assert answer.status_code == status, answer.text
    if status == 400:
        assert answer.json()["message"] == "requestedExecutionDate: an instant transfer has no later day"
        assert answer.json()["messages"][0]["code"] == "BA1100"
        assert len(payer.environment.bank.orders) == before


@pytest.mark.parametrize("value", ["no", 1, None])
async def test_instant_is_a_required_boolean(payer, value):
    answer = await payer.order({"instant": value, "transferDetails": DETAILS})
    assert answer.status_code == 400
    assert "instant" in answer.json()["message"]
    assert (await payer.order({"transferDetails": DETAILS})).status_code == 400


@pytest.mark.parametrize(
    ("query", "headers", "name"),
    [
        ({}, {"Customer-IP-Address": None}, "Customer-IP-Address"),
        ({}, {"Customer-IP-Address": "10.0.0.1"}, "Customer-IP-Address"),
        ({"callbackUrl": None}, {}, "callbackUrl"),
        ({"callbackUrl": "https://evil.example/"}, {}, "callbackUrl"),
        ({"callbackUrl": "http://example.com/"}, {}, "callbackUrl"),
        ({"paymentId": "4711"}, {}, "paymentId"),
        ({"queryTanSettings": "maybe"}, {}, "queryTanSettings"),
        ({}, {"Rejection-NoFunds-Preferred": "maybe"}, "Rejection-NoFunds-Preferred"),
        ({}, {"Idempotency-Key": "x" * 256}, "Idempotency-Key"),
    ],
)
async def test_wrong_headers_and_parameters_are_named(payer, query, headers, name):
    query = {key: value for key, value in (CALLBACK | query).items() if value is not None}
    headers = {key: value for key, value in (PRESENT | headers).items() if value is not None}
    answer = await payer.post(
        payer.path(), {"instant": False, "transferDetails": DETAILS}, params=query, headers=headers
    )
    assert (answer.status_code, answer.json()["message"].startswith(f"{name}: ")) == (400, True), answer.text


async def test_a_product_without_transfers_cannot_pay(payer):
    body = {"instant": False, "transferDetails": DETAILS}
    answer = await payer.post(payer.path(product=SAVINGS), body, params=CALLBACK, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")


async def test_without_stored_credentials_nothing_can_be_paid(environment):
    payer = await environment.new_payer(is_synced=False)
    answer = await payer.order()
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")
    product = (await payer.get(payer.path("").removesuffix("/payment/"))).json()
    assert product["transferSupport"] is True, "that is what the account can, also without stored credentials"
    assert not {"initiate_single_transfer", "initiate_bulk_transfer"} & {
        relation["rel"] for relation in product["relations"]
    }


async def test_the_object_is_looked_for_before_the_body_is_read(payer):
    url = f"{CUSTOMER}/bankzugaenge/{payer.access_id}/{uuid4()}/payment/single-transfer"
    assert (await payer.post(url, ["nonsense"])).status_code == 404
    assert (await payer.post(f"{CUSTOMER}/ueberweisung/{uuid4()}/{payer.product()}", [])).status_code == 404


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"provider": "11111111-1111-1111-1111-111111111111"}, None),
        ({"provider": "no uuid"}, "BA1100"),
        ({"credentials": {"userid": "bm90aGluZw==", "pin": "bm90aGluZw=="}}, None),
        ({"credentials": {}}, "BA1012"),
        ({"product": "11111111-1111-1111-1111-111111111111"}, "BA1100"),
        ({"product": "DE00123456781234567890"}, "BA1100"),
        ({"product": ""}, "BA1100"),
    ],
)
async def test_wrong_origins_of_a_payment_are_refused(payer, change, code):
    body = {
        "provider": "00000000-0000-0000-0000-000000000000",
        "credentials": await payer.credentials(),
        "product": "giro",
        "instant": False,
        "transferDetails": DETAILS,
    }
    url = f"{CUSTOMER}/payment/single-transfer"
    answer = await payer.post(url, body | change, params=CALLBACK, headers=PRESENT)
    assert answer.status_code == 400, answer.text
    assert next(iter(change)) in answer.json()["message"]
    assert [message["code"] for message in answer.json()["messages"]] == ([] if code is None else [code])


def test_currencies_are_those_of_iso_4217():
    assert len(CURRENCIES) > 150
    assert {"EUR", "USD", "CHF", "PLN"} <= CURRENCIES

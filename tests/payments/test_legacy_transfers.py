"""The legacy transfer: ordered with its TAN method, released with a TAN."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from paying import BANK, CUSTOMER, IBAN, SAVINGS
from scripted_bank import CHIP, LIST, MOCK, PHONE, PHOTO, TABLET

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome

ORDER = {
    "empfaenger": "Erika Mustermann",
    "verwendungszweck": "Rechnung 4711",
    "iban": IBAN,
    "bic": "COBADEFFXXX",
    "waehrung": "EUR",
    "betrag": 12.3,
    "sicherheitsverfahrenKodierung": "901",
}


def url(payer, product=None):
    return f"{CUSTOMER}/ueberweisung/{BANK}/{product or payer.product()}"


async def start(payer, **changes):
    body = ORDER | {"credentials": await payer.credentials()} | changes
    return await payer.post(url(payer), {key: value for key, value in body.items() if value is not None})


async def started(payer, **changes):
    answer = await start(payer, **changes)
    assert answer.status_code == 200, answer.text
    return answer.json()


def codes(status):
    return [message["code"] for message in status["messages"]]


def href(status):
    (relation,) = status["relations"]
    assert relation["rel"] == "submit_text_tan"
    return relation["href"]


async def submit(payer, status, tan="12"):
    return await payer.put(href(status), {"tan": tan})


async def count(payer):
    rows = await payer.environment.execute("select id from payments where user_id = %s", payer.principal.user_id)
    return len(rows)


async def test_order_then_tan(payer):
    status = await started(payer)
    assert codes(status) == ["BA1110"]
    assert status["messages"][0]["level"] == "INFO"
    assert set(status) == {"messages", "relations", "timeout", "hinweis"}
    berlin = datetime.now(UTC).astimezone(ZoneInfo("Europe/Berlin")).replace(tzinfo=None)
    timeout = datetime.strptime(status["timeout"], "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007
    assert timedelta(minutes=4) < timeout - berlin <= timedelta(minutes=5)
    assert href(status).startswith(payer.environment.http.base_url.__str__().rstrip("/") + url(payer))
    answer = await submit(payer, status)
    assert (answer.status_code, answer.json()["relations"]) == (200, [])
    assert codes(answer.json()) == ["BA1111"]
    assert set(answer.json()) == {"messages", "relations"}
    late = await submit(payer, status)
    assert (late.status_code, late.json()) == (409, answer.json())


async def test_every_field_reaches_the_bank(environment):
    payer = await environment.new_payer(methods=(MOCK, LIST), media=(PHONE, TABLET))
    day = (datetime.now(BERLIN).date() + timedelta(days=2)).isoformat()
    status = await started(
        payer,
        empfaenger="Jörg",
        verwendungszweck="Grüße",
        ausfuehrungsdatum=day,
        sicherheitsverfahrenKodierung="900",
        tanMediumName="Tablet",
    )
    assert codes(status) == ["BA1110"]
    job = list(environment.bank.orders.values())[-1]
    assert (str(job.execution_date), job.is_bulk, job.is_instant) == (day, False, False)
    assert (job.orders[0].recipient, job.orders[0].purpose, job.orders[0].bic) == ("Joerg", "Gruesse", "COBADEFFXXX")
    chosen = [
        getattr(answer, "code", None) or getattr(answer, "name", None) for answer in environment.bank.answers[-2:]
    ]
    assert chosen == ["900", "Tablet"]


@pytest.mark.parametrize(("challenge", "field"), [(PHOTO, "photo"), (CHIP, "HHDUC")])
async def test_optical_challenges_are_shown(environment, challenge, field):
    payer = await environment.new_payer(challenge=challenge)
    status = await started(payer)
    assert set(status["challenge"]) == {"name", "content"}
    assert set(status["challenge"]["content"]) == {"instructions", field}


async def test_a_wrong_tan_keeps_the_state_and_changes_the_hint(payer):
    status = await started(payer)
    hints = [status["hinweis"]]
    for _ in range(2):
        answer = await submit(payer, status, "99")
        assert answer.status_code == 200
        again = answer.json()
        assert (again["timeout"], href(again)) == (status["timeout"], href(status))
        assert codes(again) == ["BA1103", "BA1110"]
        hints.append(again["hinweis"])
    assert len(set(hints)) == 3
    third = (await submit(payer, status, "99")).json()
    assert (codes(third), third["relations"]) == (["BA1103"], [])
    assert "timeout" not in third
    late = await submit(payer, status)
    assert (late.status_code, late.json()) == (409, third)


async def test_after_the_timeout_no_tan_is_taken(payer):
    status = await started(payer)
    payment_id = href(status).rpartition("/")[2]
    await payer.environment.execute(
        "update payments set expires_at = now() - interval '1 second' where id = %s", payment_id
    )
    answer = await submit(payer, status)
    assert (answer.status_code, codes(answer.json()), answer.json()["relations"]) == (409, ["BA1103"], [])
    assert sum(payer.environment.bank.executed.values()) == 0 or payment_id not in payer.environment.bank.executed


@pytest.mark.parametrize(
    ("facts", "changes", "code", "field"),
    [
        ({}, {"sicherheitsverfahrenKodierung": "777"}, "BA1101", "sicherheitsverfahrenKodierung"),
        ({"way": "confirmation"}, {}, "BA1101", "sicherheitsverfahrenKodierung"),
        ({"way": "redirect"}, {}, "BA1101", "sicherheitsverfahrenKodierung"),
        ({"media": (PHONE, TABLET)}, {"tanMediumName": "Toaster"}, "BA1100", "tanMediumName"),
        ({"media": (PHONE, TABLET)}, {}, "BA1100", "tanMediumName"),
    ],
    ids=["unknown method", "decoupled", "redirect", "unknown medium", "medium missing"],
)
async def test_a_method_or_medium_that_cannot_be_used(environment, facts, changes, code, field):
    payer = await environment.new_payer(**facts)
    answer = await start(payer, **changes)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, code)
    assert field in answer.json()["message"]
    states = await environment.execute(
        "select distinct state from payments where user_id = %s", payer.principal.user_id
    )
    assert states == [("FAILED",)]


async def test_a_method_that_the_access_does_not_have_never_reaches_the_bank(payer):
    await payer.environment.execute(
        """update accesses set methods = '[{"code": "900", "name": "iTAN"}]' where id = %s""", payer.access_id
    )
    answer = await start(payer)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1101")
    assert await count(payer) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("empfaenger", ""), ("empfaenger", "x" * 71), ("verwendungszweck", "x" * 141), ("verwendungszweck", "日本"),
        ("iban", "DE00"), ("bic", "X"), ("waehrung", "EURO"), ("betrag", 0), ("betrag", -1), ("betrag", 1.234),
        ("betrag", "1"), ("ausfuehrungsdatum", "2020-01-01"), ("ausfuehrungsdatum", "morgen"),
    ],
)  # fmt: skip
async def test_a_wrong_value_is_named(payer, field, value):
    answer = await start(payer, **{field: value})
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100")
    assert answer.json()["message"].startswith(f"{field}: ")
    assert await count(payer) == 0


@pytest.mark.parametrize("field", [*ORDER, "credentials"])
async def test_a_missing_value_is_named(payer, field):
    answer = await start(payer, **{field: None})
    assert (answer.status_code, answer.json()["message"]) == (400, f"{field}: is required")


async def test_foreign_products_and_providers_do_not_exist(environment, payer):
    stranger = await environment.new_payer()
    body = ORDER | {"credentials": await stranger.credentials()}
    assert (await stranger.post(url(payer), body)).status_code == 404
    other = f"{CUSTOMER}/ueberweisung/{uuid4()}/{payer.product()}"
    assert (await payer.post(other, body)).status_code == 404
    status = await started(payer)
    assert (await stranger.put(href(status), {"tan": "12"})).status_code == 404
    moved = href(status).replace(str(payer.product()), str(payer.product(SAVINGS)))
    assert (await payer.put(moved, {"tan": "12"})).status_code == 404


async def test_a_product_without_transfers_cannot_pay(payer):
    body = ORDER | {"credentials": await payer.credentials()}
    answer = await payer.post(url(payer, payer.product(SAVINGS)), body)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")


async def test_credentials_of_the_order_are_used_and_forgotten(environment):
    """Also where the access has none of its own."""
    payer = await environment.new_payer(is_synced=False)
    status = await started(payer)
    payment_id = href(status).rpartition("/")[2]
    assert codes((await submit(payer, status)).json()) == ["BA1111"]
    rows = await environment.execute("select sealed, credentials from payments where id = %s", payment_id)
    assert rows == [(None, None)]


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ({"verdict": Failed(FailureKind.NO_FUNDS)}, "BA1104"),
        ({"verdict": Failed(FailureKind.REJECTED)}, "BA1104"),
        ({"outcome": PaymentOutcome.ACCEPTED}, "BA1112"),
        ({"way": "none"}, "BA1111"),
        ({"refusal": Failed(FailureKind.WRONG_CREDENTIALS)}, "BA1011"),
        ({"refusal": Failed(FailureKind.UNREACHABLE)}, "BA1051"),
        ({"payees": (PayeeResult(PayeeMatch.NO_MATCH),)}, "BA1111"),
    ],
)
async def test_every_outcome(environment, plan, code):
    payer = await environment.new_payer(**plan)
    status = await started(payer)
    if codes(status) == ["BA1110"]:
        status = (await submit(payer, status)).json()
    assert (codes(status), status["relations"]) == ([code], [])


async def test_an_unknown_outcome_can_be_followed(environment):
    payer = await environment.new_payer(fault="unknown")
    status = (await submit(payer, await started(payer))).json()
    assert codes(status) == ["BA1113"]
    (relation,) = status["relations"]
    assert relation["rel"] == "get_single_transfer"
    assert codes((await payer.get(relation["href"])).json()) == ["BA1113"]


async def test_the_same_order_again_is_refused_or_answered_again(payer):
    first = await started(payer)
    again = await start(payer)
    assert (again.status_code, again.json()["messages"][0]["code"]) == (409, "BA1104")
    body = ORDER | {"credentials": await payer.credentials(), "betrag": 5}
    answers = [await payer.post(url(payer), body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json() != first


async def test_an_empty_tan_costs_no_attempt(payer):
    status = await started(payer)
    assert (await submit(payer, status, " ")).status_code == 400
    assert (await payer.put(href(status), {})).status_code == 400
    assert codes((await submit(payer, status)).json()) == ["BA1111"]


async def test_redirect_tenants_have_no_legacy_transfer(environment):
    payer = await environment.new_payer(environment.redirecting)
    assert (await start(payer)).status_code == 400
    product = (await payer.get(f"{CUSTOMER}/bankzugaenge/{payer.access_id}/{payer.product()}")).json()
    offered = {relation["rel"] for relation in product["relations"]}
    assert "start_ueberweisung" not in offered
    assert "initiate_single_transfer" in offered

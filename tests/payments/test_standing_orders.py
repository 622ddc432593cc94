"""Standing orders over the API: each action is a payment, sent once, and the list follows the bank's word."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from paying import CALLBACK, CUSTOMER, DETAILS, GIRO, IBAN, LIMITED, PRESENT, SAVINGS, Transfer
from test_unknown_outcomes import recover

from kontor.connectors.base import Fetched
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import Order, PayeeMatch, PayeeResult, PaymentOutcome, PaymentState
from kontor.domain.redirects import UseCase
from kontor.domain.sca_machine import AnswerKind
from kontor.domain.schedules import Period, Schedule, StandingAction
from kontor.domain.standing_orders import StandingOrder
from kontor.services.fetching.writing import FetchWriting
from kontor.services.sca.steps import make_answer
from kontor.wire.payment_messages import FAILURES, name_standing_order

OTHER = "DE02120300000000202051"
NO_MATCH = (PayeeResult(PayeeMatch.NO_MATCH),)


def in_days(days):
    return (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()


def body(**facts):
    return {"transferDetails": DETAILS, "period": "MONTH_ONE", "firstExecutionDate": in_days(10)} | facts


def order_path(payer, order_id=None, product=GIRO):
    path = payer.path("standing-order", product)
    return path if order_id is None else f"{path}/{order_id}"


def query(payment_id=None):
    return CALLBACK | {"paymentId": payment_id or str(uuid4())}


async def create(payer, payment_id=None, product=GIRO, **facts):
    url = order_path(payer, product=product)
    answer = await payer.post(url, body(**facts), params=query(payment_id), headers=PRESENT)
    assert answer.status_code == 200, answer.text
    return Transfer(payer, answer.json())


async def change(payer, order_id, payment_id=None, **facts):
    url = order_path(payer, order_id)
    answer = await payer.put(url, body(**facts), params=query(payment_id), headers=PRESENT)
    assert answer.status_code == 200, answer.text
    return Transfer(payer, answer.json())


async def delete(payer, order_id, payment_id=None):
    answer = await payer.delete(order_path(payer, order_id), params=query(payment_id), headers=PRESENT)
    assert answer.status_code == 200, answer.text
    return Transfer(payer, answer.json())


async def list_orders(payer, product=GIRO):
    answer = await payer.get(order_path(payer, product=product))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_created_standing_order_is_listed_under_the_id_of_its_status(payer):
    transfer = await create(payer, lastExecutionDate=in_days(400))
    assert await list_orders(payer) == []
    assert "standingOrderId" not in transfer.status["transfer"]
    await transfer.tan()
    assert (transfer.codes, transfer.rels) == (["BA1111"], ["self", "get_standing_order"])
    assert transfer.status["messages"][0]["message"] == "Der Dauerauftrag wurde eingerichtet."
    shown = transfer.status["transfer"]
    order_id = shown.pop("standingOrderId")
    assert {name: shown[name] for name in ("period", "firstExecutionDate", "lastExecutionDate", "instant")} == {
        "period": "MONTH_ONE",
        "firstExecutionDate": in_days(10),
        "lastExecutionDate": in_days(400),
        "instant": False,
    }
    (listed,) = await list_orders(payer)
    base = str(payer.environment.http.base_url).rstrip("/")
    here = f"{base}{order_path(payer, order_id)}"
    assert listed == {
        "id": order_id,
        "state": "ACTIVE",
        "transferDetails": DETAILS,
        "period": "MONTH_ONE",
        "firstExecutionDate": in_days(10),
        "nextExecutionDate": in_days(10),
        "lastExecutionDate": in_days(400),
        "relations": [
            {"rel": "self", "href": here},
            {"rel": "change_standing_order", "href": here},
            {"rel": "delete_standing_order", "href": here},
        ],
    }
    assert (await payer.get(here)).json() == listed
    assert transfer.executions == 1


async def test_what_is_changed_and_deleted_keeps_its_id(payer):
    created = await (await create(payer)).tan()
    order_id = created.status["transfer"]["standingOrderId"]
    changed = await (await change(payer, order_id, period="WEEK_TWO", firstExecutionDate=in_days(3))).tan()
    assert changed.status["transfer"]["standingOrderId"] == order_id
    assert changed.status["messages"][0]["message"] == "Der Dauerauftrag wurde geändert."
    (listed,) = await list_orders(payer)
    assert (listed["id"], listed["period"], listed["nextExecutionDate"]) == (order_id, "WEEK_TWO", in_days(3))
    assert payer.environment.bank.orders[changed.bank_id].standing.key == f"DA-{created.bank_id}"
    deleted = await (await delete(payer, order_id)).tan()
    assert deleted.status["messages"][0]["message"] == "Der Dauerauftrag wurde gelöscht."
    (ended,) = await list_orders(payer)
    assert (ended["id"], ended["state"]) == (order_id, "ENDED")
    assert [relation["rel"] for relation in ended["relations"]] == ["self"]
    assert "nextExecutionDate" not in ended


async def test_the_same_payment_id_is_answered_again_also_after_the_order_has_ended(payer):
    order_id = (await (await create(payer)).tan()).status["transfer"]["standingOrderId"]
    mine = str(uuid4())
    first = await (await delete(payer, order_id, mine)).tan()
    again = await delete(payer, order_id, mine)
    assert again.status == first.status
    assert first.executions == 1
    refused = await payer.delete(order_path(payer, order_id), params=query(), headers=PRESENT)
    assert (refused.status_code, refused.json()["messages"][0]["code"]) == (400, "BA1104")
    other = await payer.put(order_path(payer, order_id), body(), params=query(mine), headers=PRESENT)
    assert other.status_code == 409


async def test_the_same_order_without_a_key_within_a_minute_is_refused(payer):
    url = order_path(payer)
    assert (await payer.post(url, body(), params=CALLBACK, headers=PRESENT)).status_code == 200
    second = await payer.post(url, body(), params=CALLBACK, headers=PRESENT)
    assert second.status_code == 409
    other = await payer.post(url, body(period="YEAR_ONE"), params=CALLBACK, headers=PRESENT)
    assert other.status_code == 200


# The payee


async def test_a_new_payee_is_verified_when_created(environment):
    payer = await environment.new_payer(payees=NO_MATCH)
    transfer = await create(payer)
    assert (transfer.codes, transfer.rels) == (["BA1120"], ["self", "confirm_vop", "cancel"])
    await transfer.answer("confirm_vop")
    await transfer.tan()
    assert transfer.codes == ["BA1111"]


async def test_a_change_verifies_the_payee_with_a_new_iban_only(environment):
    payer = await environment.new_payer()
    order_id = (await (await create(payer)).tan()).status["transfer"]["standingOrderId"]
    payer.plan.payees = NO_MATCH
    renamed = await change(payer, order_id, transferDetails=DETAILS | {"amount": 20, "iban": f" {IBAN.lower()}"})
    assert renamed.codes == ["BA3030"]
    moved = await change(payer, order_id, transferDetails=DETAILS | {"iban": OTHER})
    assert moved.codes == ["BA1121"], "the name was paid at another IBAN"
    await moved.answer("confirm_vop")
    assert moved.codes == ["BA1120"]
    deleted = await delete(payer, order_id)
    assert deleted.codes == ["BA3030"]


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ({"recipient": "Erik Muster"}, "Empfänger 1: diese IBAN hatte bisher den Namen Vermieter"),
        ({"recipient": "Vermieter", "iban": OTHER}, f"Empfänger 1: dieser Name hatte bisher die IBAN {IBAN}"),
    ],
)
async def test_a_change_of_name_or_iban_is_warned_of_also_where_the_bank_created_the_order(payer, details, told):
    await refresh(payer, rent("800.00"))
    (listed,) = await list_orders(payer)
    changed = await change(payer, listed["id"], transferDetails=DETAILS | details)
    assert (changed.codes, changed.rels) == (["BA1121"], ["self", "confirm_vop", "cancel"])
    assert changed.status["messages"][0]["details"] == told
    evidence = (await payer.get(f"{CUSTOMER}/payment/{changed.id}/evidence")).json()
    assert evidence["shownText"].endswith(told)
    await changed.answer("confirm_vop")
    await changed.tan()
    assert (changed.codes, changed.executions) == (["BA1111"], 1)


async def test_a_change_that_keeps_the_payee_asks_nothing(payer):
    await refresh(payer, rent("800.00"))
    await (await payer.pay(recipient="Erika Mustermann")).tan()  # the same IBAN by another name
    (listed,) = await list_orders(payer)
    dearer = DETAILS | {"recipient": "VERMIETER", "amount": 820}
    assert (await change(payer, listed["id"], transferDetails=dearer)).codes == ["BA3030"]


async def test_a_verification_before_is_used_once(environment):
    payer = await environment.new_payer(payees=NO_MATCH)
    mine = str(uuid4())
    answer = await payer.post(payer.path("vop"), {"transferDetails": DETAILS}, params={"paymentId": mine})
    verified = answer.json()["vopId"]
    transfer = await create(payer, mine, vopId=verified)
    assert transfer.codes == ["BA3030"]
    again = await payer.post(order_path(payer), body(vopId=verified), params=query(), headers=PRESENT)
    assert again.status_code == 400


# What is refused


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"period": "MONTH_FOUR"}, "period"),
        ({"firstExecutionDate": "2020-01-01"}, "firstExecutionDate"),
        ({"firstExecutionDate": "soon"}, "firstExecutionDate"),
        ({"lastExecutionDate": "2020-01-01"}, "lastExecutionDate"),
        ({"transferDetails": DETAILS | {"iban": "DE00"}}, "transferDetails.iban"),
        ({"transferDetails": DETAILS | {"amount": 0}}, "transferDetails.amount"),
        ({"transferDetails": None}, "transferDetails"),
    ],
)
async def test_wrong_data_is_refused_with_the_name_of_the_field(payer, facts, field):
    answer = await payer.post(order_path(payer), body(**facts), params=query(), headers=PRESENT)
    assert answer.status_code == 400, answer.text
    assert field in answer.json()["message"]
    assert answer.json()["messages"][0]["code"] == "BA1100"
    assert await list_orders(payer) == []


async def test_a_bank_that_cannot_is_not_asked(payer):
    refused = await payer.post(order_path(payer, product=SAVINGS), body(), params=query(), headers=PRESENT)
    assert (refused.status_code, refused.json()["messages"][0]["code"]) == (400, "BA1104")
    created = await (await create(payer, product=LIMITED)).tan()
    order_id = created.status["transfer"]["standingOrderId"]
    url = order_path(payer, order_id, LIMITED)
    for answer in (
        await payer.put(url, body(), params=query(), headers=PRESENT),
        await payer.delete(url, params=query(), headers=PRESENT),
    ):
        assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")
    (listed,) = await list_orders(payer, LIMITED)
    assert [relation["rel"] for relation in listed["relations"]] == ["self"]


async def test_relations_are_offered_where_the_bank_can(payer):
    offered = {}
    for product in (GIRO, LIMITED, SAVINGS):
        answer = await payer.get(f"{CUSTOMER}/bankzugaenge/{payer.access_id}/{payer.product(product)}")
        rels = {relation["rel"] for relation in answer.json()["relations"]}
        offered[product.key] = rels & {"get_standing_orders", "initiate_standing_order"}
    both = {"get_standing_orders", "initiate_standing_order"}
    assert offered == {"giro": both, "limited": both, "spar": set()}


async def test_orders_of_others_are_not_found(environment, payer):
    order_id = (await (await create(payer)).tan()).status["transfer"]["standingOrderId"]
    stranger = await environment.new_payer()
    for url in (order_path(payer, order_id), order_path(stranger, order_id), order_path(payer, order_id, LIMITED)):
        who = stranger if url != order_path(payer, order_id, LIMITED) else payer
        assert (await who.get(url)).status_code == 404
        assert (await who.put(url, [], params=query(), headers=PRESENT)).status_code == 404
        assert (await who.delete(url, params=query(), headers=PRESENT)).status_code == 404
    assert (await stranger.get(order_path(payer))).status_code == 404
    assert (await stranger.post(order_path(payer), [], params=query(), headers=PRESENT)).status_code == 404


async def test_reading_needs_read_and_ordering_needs_transfer(payer):
    await payer.log_in("http://service/customer/read")
    assert (await payer.get(order_path(payer))).status_code == 200
    answer = await payer.post(order_path(payer), body(), params=query(), headers=PRESENT)
    assert answer.status_code == 403
    await payer.log_in("http://service/customer/ueberweisung")
    assert (await payer.get(order_path(payer))).status_code == 403


async def test_headers_and_query_are_those_of_a_transfer(payer):
    url = order_path(payer)
    assert (await payer.post(url, body(), params=query())).status_code == 400
    assert (await payer.post(url, body(), headers=PRESENT)).status_code == 400
    answer = await payer.post(url, body(), params=query("no uuid"), headers=PRESENT)
    assert answer.json()["message"] == "paymentId: expected a UUID"


# Unknown outcomes


async def test_an_unknown_creation_is_looked_up_listed_then_and_never_sent_again(environment):
    payer = await environment.new_payer(fault="unknown")
    transfer = await (await create(payer)).tan()
    assert transfer.codes == ["BA1113"]
    assert "Überweisung" not in transfer.status["messages"][0]["message"]
    assert await list_orders(payer) == []
    await recover(transfer)
    assert transfer.codes == ["BA1111"]
    (listed,) = await list_orders(payer)
    assert listed["id"] == transfer.status["transfer"]["standingOrderId"]
    assert transfer.executions == 1


async def test_a_creation_that_never_arrived_lists_nothing(environment):
    payer = await environment.new_payer(fault="after-guard")
    transfer = await (await create(payer)).tan()
    await recover(transfer)
    assert transfer.codes == ["BA1104"]
    assert await list_orders(payer) == []


async def test_an_accepted_standing_order_is_listed_and_not_looked_up_again(environment):
    payer = await environment.new_payer(outcome=PaymentOutcome.ACCEPTED)
    transfer = await (await create(payer)).tan()
    assert transfer.codes == ["BA1112"]
    assert len(await list_orders(payer)) == 1
    ((due,),) = await environment.execute("select next_lookup_at from payments where id = %s", transfer.id)
    assert due is None


async def test_a_product_that_was_deleted_meanwhile_does_not_keep_the_outcome_from_being_stored(environment):
    payer = await environment.new_payer()
    transfer = await create(payer)
    await environment.execute("delete from products where id = %s", payer.product())
    await transfer.tan()
    assert transfer.codes == ["BA1111"]


def test_no_text_about_a_standing_order_speaks_of_a_transfer():
    for _, text in FAILURES.values():
        assert "Überweisung" not in name_standing_order(text)


# Refresh


async def refresh(payer, *listed, product=GIRO):
    """As a fetch does in its transaction."""
    user_id = payer.principal.user_id
    async with payer.environment.services.database.transaction(user_id) as connection:
        await FetchWriting._write_standing_orders(
            connection, user_id, {product.key: payer.product(product)}, {product.key: listed}
        )


def rent(amount, key="DA1", days=5):
    day = datetime.now(BERLIN).date() + timedelta(days=days)
    return StandingOrder(
        Order("Vermieter", IBAN, Decimal(amount), purpose="Miete"), Schedule(Period.MONTH_ONE, day), key
    )


async def test_a_refresh_brings_the_banks_list_and_keeps_ids(payer):
    first = rent("800.00")
    await refresh(payer, first)
    (listed,) = await list_orders(payer)
    assert (listed["transferDetails"]["recipient"], listed["state"]) == ("Vermieter", "ACTIVE")
    await refresh(payer, replace(first, order=replace(first.order, amount=Decimal("850.00"))))
    (dearer,) = await list_orders(payer)
    assert (dearer["id"], dearer["transferDetails"]["amount"]) == (listed["id"], 850.0)
    await refresh(payer)
    (ended,) = await list_orders(payer)
    assert (ended["id"], ended["state"]) == (listed["id"], "ENDED")


async def test_a_deletion_by_the_banks_list_does_not_touch_other_products(payer):
    await refresh(payer, rent("1.00"))
    await refresh(payer, rent("1.00"), product=LIMITED)
    await refresh(payer, product=LIMITED)
    assert [order["state"] for order in await list_orders(payer)] == ["ACTIVE"]
    assert [order["state"] for order in await list_orders(payer, LIMITED)] == ["ENDED"]


def test_a_fetch_that_asked_no_list_changes_nothing():
    assert Fetched({}).standing_orders == {}


# Redirect tenants


async def test_every_action_of_a_redirect_tenant_goes_through_the_web_form(environment):
    visitor = await environment.new_payer(environment.redirecting)
    drafts, paying = environment.services.payment_drafts, environment.services.payments

    async def finish(answer):
        assert answer.status_code == 451, answer.text
        location = parse_qs(urlsplit(answer.headers["location"]).query)
        assert location["useCase"] == [UseCase.INITIATE_PAYMENT]
        payment_id = UUID(answer.json()["transfer"]["paymentId"])
        await drafts.start(visitor.principal, payment_id, customer_ip="8.8.8.8", callback_url="https://example.com/r")
        tan = make_answer(AnswerKind.TAN, "12")
        return (await paying.answer(visitor.principal, payment_id, AnswerKind.TAN, tan)).payment

    created = await finish(await visitor.post(order_path(visitor), body(), params=CALLBACK, headers=PRESENT))
    assert created.state is PaymentState.EXECUTED
    (listed,) = await list_orders(visitor)
    url = order_path(visitor, listed["id"])
    changed = await finish(await visitor.put(url, body(period="YEAR_ONE"), params=CALLBACK, headers=PRESENT))
    assert changed.standing.action is StandingAction.CHANGE
    assert changed.is_payee_accepted
    assert [order["period"] for order in await list_orders(visitor)] == ["YEAR_ONE"]
    await finish(await visitor.delete(url, params=CALLBACK, headers=PRESENT))
    assert [order["state"] for order in await list_orders(visitor)] == ["ENDED"]


async def test_the_audit_trail_has_every_step(payer):
    transfer = await (await create(payer)).tan()
    assert await payer.audit(transfer.id) == [
        "payment.order", "payment.step", "payment.answer", "payment.send", "payment.executed",
    ]  # fmt: skip

"""Direct debits over the API: collected once, by clients that may, with the words of direct debits."""

from datetime import date, datetime, timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from paying import CALLBACK, CUSTOMER, GIRO, IBAN, LIMITED, PRESENT, SAVINGS, Transfer, make_tenant
from test_unknown_outcomes import recover

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.clocks import BERLIN
from kontor.domain.mandates import DebitScheme, Mandate, SequenceType
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome
from kontor.domain.redirects import UseCase

CREDITOR = "DE98ZZZ09999999999"
DEBIT = {
    "debtor": "Erika Mustermann",
    "iban": IBAN,
    "amount": 12.3,
    "currency": "EUR",
    "purpose": "Beitrag 2026",
    "mandateId": "M-4711",
    "mandateDate": "2026-01-31",
    "sequenceType": "RCUR",
}


def in_days(days):
    return (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()


def body(*debits, **facts):
    common = {"scheme": "CORE", "creditorId": CREDITOR, "requestedCollectionDate": in_days(5)}
    return common | {"debits": list(debits or (DEBIT,))} | facts


@pytest.fixture(scope="module")
async def collecting(environment):
    """A tenant whose client is made for direct debits."""
    return await make_tenant(environment.services, is_regulated=True, may_collect=True)


@pytest.fixture
async def collector(environment, collecting):
    return await environment.new_payer(collecting, outcome=PaymentOutcome.ACCEPTED)


async def send(payer, order=None, product=GIRO, query=None, **headers):
    query = {"paymentId": str(uuid4())} if query is None else query
    url = payer.path("direct-debit", product)
    return await payer.post(url, order or body(), params=CALLBACK | query, headers=PRESENT | headers)


async def collect(payer, order=None, **facts):
    answer = await send(payer, order, **facts)
    assert answer.status_code == 200, answer.text
    return Transfer(payer, answer.json())


async def test_a_direct_debit_is_authorised_and_shown_as_it_was_ordered(collector):
    debit = DEBIT | {"bic": "COBADEFFXXX", "endToEndId": "RE-1"}
    transfer = await collect(collector, body(debit))
    assert transfer.codes == ["BA3030"]
    await transfer.tan()
    assert (transfer.codes, transfer.rels, transfer.executions) == (["BA1112"], ["self", "get_direct_debit"], 1)
    assert transfer.href("get_direct_debit").endswith(f"{CUSTOMER}/payment/direct-debit/{transfer.id}")
    assert transfer.status["messages"][0]["message"] == (
        "Die Bank hat die Lastschrift angenommen und zieht sie am Fälligkeitstag ein."
    )
    assert transfer.status["transfer"] == {
        "paymentId": transfer.id,
        "ebics": False,
        "instant": False,
        "provider": "00000000-0000-0000-0000-000000000000",
        "product": str(collector.product()),
        "scheme": "CORE",
        "creditorId": CREDITOR,
        "requestedCollectionDate": in_days(5),
        "debits": [debit],
    }
    assert (await collector.list_payments())[0]["transfer"] == transfer.status["transfer"]


async def test_the_bank_gets_scheme_creditor_and_each_debits_mandate(collector):
    second = DEBIT | {"debtor": "Max", "amount": 1, "mandateId": "M-2", "mandateDate": "2025-12-24"}
    transfer = await collect(collector, body(DEBIT, second, scheme="B2B"))
    job = collector.environment.bank.orders[transfer.bank_id]
    assert (job.is_bulk, job.is_payee_accepted, str(job.execution_date)) == (True, True, in_days(5))
    assert [(order.recipient, str(order.amount)) for order in job.orders] == [
        ("Erika Mustermann", "12.30"),
        ("Max", "1.00"),
    ]
    assert (job.debit.scheme, job.debit.creditor_id, job.debit.sequence) == (
        DebitScheme.B2B,
        CREDITOR,
        SequenceType.RCUR,
    )
    assert job.debit.mandates == (
        Mandate("M-4711", date(2026, 1, 31)),
        Mandate("M-2", date(2025, 12, 24)),
    )
    await transfer.tan()
    assert transfer.status["messages"][0]["message"].startswith("Die Bank hat die Sammellastschrift angenommen")
    assert transfer.executions == 1


async def test_debtors_are_not_verified_as_payees(environment, collecting):
    payer = await environment.new_payer(collecting, payees=(PayeeResult(PayeeMatch.NO_MATCH),))
    assert (await collect(payer)).codes == ["BA3030"]


async def test_a_client_that_was_not_made_for_it_is_refused_before_anything_is_looked_at(payer):
    answer = await send(payer)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (403, "BA1104")
    unknown = payer.path("direct-debit").replace(str(payer.product()), str(uuid4()))
    assert (await payer.post(unknown, {}, params=CALLBACK, headers=PRESENT)).status_code == 403
    assert await payer.list_payments() == []


@pytest.mark.parametrize("creditor", ["DE99ZZZ09999999999", "DE98ZZZ0999999999", "x", ""])
async def test_a_creditor_identifier_that_is_none_is_403(collector, creditor):
    answer = await send(collector, body(creditorId=creditor))
    assert (answer.status_code, answer.json()["message"]) == (403, "creditorId: is not a valid creditor identifier")
    assert answer.json()["messages"][0]["message"] == "Lastschriften können hier nicht eingezogen werden."
    assert await collector.list_payments() == []


WRONG = {
    "scheme": ({"scheme": "COR1"}, "scheme"),
    "no scheme": ({"scheme": None}, "scheme"),
    "no creditor": ({"creditorId": 1}, "creditorId"),
    "day": ({"requestedCollectionDate": "morgen"}, "requestedCollectionDate"),
    "today": ({"requestedCollectionDate": in_days(0)}, "requestedCollectionDate: must lie in the future"),
    "no debits": ({"debits": []}, "debits"),
    "debits": ({"debits": DEBIT}, "debits"),
    "debtor": ({"debits": [DEBIT | {"debtor": ""}]}, "debits[0].debtor: is empty"),
    "iban": ({"debits": [DEBIT, DEBIT | {"iban": "DE00"}]}, "debits[1].iban: is not a valid IBAN"),
    "bic": ({"debits": [DEBIT | {"bic": "1"}]}, "debits[0].bic: is not a BIC"),
    "amount": ({"debits": [DEBIT | {"amount": "12.30"}]}, "debits[0].amount: expected a number"),
    "cents": ({"debits": [DEBIT | {"amount": 1.234}]}, "debits[0].amount: at most two decimals"),
    "currency": ({"debits": [DEBIT | {"currency": "CHF"}]}, "debits[0].currency"),
    "purpose": ({"debits": [DEBIT | {"purpose": "€"}]}, "debits[0].purpose"),
    "reference": ({"debits": [DEBIT | {"endToEndId": "x" * 36}]}, "debits[0].endToEndId"),
    "mandate": ({"debits": [DEBIT | {"mandateId": ""}]}, "debits[0].mandateId"),
    "no mandate": ({"debits": [{key: DEBIT[key] for key in DEBIT if key != "mandateId"}]}, "mandateId"),
    "mandate's day": ({"debits": [DEBIT | {"mandateDate": in_days(3)}]}, "debits[0].mandateDate: lies in the future"),
    "sequence": ({"debits": [DEBIT | {"sequenceType": "NEXT"}]}, "debits[0].sequenceType"),
    "two sequences": ({"debits": [DEBIT, DEBIT | {"sequenceType": "FRST"}]}, "debits[1].sequenceType"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_wrong_field_is_400_and_named(collector, case):
    facts, words = WRONG[case]
    answer = await send(collector, body(**facts))
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100"), answer.text
    assert words in answer.json()["message"]
    assert answer.json()["messages"][0]["message"] == "Die Angaben zur Lastschrift sind ungültig."
    assert await collector.list_payments() == []


@pytest.mark.parametrize(
    ("product", "order"),
    [(SAVINGS, body()), (LIMITED, body(scheme="B2B")), (LIMITED, body(DEBIT, DEBIT | {"amount": 2}))],
)
async def test_what_the_bank_cannot_collect_is_400_and_ba1104(collector, product, order):
    answer = await send(collector, order, product)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")
    assert "Lastschriften" in answer.json()["messages"][0]["message"]


async def test_the_relation_is_offered_where_client_and_bank_can(payer, collector):
    async def list_rels(user, product):
        answer = await user.get(f"{CUSTOMER}/bankzugaenge/{user.access_id}/{user.product(product)}")
        return {relation["rel"]: relation["href"] for relation in answer.json()["relations"]}

    offered = await list_rels(collector, GIRO)
    assert offered["initiate_direct_debit"].endswith(collector.path("direct-debit"))
    assert "initiate_direct_debit" not in await list_rels(collector, SAVINGS)
    assert "initiate_direct_debit" not in await list_rels(payer, GIRO)
    whole = (await payer.get(CUSTOMER)).text + (await payer.get(f"{CUSTOMER}/bankzugaenge")).text
    assert "direct_debit" not in whole


async def test_the_same_payment_id_collects_once_and_another_order_under_it_is_409(collector):
    mine = {"paymentId": str(uuid4())}
    first = await (await collect(collector, query=mine)).tan()
    again = await collect(collector, query=mine)
    assert (again.status, first.executions) == (first.status, 1)
    for other in (body(scheme="B2B"), body(DEBIT | {"mandateId": "M-2"}), body(requestedCollectionDate=in_days(6))):
        assert (await send(collector, other, query=mine)).status_code == 409


async def test_an_identical_order_without_a_key_is_refused_and_a_transfer_is_another_order(collector):
    await collect(collector, query={})
    answer = await send(collector, query={})
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (409, "BA1104")
    assert answer.json()["messages"][0]["message"] == "Dieselbe Lastschrift wurde gerade erst beauftragt."
    assert (await collector.order(query={})).status_code == 200


async def test_an_unknown_outcome_is_looked_up_and_never_sent_again(environment, collecting):
    payer = await environment.new_payer(collecting, fault="unknown")
    transfer = await (await collect(payer)).tan()
    assert (transfer.codes, transfer.executions) == (["BA1113"], 1)
    assert "nicht erneut" in transfer.status["messages"][0]["message"]
    await recover(transfer)
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)
    assert transfer.status["messages"][0]["message"] == "Die Lastschrift wurde eingezogen."


async def test_an_accepted_collection_is_asked_about_after_its_day(collector):
    transfer = await (await collect(collector)).tan()
    ((due,),) = await collector.environment.execute(
        "select next_lookup_at::date - current_date from payments where id = %s", transfer.id
    )
    assert due in (5, 6, 7)


async def test_a_refusal_speaks_of_direct_debits(environment, collecting):
    refusal = Failed(FailureKind.REJECTED, "Kein Inkassovertrag.")
    payer = await environment.new_payer(collecting, verdict=refusal)
    transfer = await (await collect(payer)).tan()
    (message,) = transfer.status["messages"]
    assert (message["code"], message["message"], message["details"]) == (
        "BA1104",
        "Die Bank hat die Lastschrift abgelehnt.",
        "Kein Inkassovertrag.",
    )


async def test_polling_and_cancelling_work_under_the_status_of_a_direct_debit(environment, collecting):
    payer = await environment.new_payer(collecting, way="confirmation", polls=2, outcome=PaymentOutcome.ACCEPTED)
    transfer = await (await collect(payer)).answer("poll")
    assert transfer.codes == ["BA3030"]
    await transfer.answer("poll")
    assert transfer.codes == ["BA1112"]
    cancelled = await (await collect(payer)).answer("cancel")
    assert (cancelled.codes, cancelled.executions) == (["BA3040"], 0)


async def test_a_direct_debit_is_not_read_as_a_transfer_nor_by_somebody_else(environment, collecting, collector):
    transfer = await collect(collector)
    for what in ("single-transfer", "bulk-transfer", "standing-order"):
        assert (await collector.get(f"{CUSTOMER}/payment/{what}/{transfer.id}")).status_code == 404
    stranger = await environment.new_payer(collecting)
    assert (await stranger.get(transfer.href("self"))).status_code == 404


async def test_every_step_of_a_direct_debit_is_in_the_audit_trail(collector):
    transfer = await (await collect(collector)).tan()
    actions = await collector.audit(transfer.id)
    assert actions[0] == "payment.order"
    assert "payment.send" in actions
    assert actions[-1] == "payment.accepted"


async def test_the_export_of_a_user_has_the_mandates(collector):
    transfer = await collect(collector)
    exported = (await collector.get(f"{CUSTOMER}/export")).text
    assert transfer.id in exported
    assert "M-4711" in exported
    assert CREDITOR in exported


async def test_headers_are_checked_before_the_body(collector):
    url = collector.path("direct-debit")
    assert (await collector.post(url, {}, params=CALLBACK)).json()["message"].startswith("Customer-IP-Address")
    assert (await collector.post(url, {}, headers=PRESENT)).json()["message"].startswith("callbackUrl")
    unknown = url.replace(str(collector.product()), str(uuid4()))
    assert (await collector.post(unknown, {}, params=CALLBACK, headers=PRESENT)).status_code == 404


async def test_a_redirect_tenant_collects_through_the_web_form(environment):
    tenant = await make_tenant(environment.services, is_regulated=False, may_collect=True)
    visitor = await environment.new_payer(tenant)
    answer = await send(visitor, query={})
    assert answer.status_code == 451, answer.text
    location = parse_qs(urlsplit(answer.headers["location"]).query)
    assert location["useCase"] == [UseCase.INITIATE_PAYMENT]
    draft = await environment.services.payment_drafts.read(
        visitor.principal, UUID(answer.json()["transfer"]["paymentId"])
    )
    assert (draft.payment.state, draft.payment.debit.creditor_id) == ("DRAFT", CREDITOR)

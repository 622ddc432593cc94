"""Orders from pain.001 files: a payment per PmtInf, all checked before the first is ordered, none ordered twice."""

import asyncio
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4, uuid5

import pytest
from paying import CALLBACK, CUSTOMER, DEBTOR_IBAN, GIRO, IBAN, LIMITED, PRESENT, Transfer

from kontor.domain.clocks import BERLIN
from kontor.domain.payees import name_payee
from kontor.domain.payments import PayeeMatch, PayeeResult
from kontor.storage import payments

NINE = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"
THREE = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"


def transfer(amount="12.30", reference="RE-1", iban=IBAN, more="", purpose="Rechnung 4711"):
    return (
        f"<CdtTrfTxInf><PmtId><EndToEndId>{reference}</EndToEndId></PmtId>"
        f'<Amt><InstdAmt Ccy="EUR">{amount}</InstdAmt></Amt>{more}<Cdtr><Nm>Erika Mustermann</Nm></Cdtr>'
        f"<CdtrAcct><Id><IBAN>{iban}</IBAN></Id></CdtrAcct><RmtInf><Ustrd>{purpose}</Ustrd></RmtInf></CdtTrfTxInf>"
    )


def block(*transfers, iban=DEBTOR_IBAN, day="1999-01-01", form=NINE, kind="", method="TRF"):
    when = f"<Dt>{day}</Dt>" if form == NINE else day
    return (
        f"<PmtInf><PmtInfId>P</PmtInfId><PmtMtd>{method}</PmtMtd>{kind}<ReqdExctnDt>{when}</ReqdExctnDt>"
        f"<Dbtr><Nm>Anna</Nm></Dbtr><DbtrAcct><Id><IBAN>{iban}</IBAN></Id></DbtrAcct>"
        f"{''.join(transfers or (transfer(),))}</PmtInf>"
    )


def write(*blocks, count=None, total=None, form=NINE, message="M1"):
    body = "".join(blocks or (block(),))
    count = body.count("<CdtTrfTxInf>") if count is None else count
    control = "" if total is None else f"<CtrlSum>{total}</CtrlSum>"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Document xmlns="{form}"><CstmrCdtTrfInitn><GrpHdr>'
        f"<MsgId>{message}</MsgId><NbOfTxs>{count}</NbOfTxs>{control}</GrpHdr>{body}</CstmrCdtTrfInitn></Document>"
    ).encode()


async def send(payer, document, product=GIRO, query=None, **headers):
    return await payer.environment.http.post(
        payer.path("file", product),
        content=document,
        params=CALLBACK if query is None else query,
        headers=payer.headers | PRESENT | {"Content-Type": "application/xml"} | headers,
    )


async def order(payer, document, **facts):
    answer = await send(payer, document, **facts)
    assert answer.status_code == 200, answer.text
    return [Transfer(payer, status) for status in answer.json()]


def in_days(days):
    return (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()


@pytest.mark.parametrize("form", [THREE, NINE])
async def test_one_block_is_one_transfer(payer, form):
    more = "<CdtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></CdtrAgt>"
    if form == THREE:
        more = more.replace("BICFI", "BIC")
    document = write(block(transfer(more=more), form=form), form=form, total="12.30")
    (status,) = await order(payer, document)
    assert (status.codes, status.status["transfer"]["transferDetails"]) == (
        ["BA3030"],
        {
            "recipient": "Erika Mustermann",
            "purpose": "Rechnung 4711",
            "iban": IBAN,
            "bic": "COBADEFFXXX",
            "currency": "EUR",
            "amount": 12.3,
            "endToEndId": "RE-1",
        },
    )
    await status.tan()
    assert (status.codes, status.executions) == (["BA1111"], 1)


async def test_every_block_is_an_order_of_its_own(payer):
    later = in_days(9)
    instant = "<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>"
    document = write(
        block(transfer("1.00"), transfer("2.00")),
        block(transfer("3.00"), day=later),
        block(transfer("4.00"), kind=instant, day=in_days(0)),
        total="10.00",
    )
    bulk, dated, fast = await order(payer, document)
    assert [status.href("self").rpartition("/")[0].rpartition("/")[2] for status in (bulk, dated, fast)] == [
        "bulk-transfer",
        "single-transfer",
        "single-transfer",
    ]
    sent = [payer.environment.bank.orders[status.bank_id] for status in (bulk, dated, fast)]
    assert [(job.is_bulk, job.is_instant, job.execution_date and str(job.execution_date)) for job in sent] == [
        (True, False, None),
        (False, False, later),
        (False, True, None),
    ]
    assert [sum(part.amount for part in job.orders) for job in sent] == [Decimal(3), Decimal(3), Decimal(4)]
    for status in (bulk, dated, fast):
        await status.tan()
        assert status.executions == 1


async def test_the_same_file_again_is_the_same_payments(payer):
    document = write(block(transfer("1.00")), block(transfer("1.00")))
    first = await order(payer, document)
    assert len({status.id for status in first}) == 2
    for status in first:
        await status.tan()
    again = await order(payer, document)
    assert [status.status for status in again] == [status.status for status in first]
    assert [status.executions for status in first] == [1, 1]
    other = await order(payer, write(block(transfer("1.00")), block(transfer("1.00")), message="M2"))
    assert not {status.id for status in other} & {status.id for status in first}


async def test_a_payment_id_tells_equal_files_apart_and_is_never_used_for_another(payer):
    mine = str(uuid4())
    (first,) = await order(payer, write(), query=CALLBACK | {"paymentId": mine})
    (second,) = await order(payer, write())
    assert (first.id, second.id != mine) == (mine, True)
    changed = await send(payer, write(block(transfer("99.00"))), query=CALLBACK | {"paymentId": mine})
    assert changed.status_code == 409


async def test_an_idempotency_key_holds_for_the_whole_file(payer):
    document = write(block(transfer("1.00")), block(transfer("2.00")))
    key = {"Idempotency-Key": uuid4().hex}
    first, again = await order(payer, document, **key), await order(payer, document, **key)
    assert [status.id for status in first] == [status.id for status in again]


BAD = {
    "no XML": (b"pain", "no pain.001.001.03, pain.001.001.09"),
    "nothing": (b"", "no pain.001.001.03, pain.001.001.09, pain.008.001.02 or pain.008.001.08"),
    "cut": (write()[:-20], "cannot be read"),
    "document type": (write().replace(b"<Document", b"<!DOCTYPE x []><Document"), "no document type"),
    "another form": (write(form="urn:iso:std:iso:20022:tech:xsd:pain.001.001.02"), "no pain.001.001.03"),
    "no block": (write(block()).replace(b"PmtInf>", b"Other>"), "no PmtInf"),
    "another account": (write(block(iban=IBAN)), "PmtInf[0].DbtrAcct: is not the account of this product"),
    "second of another account": (write(block(), block(iban=IBAN)), "PmtInf[1].DbtrAcct"),
    "number": (write(count=2), "NbOfTxs"),
    "sum": (write(total="12.31"), "CtrlSum"),
    "no sum": (write(total="viel"), "CtrlSum"),
    "cheque": (write(block(method="CHK")), "PmtMtd"),
    "charges": (write(block(kind="<ChrgBr>DEBT</ChrgBr>")), "ChrgBr"),
    "iban": (write(block(transfer(iban="DE00"))), "PmtInf[0].CdtTrfTxInf.CdtrAcct: is not a valid IBAN"),
    "iban of a bulk": (
        write(block(transfer(), transfer(iban="DE00"))),
        "PmtInf[0].CdtTrfTxInf[1].CdtrAcct: is not a valid IBAN",
    ),
    "amount": (write(block(transfer("0.00"))), "InstdAmt"),
    "no amount": (write(block(transfer("viel"))), "InstdAmt"),
    "past": (write(block(day="2020-01-01")), "PmtInf[0].ReqdExctnDt: lies in the past"),
    "no day": (write(block(day="morgen")), "ReqdExctnDt"),
    "structured purpose": (write().replace(b"<Ustrd>", b"<Strd/><Ustrd>"), "Strd"),
    "two lines": (write().replace(b"<Ustrd>", b"<Ustrd>x</Ustrd><Ustrd>"), "Ustrd"),
    "character": (write(block(transfer(purpose="€"))), "RmtInf"),
    "many": (write(*(block(transfer(f"{number}.00")) for number in range(1, 12))), "at most 10"),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_cannot_be_ordered_as_it_is_written_is_refused_as_a_whole(payer, case):
    document, words = BAD[case]
    answer = await send(payer, document)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100"), answer.text
    assert words in answer.json()["message"]
    assert await payer.list_payments() == []


async def test_an_instant_order_with_a_later_day_is_refused(payer):
    instant = "<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>"
    answer = await send(payer, write(block(day=in_days(3), kind=instant)))
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100")


async def test_a_product_that_cannot_is_refused(payer):
    answer = await send(payer, write(), LIMITED)
    assert answer.status_code == 400
    assert (await send(payer, write().replace(DEBTOR_IBAN.encode(), b""), LIMITED)).status_code == 400


async def test_headers_and_content_type_are_checked(payer):
    assert (await send(payer, write(), query={})).status_code == 400
    assert (await send(payer, write(), **{"Content-Type": "application/json"})).status_code == 415
    unknown = payer.path("file").replace(str(payer.product()), str(uuid4()))
    headers = payer.headers | PRESENT | {"Content-Type": "application/xml"}
    answer = await payer.environment.http.post(unknown, content=write(), params=CALLBACK, headers=headers)
    assert answer.status_code == 404


async def test_a_redirect_tenant_orders_one_block_through_the_web_form(environment):
    visitor = await environment.new_payer(environment.redirecting)
    answer = await send(visitor, write(), query={})
    assert answer.status_code == 451, answer.text
    (status,) = answer.json()
    assert answer.headers["location"] == next(
        relation["href"] for relation in status["relations"] if relation["rel"] == "get_webform"
    )
    draft = await environment.services.payment_drafts.read(visitor.principal, UUID(status["transfer"]["paymentId"]))
    assert draft.payment.state == "DRAFT"
    two = await send(visitor, write(block(), block(transfer("1.00"))), query={})
    assert two.status_code == 400


async def limit_payee(payer, amount):
    await payer.environment.execute(
        "insert into payee_limits (user_id, id, iban, max_amount) values (%s, %s, %s, %s)",
        payer.principal.user_id,
        name_payee(payer.principal.user_id, IBAN),
        IBAN,
        amount,
    )


async def test_a_payees_limit_is_checked_for_the_sum_of_the_file_before_anything_is_ordered(payer):
    await limit_payee(payer, 50)
    refused = await send(payer, write(block(transfer("30.00")), block(transfer("30.00"))))
    assert (refused.status_code, refused.json()["messages"][0]["code"]) == (400, "BA1104")
    assert refused.json()["message"].startswith("PmtInf[0].CdtTrfTxInf.InstdAmt: exceeds the limit of 50.00")
    assert await payer.list_payments() == []
    document = write(block(transfer("20.00")), block(transfer("30.00")))
    first = await order(payer, document)
    assert [status.status for status in await order(payer, document)] == [status.status for status in first]


async def test_a_limit_that_is_used_up_meanwhile_refuses_the_whole_file(payer, monkeypatch):
    await limit_payee(payer, 50)
    insert_payment = payments.insert_payment

    async def insert_after_a_change(connection, payment, sealed):
        await payer.environment.execute("update payee_limits set max_amount = 20 where iban = %s", IBAN)
        return await insert_payment(connection, payment, sealed)

    monkeypatch.setattr(payments, "insert_payment", insert_after_a_change)
    refused = await send(payer, write(block(transfer("20.00")), block(transfer("30.00"))))
    assert (refused.status_code, refused.json()["messages"][0]["code"]) == (400, "BA1104")
    assert await payer.list_payments() == []


async def test_a_key_of_a_later_block_that_was_used_before_refuses_the_whole_file(payer):
    key = uuid4().hex
    other = await payer.pay(headers={"Idempotency-Key": f"{key}#1"}, query={})
    document = write(block(transfer("1.00")), block(transfer("2.00")))
    refused = await send(payer, document, **{"Idempotency-Key": key})
    assert refused.status_code == 409, refused.text
    assert [status["transfer"]["paymentId"] for status in await payer.list_payments()] == [other.id]
    mine = str(uuid4())
    taken = await payer.pay(query={"paymentId": str(uuid5(UUID(mine), "1"))})
    assert (await send(payer, document, query=CALLBACK | {"paymentId": mine})).status_code == 409
    known = {status["transfer"]["paymentId"] for status in await payer.list_payments()}
    assert known == {other.id, taken.id}


async def test_a_key_that_is_taken_while_the_file_is_stored_refuses_it_whole(payer, monkeypatch):
    key = uuid4().hex
    insert_payment = payments.insert_payment
    others = []

    async def insert_later_than_another(connection, payment, sealed):
        if payment.idempotency_key == f"{key}#1" and not others:
            others.append(None)
            others[0] = await payer.pay(headers={"Idempotency-Key": f"{key}#1"}, query={})
        return await insert_payment(connection, payment, sealed)

    hold = payer.environment.services.payments._leasing.hold

    @asynccontextmanager
    async def hold_apart(lease_key):
        async with hold(lease_key if not others else uuid4().bytes) as held:
            yield held

    monkeypatch.setattr(payer.environment.services.payments._leasing, "hold", hold_apart)
    monkeypatch.setattr(payments, "insert_payment", insert_later_than_another)
    refused = await send(payer, write(block(transfer("1.00")), block(transfer("2.00"))), **{"Idempotency-Key": key})
    assert refused.status_code == 409, refused.text
    assert [status["transfer"]["paymentId"] for status in await payer.list_payments()] == [others[0].id]


async def test_the_same_file_several_times_at_once_is_ordered_once(payer):
    document = write(block(transfer("1.00")), block(transfer("2.00")), block(transfer("3.00")))
    answers = await asyncio.gather(*[order(payer, document) for _ in range(4)])
    assert len({tuple(status.id for status in answer) for answer in answers}) == 1
    assert len(await payer.list_payments()) == 3
    for status in answers[0]:
        await status.tan()
        assert status.executions == 1


async def test_files_at_once_with_the_same_orders_in_another_order_are_both_ordered(payer):
    blocks = [block(transfer(f"{number}.00")) for number in range(1, 6)]
    documents = [write(*blocks, message=str(number)) for number in range(3)]
    documents += [write(*reversed(blocks), message=str(number)) for number in range(3)]
    await asyncio.gather(*[order(payer, document) for document in documents])
    assert len(await payer.list_payments()) == 30


async def test_what_was_ordered_of_a_file_before_is_answered_and_the_rest_is_ordered(payer):
    document = write(block(transfer("1.00")), block(transfer("2.00")))
    first, second = await order(payer, document)
    await payer.environment.execute("delete from payments where id = %s", second.id)
    again = await order(payer, document)
    assert [status.id for status in again] == [first.id, second.id]


@pytest.mark.parametrize("entrance", ["file", "list", "status"])
async def test_what_is_said_about_the_payees_of_a_file_is_kept(environment, entrance):
    payer = await environment.new_payer(payees=(PayeeResult(PayeeMatch.NO_MATCH),))
    shown = await order(payer, write(block(transfer("1.00")), block(transfer("2.00"))), **{"Accept-Language": "en"})
    statuses, language = [status.status for status in shown], "en"
    if entrance != "file":
        language = "de"
        paths = [f"{CUSTOMER}/payments"] if entrance == "list" else [status.href("self") for status in shown]
        answers = [(await payer.get(path, headers={"Accept-Language": "de"})).json() for path in paths]
        statuses = answers[0] if entrance == "list" else answers
    assert len(statuses) == 2
    for status in statuses:
        [message] = status["messages"]
        told = (await payer.get(f"{CUSTOMER}/payment/{status['transfer']['paymentId']}/evidence")).json()
        assert message["code"] == "BA1120"
        assert (told["shownText"], told["language"]) == (f"{message['message']}\n{message['details']}", language)


async def test_a_payee_of_a_file_that_differs_from_earlier_orders_is_kept_with_the_text(payer):
    await (await payer.pay()).tan()
    document = write(block(transfer("1.00")), block(transfer("2.00", iban="DE02500105170137075030")))
    known, other = await order(payer, document)
    assert (known.codes, other.codes) == (["BA3030"], ["BA1121"])
    [message] = other.status["messages"]
    told = (await payer.get(f"{CUSTOMER}/payment/{other.id}/evidence")).json()
    assert told["shownText"] == f"{message['message']}\n{message['details']}"

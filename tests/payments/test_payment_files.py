"""Orders from pain.001 files: a payment per PmtInf, all checked before the first is ordered, none ordered twice."""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from paying import CALLBACK, DEBTOR_IBAN, GIRO, IBAN, LIMITED, PRESENT, Transfer

from kontor.domain.clocks import BERLIN
from kontor.domain.payees import name_payee

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


async def test_a_limit_that_is_used_up_meanwhile_is_told_beside_what_was_ordered(payer, monkeypatch):
    await limit_payee(payer, 50)
    document = write(block(transfer("20.00")), block(transfer("30.00")))
    payees = payer.environment.services.payments.payees
    check_all = payees.check_all

    async def order_after_the_check(connection, made):
        await check_all(connection, made)
        if len(made) == 2:
            await limit_lower(connection)

    async def limit_lower(connection):
        await connection.execute("update payee_limits set max_amount = 20 where iban = %s", [IBAN])

    monkeypatch.setattr(payees, "check_all", order_after_the_check)
    for answer in (await send(payer, document), await send(payer, document)):
        assert answer.status_code == 200, answer.text
        ordered, refused = answer.json()
        assert (ordered["messages"][0]["code"], refused["messages"][0]["code"]) == ("BA3030", "BA1104")
        assert (refused["relations"], refused["transfer"]["transferDetails"]["amount"]) == ([], 30.0)
        assert len(await payer.list_payments()) == 1

"""Direct debits from pain.008 files, and exported as such."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from lxml import etree
from paying import CUSTOMER, DEBTOR_IBAN, GIRO, IBAN, LIMITED, make_tenant
from sepaxml.validation import try_valid_xml
from test_payment_files import order, send

from kontor.domain.clocks import BERLIN
from kontor.domain.mandates import DebitScheme, SequenceType
from kontor.domain.payments import PaymentOutcome

TWO = "urn:iso:std:iso:20022:tech:xsd:pain.008.001.02"
EIGHT = "urn:iso:std:iso:20022:tech:xsd:pain.008.001.08"
CREDITOR = "DE98ZZZ09999999999"


def in_days(days):
    return (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()


def name_creditor(creditor):
    scheme = f"<Othr><Id>{creditor}</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr>"
    return f"<CdtrSchmeId><Id><PrvtId>{scheme}</PrvtId></Id></CdtrSchmeId>" if creditor else ""


def debit(
    amount="12.30", reference="RE-1", iban=IBAN, mandate="M-1", signed="2026-01-31", more="", amended="", creditor=""
):
    return (
        f"<DrctDbtTxInf><PmtId><EndToEndId>{reference}</EndToEndId></PmtId>"
        f'<InstdAmt Ccy="EUR">{amount}</InstdAmt><DrctDbtTx><MndtRltdInf><MndtId>{mandate}</MndtId>'
        f"<DtOfSgntr>{signed}</DtOfSgntr>{amended}</MndtRltdInf>{name_creditor(creditor)}</DrctDbtTx>"
        "<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>"
        f"<Dbtr><Nm>Erika Mustermann</Nm></Dbtr><DbtrAcct><Id><IBAN>{iban}</IBAN></Id></DbtrAcct>{more}"
        "<RmtInf><Ustrd>Beitrag 2026</Ustrd></RmtInf></DrctDbtTxInf>"
    )


def block(*debits, iban=DEBTOR_IBAN, day=None, scheme="CORE", sequence="RCUR", method="DD", creditor=CREDITOR, more=""):
    return (
        f"<PmtInf><PmtInfId>P</PmtInfId><PmtMtd>{method}</PmtMtd><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl>"
        f"<LclInstrm><Cd>{scheme}</Cd></LclInstrm><SeqTp>{sequence}</SeqTp></PmtTpInf>"
        f"<ReqdColltnDt>{day or in_days(5)}</ReqdColltnDt><Cdtr><Nm>Anna</Nm></Cdtr>"
        f"<CdtrAcct><Id><IBAN>{iban}</IBAN></Id></CdtrAcct>"
        f"<CdtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></CdtrAgt>{more}"
        f"{name_creditor(creditor)}{''.join(debits or (debit(),))}</PmtInf>"
    )


def write(*blocks, count=None, total=None, form=EIGHT, message="M1"):
    body = "".join(blocks or (block(),))
    count = body.count("<DrctDbtTxInf>") if count is None else count
    control = "" if total is None else f"<CtrlSum>{total}</CtrlSum>"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Document xmlns="{form}"><CstmrDrctDbtInitn><GrpHdr>'
        f"<MsgId>{message}</MsgId><CreDtTm>2026-11-15T12:00:00</CreDtTm><NbOfTxs>{count}</NbOfTxs>{control}"
        f"<InitgPty><Nm>Anna</Nm></InitgPty></GrpHdr>{body}</CstmrDrctDbtInitn></Document>"
    ).encode()


@pytest.fixture(scope="module")
async def collecting(environment):
    return await make_tenant(environment.services, is_regulated=True, may_collect=True)


@pytest.fixture
async def collector(environment, collecting):
    return await environment.new_payer(collecting, outcome=PaymentOutcome.ACCEPTED)


@pytest.mark.parametrize("form", [TWO, EIGHT])
def test_the_files_of_these_tests_are_valid_by_the_schemas(form):
    try_valid_xml(write(form=form), form.rpartition(":")[2])


async def test_every_block_is_an_order_of_its_own(collector):
    document = write(
        block(debit("1.00"), debit("2.00", mandate="M-2")),
        block(debit("3.00"), day=in_days(9), scheme="B2B", sequence="FRST"),
        total="6.00",
    )
    bulk, single = await order(collector, document)
    sent = [collector.environment.bank.orders[status.bank_id] for status in (bulk, single)]
    assert [(job.is_bulk, job.debit.scheme, job.debit.sequence, str(job.execution_date)) for job in sent] == [
        (True, DebitScheme.CORE, SequenceType.RCUR, in_days(5)),
        (False, DebitScheme.B2B, SequenceType.FRST, in_days(9)),
    ]
    assert [[mandate.id for mandate in job.debit.mandates] for job in sent] == [["M-1", "M-2"], ["M-1"]]
    for status in (bulk, single):
        await status.tan()
        assert (status.codes, status.executions) == (["BA1112"], 1)
    again = await order(collector, document)
    assert [status.status for status in again] == [bulk.status, single.status]
    assert (bulk.executions, single.executions) == (1, 1)


async def test_a_file_of_the_older_version_is_collected_too(collector):
    (status,) = await order(collector, write(form=TWO))
    assert status.status["transfer"]["debits"][0] | {"amount": 12.3} == {
        "debtor": "Erika Mustermann",
        "iban": IBAN,
        "amount": 12.3,
        "currency": "EUR",
        "purpose": "Beitrag 2026",
        "mandateId": "M-1",
        "mandateDate": "2026-01-31",
        "sequenceType": "RCUR",
        "endToEndId": "RE-1",
    }


BAD = {
    "cut": (write()[:-20], "cannot be read"),
    "document type": (write().replace(b"<Document", b"<!DOCTYPE x []><Document"), "no document type"),
    "another version": (write(form="urn:iso:std:iso:20022:tech:xsd:pain.008.001.01"), "pain.008.001.08"),
    "no block": (write().replace(b"PmtInf>", b"Other>"), "no PmtInf"),
    "another account": (write(block(iban=IBAN)), "PmtInf[0].CdtrAcct: is not the account of this product"),
    "second of another account": (write(block(), block(iban=IBAN)), "PmtInf[1].CdtrAcct"),
    "number": (write(count=2), "NbOfTxs"),
    "sum": (write(total="12.31"), "CtrlSum"),
    "transfer": (write(block(method="TRF")), "PmtMtd"),
    "scheme": (write(block(scheme="COR1")), "LclInstrm"),
    "sequence": (write(block(sequence="RPRE")), "SeqTp"),
    "charges": (write(block(more="<ChrgBr>DEBT</ChrgBr>")), "ChrgBr"),
    "ultimate creditor": (write(block(more="<UltmtCdtr><Nm>X</Nm></UltmtCdtr>")), "UltmtCdtr"),
    "iban": (write(block(debit(iban="DE00"))), "PmtInf[0].DrctDbtTxInf[0].DbtrAcct: is not a valid IBAN"),
    "amount": (write(block(debit("0.00"))), "PmtInf[0].DrctDbtTxInf[0].InstdAmt"),
    "mandate": (write(block(debit(), debit(mandate=""))), "PmtInf[0].DrctDbtTxInf[1].MndtId"),
    "mandate's day": (write(block(debit(signed=in_days(3)))), "PmtInf[0].DrctDbtTxInf[0].DtOfSgntr"),
    "changed mandate": (write(block(debit(amended="<AmdmntInd>true</AmdmntInd>"))), "AmdmntInd"),
    "past": (write(block(day="2020-01-01")), "PmtInf[0].ReqdColltnDt: must lie in the future"),
    "creditors": (write(block(debit(creditor="DE02TST0300000000000"))), "several creditor identifiers"),
    "creditor of one debit": (write(block(debit(creditor=CREDITOR), debit(), creditor="")), "no creditor identifier"),
    "many": (write(*(block(debit(f"{number}.00")) for number in range(1, 12))), "at most 10"),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_cannot_be_collected_as_it_is_written_is_refused_as_a_whole(collector, case):
    document, words = BAD[case]
    answer = await send(collector, document)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100"), answer.text
    assert words in answer.json()["message"]
    assert await collector.list_payments() == []


async def test_the_creditor_identifier_may_stand_at_each_debit_as_hbci4java_writes_it(collector):
    document = write(block(debit(creditor=CREDITOR), debit(creditor=CREDITOR, reference="RE-2"), creditor=""))
    try_valid_xml(document, EIGHT.rpartition(":")[2])
    answer = await send(collector, document)
    assert answer.status_code == 200, answer.text
    assert [status["transfer"]["creditorId"] for status in answer.json()] == [CREDITOR]


async def test_a_creditor_identifier_that_is_none_is_403_and_named(collector):
    answer = await send(collector, write(block(creditor="DE99ZZZ09999999999")))
    assert answer.status_code == 403
    assert answer.json()["message"] == "PmtInf[0].CdtrSchmeId: is not a valid creditor identifier"


async def test_a_client_that_was_not_made_for_direct_debits_cannot_send_such_files(payer):
    assert (await send(payer, write())).status_code == 403
    assert await payer.list_payments() == []


async def test_a_bank_that_cannot_is_ba1104(collector):
    document = write().replace(DEBTOR_IBAN.encode(), b"")
    assert (await send(collector, document, LIMITED)).status_code == 400
    answer = await send(collector, write(block(debit("1.00"), debit("2.00"))), replace(GIRO, key="limited"))
    assert answer.status_code == 400


async def test_a_direct_debit_is_exported_as_pain008_and_a_transfer_is_not(collector):
    (status,) = await order(collector, write())
    exported = await collector.get(f"{CUSTOMER}/payment/{status.id}/pain008")
    assert (exported.status_code, exported.headers["content-type"]) == (200, "application/xml")
    try_valid_xml(exported.content, "pain.008.001.08")
    root = etree.fromstring(exported.content)
    found = {name: root.findtext(f".//{{*}}{name}") for name in ("MndtId", "ReqdColltnDt", "InstdAmt", "EndToEndId")}
    assert found == {"MndtId": "M-1", "ReqdColltnDt": in_days(5), "InstdAmt": "12.30", "EndToEndId": "RE-1"}
    assert (await collector.get(f"{CUSTOMER}/payment/{status.id}/pain001")).status_code == 404
    transfer = await collector.pay()
    assert (await collector.get(f"{CUSTOMER}/payment/{transfer.id}/pain008")).status_code == 404
    assert (await collector.get(f"{CUSTOMER}/payment/{transfer.id}/pain001")).status_code == 200

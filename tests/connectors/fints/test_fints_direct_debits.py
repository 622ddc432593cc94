"""Direct debits over FinTS: in the bank's segments and versions, accepted until their day, proven by our reference."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from uuid import uuid4

import pytest
from fints_payer import FRIEND, TODAY, Payer, know_bank, order, overheard, tan, to
from sepaxml.validation import try_valid_xml

from kontor.connectors.base import Done, FailureKind, Fetch, Progress
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.fints import direct_debits
from kontor.connectors.fints.direct_debits import has_debit
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.paying import find_outcome
from kontor.connectors.pain008 import DebitBatch, write_pain008
from kontor.connectors.pain008_reading import read_pain008
from kontor.connectors.pain_messages import Party
from kontor.domain.mandates import DebitForm, DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import PaymentOutcome
from kontor.domain.transactions import Transaction

SMALL = "test_bank_message"
DAY = date(2026, 12, 1)
MOCK = (tan("24"),)
CODES = {
    DebitForm.CORE_SINGLE: "HKDSE",
    DebitForm.CORE_BULK: "HKDME",
    DebitForm.B2B_SINGLE: "HKBSE",
    DebitForm.B2B_BULK: "HKBME",
}
NOON = datetime(2026, 11, 13, 11, tzinfo=UTC)


@pytest.fixture
def collect_as(bank):
    return lambda login=SMALL, **facts: Payer(bank, f"{login}+{uuid4().hex[:8]}", **facts)


def make(payer, *orders, scheme=DebitScheme.CORE, day=DAY, sequence=SequenceType.RCUR):
    orders = orders or (order(),)
    mandates = tuple(Mandate(f"M-{number}", date(2026, 1, 31)) for number in range(len(orders)))
    debit = DebitInstruction(scheme, "DE98ZZZ09999999999", sequence, mandates)
    return payer.make(*orders, is_bulk=len(orders) > 1, execution_date=day, is_payee_accepted=True, debit=debit)


def find_submitted(sent):
    return [message for message in sent if set(message.codes) & set(CODES.values())]


@pytest.mark.parametrize("form", DebitForm)
def test_each_form_goes_out_in_its_own_segment_and_is_accepted_until_its_day(collect_as, form):
    payer = collect_as()
    before = payer.read_balance()
    orders = (order("1.00"), order("2.50")) if form.endswith("BULK") else (order("12.34", end_to_end_id="RE-1"),)
    job = make(payer, *orders, scheme=DebitScheme(form.partition("_")[0]))
    with overheard() as sent:
        done = payer.drive(job, MOCK)[-1]
    assert isinstance(done, Done), done
    assert done.result.outcome is PaymentOutcome.ACCEPTED
    (submitted,) = find_submitted(sent)
    segment = submitted.find(CODES[form])
    assert "HKVPP" not in submitted.codes
    assert (segment.version, segment.read(1, 0)) == (2, payer.account)
    document = segment.read_binary(5 if form.endswith("BULK") else 3)
    try_valid_xml(document, "pain.008.001.08")
    (block,) = read_pain008(document)
    assert (block.id, block.day, block.debit) == (job.payment_id.hex, DAY, job.debit)
    assert [listed.amount for listed in block.orders] == [given.amount for given in orders]
    assert payer.read_balance() == before


def test_a_product_tells_the_forms_that_the_bank_offers(collect_as):
    progress = collect_as().begin(Fetch())
    assert isinstance(progress, Progress)
    assert progress.partial.products[0].debit_forms == tuple(DebitForm)


@pytest.mark.parametrize("form", DebitForm)
def test_a_bank_without_the_business_is_sent_nothing_and_the_product_says_so(collect_as, monkeypatch, form):
    find_newest = BankParameters.find_newest
    monkeypatch.setattr(
        BankParameters,
        "find_newest",
        lambda known, asked, versions: None if asked == CODES[form] else find_newest(known, asked, versions),
    )
    payer = collect_as()
    orders = (order(), order("1.00")) if form.endswith("BULK") else ()
    with overheard() as sent:
        failed = payer.begin(make(payer, *orders, scheme=DebitScheme(form.partition("_")[0])))
    assert (failed.kind, payer.asked, find_submitted(sent)) == (FailureKind.NOT_SUPPORTED, 0, [])
    progress = payer.begin(Fetch())
    assert isinstance(progress, Progress)
    assert progress.partial.products[0].debit_forms == tuple(other for other in DebitForm if other is not form)


@pytest.mark.parametrize(
    ("named", "sent_as"),
    [
        (["urn:x:pain.008.001.02"], ("urn:x:pain.008.001.02", "pain.008.001.02")),
        (["sepade.pain.008.001.02.xsd", "a.pain.008.001.08.xsd"], ("a.pain.008.001.08.xsd", "pain.008.001.08")),
        (["urn:x:pain.008.003.02", "urn:x:pain.001.001.09"], None),
    ],
)
def test_the_document_has_the_newest_version_that_the_bank_names(collect_as, monkeypatch, named, sent_as):
    monkeypatch.setattr(direct_debits, "_list_formats", lambda session, segment_type: named)
    payer = collect_as()
    with overheard() as sent:
        step = payer.begin(make(payer))
    if sent_as is None:
        assert (step.kind, find_submitted(sent)) == (FailureKind.NOT_SUPPORTED, [])
        return
    segment = find_submitted(sent)[0].find("HKDSE")
    assert segment.read(2) == sent_as[0]
    try_valid_xml(segment.read_binary(3), sent_as[1])


def test_a_day_before_the_banks_notice_is_refused_and_nothing_leaves(collect_as):
    payer = collect_as()
    with overheard() as sent:
        failed = payer.begin(make(payer, day=TODAY))
    assert (failed.kind, payer.asked, find_submitted(sent)) == (FailureKind.REJECTED, 0, [])
    assert failed.detail == "Die Bank führt den Auftrag frühestens in 1 Tagen aus."


def test_a_day_that_the_bank_itself_refuses_is_a_refusal_and_collects_nothing(collect_as):
    payer = collect_as()
    before = payer.read_balance()
    failed = payer.begin(make(payer, day=TODAY + timedelta(days=4000)))
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.REJECTED, False)
    assert payer.read_balance() == before


@pytest.mark.parametrize(
    ("parameter", "scheme", "sequence", "days"),
    [
        ({"min_advance_notice": "0;1;2;130000;0;2;5;130000"}, "CORE", "RCUR", (2, None)),
        ({"min_advance_notice": "0;1;2;130000;0;2;5;130000"}, "CORE", "FRST", (5, None)),
        ({"min_advance_notice": "1;0;1;130000;2;0;3;130000"}, "CORE", "OOFF", (3, None)),
        ({"min_advance_notice": "1;1;130000;2;4;130000"}, "B2B", "FNAL", (1, None)),
        ({"min_advance_notice": "1;1;130000;2;4;130000"}, "B2B", "OOFF", (4, None)),
        ({"min_advance_notice": "unknown"}, "CORE", "RCUR", (None, None)),
        (None, "CORE", "RCUR", (None, None)),
    ],
)
def test_notices_are_read_by_scheme_and_sequence_type(parameter, scheme, sequence, days):
    debit = DebitInstruction(DebitScheme(scheme), "", SequenceType(sequence), ())
    known = None if parameter is None else SimpleNamespace(**parameter)
    assert direct_debits._read_lead_times(known, debit) == days


def test_notices_of_the_first_version_are_those_of_the_sequence_type(bank):
    known = BankParameters.deserialize(know_bank(bank))
    parameters = {segment.header.version: segment.parameter for segment in known.bank.segments.find_segments("HIDSES")}
    debit = DebitInstruction(DebitScheme.CORE, "", SequenceType.FRST, ())
    assert direct_debits._read_lead_times(parameters[1], debit) == (1, 365)
    assert direct_debits._read_lead_times(parameters[2], debit) == (1, None)
    assert [name.rpartition(":")[2] for name in parameters[2].supported_sepa_formats if name] == [
        "pain.008.001.02",
        "pain.008.001.08",
    ]


@pytest.mark.parametrize(("scheme", "command"), [(DebitScheme.CORE, "HKDBS"), (DebitScheme.B2B, "HKBBS")])
def test_a_lost_direct_debit_that_the_bank_lists_is_accepted_and_never_sent_again(collect_as, scheme, command):
    payer = collect_as()
    lost = make(payer, to(PayeeScenario.DIES_AFTER_BOOKING), scheme=scheme)
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    payer.asked = 0
    with overheard() as sent:
        assert payer.look_up(lost) is PaymentOutcome.ACCEPTED
    assert any(command in message.codes for message in sent)
    assert (find_submitted(sent), payer.asked) == ([], 0)


def test_a_direct_debit_that_the_bank_does_not_list_stays_unknown(collect_as):
    payer = collect_as()
    payer.drive(make(payer, to(PayeeScenario.DIES_AFTER_BOOKING)), MOCK)  # an equal one
    lost = make(payer, to(PayeeScenario.DIES_BEFORE_BOOKING))
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    assert payer.look_up(lost) is PaymentOutcome.UNKNOWN


def list_as_bank(job, block="BANK", reference=None, amount=None):
    shown = replace(job.orders[0], end_to_end_id=reference, amount=amount or job.orders[0].amount)
    batch = DebitBatch(block, (shown,), job.debit, job.execution_date)
    return read_pain008(write_pain008(Party("Anna", FRIEND), batch, NOON))


def test_only_a_reference_of_ours_proves_a_listed_direct_debit(collect_as):
    job = make(collect_as())
    own = job.payment_id.hex
    assert has_debit(list_as_bank(job, reference=own), job)
    assert has_debit(list_as_bank(job, own, "x"), job)
    assert not has_debit(list_as_bank(job, reference="x"), job)
    assert not has_debit(list_as_bank(job, reference=own, amount=Decimal("0.01")), job)
    named = replace(job, orders=(replace(job.orders[0], end_to_end_id="RE-1"),))
    assert not has_debit(list_as_bank(named, reference="RE-1"), named)


def test_only_money_that_came_in_under_our_reference_is_executed(collect_as):
    job = make(collect_as(), order("5.00", end_to_end_id="RE-1"))
    own = job.payment_id.hex

    def find(amount, purpose):
        return find_outcome([Transaction(Decimal(amount), "EUR", NOON, purpose=purpose)], job, DAY)

    assert find("5.00", f"EREF+RE-1 KREF+{own} MREF+M-0 SVWZ+Beitrag") is PaymentOutcome.EXECUTED
    assert find("-5.00", f"EREF+RE-1 KREF+{own}") is PaymentOutcome.UNKNOWN
    assert find("5.00", "EREF+RE-1 MREF+M-0") is PaymentOutcome.UNKNOWN
    assert find("5.01", f"KREF+{own}") is PaymentOutcome.UNKNOWN

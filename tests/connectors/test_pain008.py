"""Direct debits as pain.008: valid by the schemas, with everything that was ordered, and read back as written."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sepaxml.validation import try_valid_xml

from kontor.connectors.pain008 import NAMESPACES, NEWEST, OLDEST, SCHEMAS, DebitBatch, write_pain008
from kontor.connectors.pain008_reading import read_pain008
from kontor.connectors.pain_messages import Party
from kontor.connectors.statements import StatementError
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import Order
from many_examples import many_examples

CREDITOR = Party("Sportverein Musterstadt", "DE02120300000000202051", "BYLADEM1001")
AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
DAY = date(2026, 11, 20)
ID = "0123456789abcdef0123456789abcdef"
SEPA = st.text(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-?:().,'+ ", min_size=1, max_size=35
).map(lambda text: text.strip() or "x")
orders = st.builds(
    Order,
    recipient=SEPA,
    iban=st.sampled_from(["DE89370400440532013000", "FR7630006000011234567890189"]),
    amount=st.decimals(Decimal("0.01"), Decimal("999999.99"), places=2),
    purpose=st.one_of(st.just(""), SEPA),
    bic=st.one_of(st.none(), st.just("COBADEFFXXX")),
    end_to_end_id=st.one_of(st.none(), SEPA),
)
mandates = st.builds(Mandate, SEPA, st.dates(date(2009, 11, 1), date(2026, 11, 1)))
debits = st.lists(st.tuples(orders, mandates), min_size=1, max_size=4)


def make_batch(pairs, scheme=DebitScheme.CORE, sequence=SequenceType.RCUR):
    instruction = DebitInstruction(scheme, "DE98ZZZ09999999999", sequence, tuple(mandate for _, mandate in pairs))
    return DebitBatch(ID, tuple(order for order, _ in pairs), instruction, DAY)


SINGLE = make_batch(
    [(Order("Erika", "DE89370400440532013000", Decimal("12.30"), purpose="Beitrag"), Mandate("M", DAY))]
)


@many_examples(10)  # the schema is checked in Python, slowly
@given(debits, st.sampled_from(DebitScheme), st.sampled_from(SequenceType), st.sampled_from(SCHEMAS), st.booleans())
def test_every_batch_is_valid_and_is_read_back_as_it_was_ordered(pairs, scheme, sequence, schema, has_bic):
    batch = make_batch(pairs, scheme, sequence)
    creditor = CREDITOR if has_bic else Party(CREDITOR.name, CREDITOR.iban)
    document = write_pain008(creditor, batch, AT, schema)
    try_valid_xml(document, schema)
    (block,) = read_pain008(document)
    assert (block.message_id, block.id, block.creditor_iban, block.day) == (ID, ID, CREDITOR.iban, DAY)
    assert block.debit == batch.debit
    for number, (read, order) in enumerate(zip(block.orders, batch.orders, strict=True)):
        named = batch.name_order(number)
        assert read == Order(
            order.recipient, order.iban, order.amount, "EUR", order.purpose, order.bic, end_to_end_id=named
        )


@pytest.mark.parametrize(("schema", "element"), [(OLDEST, b"<BIC>"), (NEWEST, b"<BICFI>")])
def test_each_version_names_the_bic_its_own_way(schema, element):
    document = write_pain008(CREDITOR, SINGLE, AT, schema)
    assert element in document
    assert NAMESPACES[schema].encode() in document


def test_an_order_without_a_reference_of_its_own_gets_one_of_ours():
    assert SINGLE.name_order(0) == ID
    two = make_batch([(SINGLE.orders[0], SINGLE.debit.mandates[0])] * 2)
    assert [two.name_order(0), two.name_order(1)] == [f"{ID[:29]}-1", f"{ID[:29]}-2"]


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        (b"<Cd>CORE</Cd>", b"<Cd>COR1</Cd>", "LclInstrm"),
        (b"<SeqTp>RCUR</SeqTp>", b"", "SeqTp"),
        (b"12.30</InstdAmt>", b"viel</InstdAmt>", "InstdAmt"),
        (b"<DtOfSgntr>2026-11-20</DtOfSgntr>", b"", "DtOfSgntr"),
        (b"<ReqdColltnDt>2026-11-20", b"<ReqdColltnDt>bald", "ReqdColltnDt"),
        (b"PmtInf>", b"Other>", "PmtInf"),
        (b"<Document", b"<!DOCTYPE x []><Document", "document type"),
    ],
)
def test_what_cannot_be_read_is_named(before, after, field):
    with pytest.raises(StatementError, match=field):
        read_pain008(write_pain008(CREDITOR, SINGLE, AT).replace(before, after))

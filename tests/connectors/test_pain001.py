"""Orders as pain.001: valid by the schema, and with everything that was ordered."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from sepaxml.validation import try_valid_xml

from kontor.connectors.pain001 import NAMESPACE, SCHEMA, Batch, name_order, write_pain001
from kontor.connectors.pain_messages import Party
from kontor.domain.payments import Order
from many_examples import many_examples

DEBTOR = Party("Erika Mustermann", "DE02120300000000202051", "BYLADEM1001")
AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
DAY = date(2026, 11, 16)
SEPA = st.text(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-?:().,'+ ", min_size=1, max_size=60
).map(lambda text: text.strip() or "x")
orders = st.builds(
    Order,
    recipient=SEPA,
    iban=st.sampled_from(["DE89370400440532013000", "FR7630006000011234567890189"]),
    amount=st.decimals(Decimal("0.01"), Decimal("999999.99"), places=2),
    purpose=st.one_of(st.just(""), SEPA),
    bic=st.one_of(st.none(), st.just("COBADEFFXXX")),
    end_to_end_id=st.one_of(st.none(), st.just("E2E-1")),
    purpose_code=st.one_of(st.none(), st.just("SALA")),
    ultimate_debtor=st.one_of(st.none(), SEPA),
    ultimate_creditor=st.one_of(st.none(), SEPA),
)


def find_all(document: bytes, path: str) -> list[str]:
    root = etree.fromstring(document)
    return [element.text for element in root.iterfind("/".join(f"{{*}}{name}" for name in path.split("/")))]


@many_examples(20)  # the schema is checked in Python, slowly
@given(st.lists(orders, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_every_order_gives_a_valid_document_that_says_it(wanted, is_bulk, is_instant):
    batch = Batch("0123456789abcdef0123456789abcdef", tuple(wanted), DAY, is_bulk, is_instant)
    document = write_pain001(DEBTOR, batch, AT)
    assert document.decode().count(NAMESPACE) == 1
    try_valid_xml(document, SCHEMA)
    block = "CstmrCdtTrfInitn/PmtInf/CdtTrfTxInf"
    assert find_all(document, f"{block}/Amt/InstdAmt") == [format(order.amount, ".2f") for order in wanted]
    assert find_all(document, f"{block}/Cdtr/Nm") == [order.recipient for order in wanted]
    assert find_all(document, f"{block}/CdtrAcct/Id/IBAN") == [order.iban for order in wanted]
    assert find_all(document, f"{block}/RmtInf/Ustrd") == [order.purpose for order in wanted if order.purpose]
    total = format(sum(order.amount for order in wanted), ".2f")
    assert find_all(document, "CstmrCdtTrfInitn/GrpHdr/CtrlSum") == [total]
    assert find_all(document, "CstmrCdtTrfInitn/PmtInf/PmtTpInf/LclInstrm/Cd") == (["INST"] if is_instant else [])


def test_a_document_is_the_same_at_every_call():
    batch = Batch("a" * 32, (Order("A", "DE89370400440532013000", Decimal("1.00")),), DAY)
    assert write_pain001(DEBTOR, batch, AT) == write_pain001(DEBTOR, batch, AT)


def test_orders_of_a_batch_have_names_of_their_own_of_at_most_35_characters():
    order = Order("A", "DE89370400440532013000", Decimal("1.00"))
    names = [name_order(Batch("b" * 35, (order,) * 100, DAY), number) for number in range(100)]
    assert len(set(names)) == 100
    assert max(map(len, names)) <= 35


@pytest.mark.parametrize("bic", [None, "COBADEFFXXX"])
def test_a_debtor_without_bic_is_possible(bic):
    batch = Batch("a" * 32, (Order("A", "DE89370400440532013000", Decimal("1.00")),), DAY)
    try_valid_xml(write_pain001(Party("A", "DE02120300000000202051", bic), batch, AT), SCHEMA)

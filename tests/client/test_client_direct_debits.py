"""Direct debits by the client package."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from sepaxml.validation import try_valid_xml
from test_client_authentication import DEMO_BANK, PRESENT, Person

from banking import new_customer
from kontor.domain.clocks import BERLIN
from kontor_client import Debit, Kontor
from kontor_client.models.accesses import ProductCategory
from tenants import create_tenant


@pytest.fixture(scope="module")
async def collecting(standing_services, http):
    return await create_tenant(standing_services, http, may_collect=True)


def test_direct_debits_are_collected_read_exported_and_cancelled(bank_server, collecting):
    day = datetime.now(BERLIN).date() + timedelta(days=5)
    debit = Debit(
        debtor="Erika Mustermann",
        iban="DE89370400440532013000",
        amount=Decimal("3.00"),
        purpose="Beitrag",
        mandate_id="M-1",
        mandate_date=date(2026, 1, 31),
        sequence_type="OOFF",
    )
    facts = {"creditor_id": "DE98ZZZ09999999999", "collection_date": day, **PRESENT}
    with Kontor(bank_server, new_customer(collecting).token) as client:
        access = client.add_access(DEMO_BANK, {"userid": "familie+collector", "pin": "demo"})
        complete = client.wait_until_complete(access.id)
        giro = next(product for product in complete.products if product.category == ProductCategory.CHECKING)
        status = client.collect_direct_debits(access.id, giro.id, debit, **facts)
        status = client.authenticate_direct_debit(status.transfer.payment_id, Person(["2"]))
        assert (status.is_accepted, status.transfer.details, status.transfer.collection_date) == (True, [], day)
        (shown,) = status.transfer.debits
        assert (shown.mandate_id, shown.mandate_date, shown.amount) == ("M-1", date(2026, 1, 31), Decimal("3.00"))
        assert client.read_direct_debit(status.transfer.payment_id) == status
        try_valid_xml(client.export_direct_debit(status.transfer.payment_id), "pain.008.001.08")
        two = client.collect_direct_debits(access.id, giro.id, [debit, debit], scheme="B2B", **facts)
        assert client.cancel_direct_debit(two.transfer.payment_id).is_failed

"""A customer who has used everything that leaves data behind, for tests of exports, erasure and deletion."""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from banking import DEMO_BANK, BankCustomer, new_customer
from kontor.domain.clocks import BERLIN
from kontor_client import Batch, Kontor, NewTransaction, Order, ProductCategory
from kontor_client.models.tags import RuleConditions
from plain_person import PlainPerson

PRESENT = {"callback_url": "https://example.com/back", "customer_ip": "8.8.8.8"}
PAYEE = "DE89370400440532013000"
CSV = "Tag;Wert;Wer\n02.11.2026;-12,00;Kegelclub\n"
OF_FILES = "dateien"


@dataclass
class WholeCustomer:
    customer: BankCustomer
    access_id: str
    product: dict[str, Any]

    @property
    def traces(self) -> list[str]:
        """What is known about the account and its bookings, and must not be found once the access is gone."""
        return [self.product["iban"], self.product["inhaber"], "Hausverwaltung Meier", "Miete Wohnung 12"]


def make_whole_customer(server: str, tenant: Any) -> WholeCustomer:
    customer = new_customer(tenant)
    with Kontor(server, customer.token) as client:
        access = client.add_access(DEMO_BANK, {"userid": f"demo1+{uuid4().hex[:8]}", "pin": "demo"})
        client.wait_until_complete(access.id)
        client.delete_access(client.add_access(DEMO_BANK, {"userid": "leer", "pin": "demo"}, purpose="Umzug").id)
        client.set_statements(access.id, wanted=True)
        client.refresh_access(access.id)
        products = client.wait_until_complete(access.id).products
        giro = next(product for product in products if product.category == ProductCategory.CHECKING)
        _annotate(client, customer, access.id, giro.id)
        _import(client)
        _pay(client, access.id, giro.id)
        client.update_payee(client.list_payees()[0].id, limit=Decimal(500), hold_hours=1)
        client.start_consent(access.id, asks_settings=True, **PRESENT)
        _subscribe(client)
        end = datetime.now(BERLIN).date() + timedelta(days=10)
        client.update_contract(client.list_contracts()[0].id, notice_period="P1D", minimum_term_end=end)
        assert "CONTRACT_NOTICE" in [alert.kind for alert in client.list_alerts()]
        client.add_disclosure(["contracts"], datetime.now(BERLIN).date() + timedelta(days=30))
        disclosure = client.add_disclosure(["credit-check"], datetime.now(BERLIN).date() + timedelta(days=30))
        client.request_credit_file_review(client.create_credit_file("Ratenkredit", disclosure.id).id, "Miete fehlt")
    shown = next(product for product in customer.products(access.id) if product["id"] == giro.id)
    return WholeCustomer(customer, access.id, shown)


def _annotate(client: Kontor, customer: BankCustomer, access_id: str, product_id: str) -> None:
    client.push_transactions(access_id, product_id, [_make_rent(month) for month in range(5, 11)])
    own = client.add_own_category("Hund Bella", "RECREATION_PETS")
    client.add_budget("Hund", [own.system_name], Decimal(50), "2026-11", carries_over=True)
    client.add_savings_goal("Urlaub", Decimal(1000), products=[product_id])
    client.add_tagging_rule(own.system_name, conditions=RuleConditions(text="futterhaus"), label="Hund")
    [rent, *_] = client.request(
        "GET", f"/customer/v2/bankzugaenge/{access_id}/{product_id}/kontoumsaetze", params={"search": "Meier"}
    ).json()
    parts = [{"betrag": -100, "tags": {"systemName": own.system_name}}, {"betrag": -800, "tags": RENT}]
    path = f"/customer/v2/bankzugaenge/{access_id}/{product_id}/kontoumsaetze/{rent['id']}"
    body = {"notiz": "Miete Wohnung 12 geteilt", "schlagworte": ["Wohnung"], "teile": parts}
    client.request("PUT", path, json=body)
    edit = {"filter": {"search": "Meier"}, "notiz": "bearbeitet"}
    client.request("POST", "/customer/v2/kontoumsaetze/bearbeitungen", json=edit)
    assert customer.read("/customer/v2/kontoumsaetze/bearbeitungen")


def _subscribe(client: Kontor) -> None:
    """A browser that nobody reaches."""
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    p256dh = base64.urlsafe_b64encode(point).decode()
    client.add_push_subscription(f"https://8.8.8.8:8443/{uuid4()}", p256dh=p256dh, auth="AAAAAAAAAAAAAAAAAAAAAA")


RENT = {"systemName": "HOUSING_RENT"}


def _make_rent(month: int) -> NewTransaction:
    return NewTransaction(
        batch=Batch(id=f"rent {month}"),
        amount=Decimal("-900.00"),
        booked_at=f"2026-{month:02}-02",
        counterparty_name="Hausverwaltung Meier",
        purpose="Miete Wohnung 12",
    )


def _import(client: Kontor) -> None:
    columns = {"Tag": "buchungsdatum", "Wert": "betrag", "Wer": "gegenkontoInhaber"}
    client.add_import_form("Verein", columns, day_format="dd.mm.yyyy", decimal_sign=",")
    client.import_file(CSV.encode(), form="Verein")


def _pay(client: Kontor, access_id: str, product_id: str) -> None:
    order = Order(
        recipient="Erika Mustermann", iban=PAYEE, amount=Decimal("1.20"), purpose="Rechnung 7", bic="COBADEFFXXX"
    )
    client.verify_payee(access_id, product_id, order)
    assert client.pay(access_id, product_id, order, PlainPerson(), **PRESENT).is_executed
    first = datetime.now(BERLIN).date() + timedelta(days=20)
    status = client.create_standing_order(
        access_id, product_id, order, period="MONTH_ONE", first_execution_date=first, **PRESENT
    )
    assert client.authenticate_standing_order(status.transfer.payment_id, PlainPerson()).is_executed

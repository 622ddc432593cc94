"""Direct debits that can be returned. Attributes that are left out by the service are None."""

from datetime import date
from decimal import Decimal

from kontor_client.models.shapes import Linked, Model


class ReturnRight(Model, rename={"ground": "grund", "until": "bis", "law": "norm"}, kw_only=True):
    """`ground` is OHNE_GRUND or NICHT_AUTORISIERT; `until` the last day on which the bank must hear of it."""

    ground: str
    until: date
    law: str


class ReturnableDebit(
    Linked,
    kw_only=True,
    rename={
        "product_id": "produktId",
        "booked_on": "buchungsdatum",
        "amount": "betrag",
        "currency": "waehrung",
        "scheme": "verfahren",
        "rights": "rueckgabe",
        "is_unusual": "ungewoehnlich",
        "creditor": "empfaenger",
        "purpose": "verwendungszweck",
        "mandate": "mandatsreferenz",
        "creditor_id": "glaeubigerId",
        "contract_id": "vertragId",
        "returned_on": "zurueckgegebenAm",
    },
):
    """`scheme` is BASIS, FIRMEN or UNBESTIMMT. Without `rights` it was given back."""

    id: str
    product_id: str
    booked_on: date
    amount: Decimal
    currency: str
    scheme: str
    rights: list[ReturnRight]
    is_unusual: bool
    creditor: str | None = None
    iban: str | None = None
    purpose: str | None = None
    mandate: str | None = None
    creditor_id: str | None = None
    contract_id: str | None = None
    returned_on: date | None = None

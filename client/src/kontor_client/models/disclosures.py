"""What customers allow advisers to read. Attributes that are left out by the service are None."""

from datetime import date, datetime

from kontor_client.models.shapes import Linked, Model


class Disclosure(Linked, rename={"scopes": "umfang", "valid_until": "gueltigBis", "adviser": "berater"}, kw_only=True):
    """`adviser` None: every adviser of the tenant. `text` is what the customer agreed to."""

    id: str
    scopes: list[str]
    valid_until: date
    text: str
    adviser: str | None = None


class DisclosureRead(Model, rename={"at": "zeitpunkt", "scope": "umfang", "adviser": "berater"}, kw_only=True):
    """`adviser` is None where that user was erased."""

    at: datetime
    scope: str
    adviser: str | None = None


class DisclosingCustomer(
    Linked, rename={"user_reference": "userReference", "scopes": "umfang", "valid_until": "gueltigBis"}, kw_only=True
):
    user_reference: str
    scopes: list[str]
    valid_until: date

"""Credit files: what a credit check says, signed and kept."""

from collections.abc import Mapping
from typing import Any

from kontor_client.models.credit_files import (
    CreditFile,
    CreditFileBooking,
    CreditFileEntry,
    ReviewEntry,
    ReviewRequest,
    SigningKey,
    SigningKeys,
)
from kontor_client.plans import Call, Plan, fetch, path_of, send

FILES = "/customer/v2/ai/credit-files"
SELF = "SELBST"
REVIEWED_FILES = "/adviser/v2/credit-files"


def list_credit_files() -> Plan[list[CreditFileEntry]]:
    """The newest first."""
    return fetch(list[CreditFileEntry], FILES)


def read_credit_file(file_id: str) -> Plan[CreditFile]:
    return fetch(CreditFile, FILES + path_of(file_id))


def create_credit_file(purpose: str, disclosure: str = SELF) -> Plan[CreditFile]:
    """By a disclosure of the customer for `credit-check`, or for the customer alone. It is never changed."""
    answer = yield from send(Call("POST", FILES, json={"zweck": purpose, "freigabe": disclosure}))
    return (yield from fetch(CreditFile, answer.headers["location"]))


def list_signing_keys() -> Plan[list[SigningKey]]:
    """What the service's signatures are checked by: the current key first, then earlier ones."""
    found = yield from fetch(SigningKeys, "/.well-known/jwks.json")
    return found.keys


def print_credit_file(file_id: str) -> Plan[bytes]:
    """As PDF."""
    answer = yield from send(Call("GET", FILES + path_of(file_id), headers={"Accept": "application/pdf"}))
    return answer.content


def delete_credit_file(file_id: str) -> Plan[None]:
    """One that the customer made for himself."""
    yield from send(Call("DELETE", FILES + path_of(file_id)))


def request_credit_file_review(file_id: str, comment: str) -> Plan[None]:
    """By an adviser who can read the file."""
    yield from send(Call("POST", FILES + path_of(file_id, "review-requests"), json={"kommentar": comment}))


# For advisers


def list_credit_file_reviews(
    status: str | None = None, *, limit: int | None = None, cursor: str | None = None
) -> Plan[list[ReviewEntry]]:
    """Files that this adviser can review. `status`: UNGEPRUEFT, ANGEFORDERT or GEPRUEFT."""
    return fetch(list[ReviewEntry], REVIEWED_FILES, params={"status": status, "limit": limit, "cursor": cursor})


def read_customer_credit_file(file_id: str) -> Plan[CreditFile]:
    """Of a customer who allows it."""
    return fetch(CreditFile, REVIEWED_FILES + path_of(file_id))


def read_review_request(file_id: str) -> Plan[ReviewRequest]:
    """What the customer wants to be looked at."""
    return fetch(ReviewRequest, REVIEWED_FILES + path_of(file_id, "review-request"))


def list_credit_file_transactions(file_id: str) -> Plan[list[CreditFileBooking]]:
    """The bookings behind it, where the customer allows that too."""
    return fetch(list[CreditFileBooking], REVIEWED_FILES + path_of(file_id, "transactions"))


def review_credit_file(
    file_id: str, result: str, comment: str, *, corrections: Mapping[str, str] | None = None
) -> Plan[CreditFile]:
    """The next version. `result`: BESTAETIGT keeps the figures, NEU_BERECHNET computes them anew.

    `corrections` are categories by the ids of transactions; they hold in the file alone.
    """
    body: dict[str, Any] = {"kommentar": comment, "ergebnis": result}
    if corrections:
        body["korrekturen"] = [{"umsatz": row, "systemName": category} for row, category in corrections.items()]
    answer = yield from send(Call("POST", FILES + path_of(file_id, "reviews"), json=body))
    return (yield from fetch(CreditFile, answer.headers["location"]))

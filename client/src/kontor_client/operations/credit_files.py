"""Credit files: what a credit check says, signed and kept."""

from kontor_client.models.credit_files import CreditFile, CreditFileEntry, SigningKey, SigningKeys
from kontor_client.plans import Call, Plan, fetch, path_of, send

FILES = "/customer/v2/ai/credit-files"
SELF = "SELBST"


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

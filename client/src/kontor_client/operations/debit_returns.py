"""Direct debits that can be returned, and the letter to the bank."""

from kontor_client.models.debit_returns import ReturnableDebit
from kontor_client.plans import Call, Plan, fetch, path_of, send

DEBITS = "/customer/v2/lastschriften"


def list_returnable_debits(*, contract_id: str | None = None) -> Plan[list[ReturnableDebit]]:
    """The latest first; of one contract, if one is named."""
    return fetch(list[ReturnableDebit], DEBITS, params={"vertrag": contract_id})


def read_returnable_debit(transaction_id: str) -> Plan[ReturnableDebit]:
    return fetch(ReturnableDebit, DEBITS + path_of(transaction_id))


def write_debit_return(transaction_id: str, *, ground: str | None = None, language: str = "de") -> Plan[bytes]:
    """A letter to the bank as PDF, to print and sign; nothing is sent.

    `ground` is OHNE_GRUND or NICHT_AUTORISIERT; without it the first that the debit has.
    """
    path = DEBITS + path_of(transaction_id, "rueckgabe")
    answer = yield from send(Call("GET", path, {"grund": ground, "language": language}))
    return answer.content

"""What customers say about a contract, and the letter that cancels it."""

from datetime import date

from msgspec import UNSET, UnsetType

from kontor_client.operations.analyses import AI
from kontor_client.plans import Call, Plan, path_of, send


def update_contract(
    contract_id: str,
    *,
    name: str | UnsetType | None = UNSET,
    is_contract: bool | UnsetType | None = UNSET,
    notice_period: str | UnsetType | None = UNSET,
    minimum_term_end: date | UnsetType | None = UNSET,
) -> Plan[None]:
    """Name a contract, say when it can be cancelled, or hide it in all analyses (`is_contract=False`).

    What is left out stays as it is, None resets it. `notice_period` is an ISO 8601 period, such as P3M.
    """
    given = {
        "name": name,
        "isContract": is_contract,
        "noticePeriod": notice_period,
        "minimumTermEnd": minimum_term_end,
    }
    body = {key: value for key, value in given.items() if value is not UNSET}
    yield from send(Call("PUT", f"{AI}/contracts{path_of(contract_id)}", json=body, is_repeatable=True))


def write_cancellation(contract_id: str, *, day: date | None = None, language: str = "de") -> Plan[bytes]:
    """A letter as PDF that cancels the contract, to print and sign; nothing is sent.

    `day` is when the contract is to end; without it the end of the minimum term, or as soon as possible.
    """
    path = f"{AI}/contracts{path_of(contract_id)}/cancellation"
    answer = yield from send(Call("GET", path, {"date": day, "language": language}))
    return answer.content

"""What customers say about a contract."""

from datetime import date

from msgspec import UNSET

from kontor.api.answers import Answer, HttpError, empty_answer
from kontor.api.customer_v2.accesses import TAGS
from kontor.api.customer_v2.analyses import AI
from kontor.api.field_errors import FieldError
from kontor.api.operations import Call, Success, operation
from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError
from kontor.domain.notice_periods import read_period
from kontor.wire.contracts import ContractUpdate

CONTRACT = AI + "/contracts/{contract-id}"
FIRST_END, LAST_END = date(1950, 1, 1), date(2199, 12, 31)
# How fields of the body are called inside.
FIELDS = {
    "name": "name",
    "isContract": "is_contract",
    "noticePeriod": "notice_period",
    "minimumTermEnd": "minimum_term_end",
}


@operation(
    "PUT",
    CONTRACT,
    body=ContractUpdate,
    success=Success(description="changed"),
    errors=(404,),
    is_heavy=True,
    **TAGS,
)
async def update_contract(call: Call) -> Answer:
    """Name a contract, say when it can be cancelled, or that it is none.

    `details` then shows what is set, and with period and end also `noticeDate`: the last day of notice, or the next one
    where the term has renewed. With `isContract` false no analysis knows the contract; `excluded=true` lists it.
    """
    contract_id = call.path_uuid("contract-id")
    await call.services.analyses.require_contract(call.principal, contract_id)
    changes = read_changes(await call.json(ContractUpdate))
    await call.services.analyses.change_contract(call.principal, contract_id, changes)
    return empty_answer()


def read_changes(body: ContractUpdate) -> dict[str, object]:
    """By the names that the fields have inside. All that is wrong is told."""
    given = {name: getattr(body, name) for name in FIELDS if getattr(body, name) is not UNSET}
    if not given:
        raise InvalidError(f"give one of {', '.join(FIELDS)}")
    errors = [FieldError((name,), problem) for name, value in given.items() if (problem := _find_problem(name, value))]
    if errors:
        raise HttpError(400, "; ".join(map(str, errors)), field_errors=errors)
    if isinstance(body.name, str):
        given["name"] = " ".join(clean_text(body.name).split())
    return {FIELDS[name]: value for name, value in given.items()}


def _find_problem(name: str, value: object) -> str | None:
    if name == "name" and isinstance(value, str) and not clean_text(value).strip():
        return "must not be empty; null resets it"
    if name == "minimumTermEnd" and isinstance(value, date) and not FIRST_END <= value <= LAST_END:
        return f"expected a day from {FIRST_END} to {LAST_END}"
    if name == "noticePeriod" and isinstance(value, str):
        try:
            read_period(value, name)
        except InvalidError as error:
            return error.reason
    return None

"""Payees that the user has paid: limits and holds."""

from kontor.api.answers import Answer, HttpError, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.customer_v2.payments import TRANSFER
from kontor.api.field_errors import FieldError
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.wire.payees import FIELDS, PayeeUpdate, Zahlungsempfaenger, read_update, show_payee

PAYEES = CUSTOMER + "/zahlungsempfaenger"
PAYEE = PAYEES + "/{payee-id}"


@operation("GET", PAYEES, success=Success(shape=list[Zahlungsempfaenger]), **READ)
async def list_payees(call: Call) -> Answer:
    """List whom the user has paid, the latest first.

    One entry per IBAN of an order that the bank has executed or accepted, with its latest name and verification.
    """
    found = await call.services.payments.payees.list_payees(call.principal)
    return json_answer([show_payee(payee, call.urls) for payee in found])


@operation("GET", PAYEE, success=Success(shape=Zahlungsempfaenger), errors=(404,), **READ)
async def read_payee(call: Call) -> Answer:
    """Read one payee.

    As in the list.
    """
    payee = await call.services.payments.payees.read_payee(call.principal, call.path_uuid("payee-id"))
    return json_answer(show_payee(payee, call.urls))


@operation("PUT", PAYEE, body=PayeeUpdate, success=Success(description="changed"), errors=(404,), **TRANSFER)
async def update_payee(call: Call) -> Answer:
    """Set a limit for a payee, or a hold after its first use.

    An order that exceeds the limit of its day, or comes within the hold, is refused with 400 before the bank is asked.
    Null resets a field. Who raises a limit or shortens a hold waits for as long as the hold was.
    """
    payee_id = call.path_uuid("payee-id")
    await call.services.payments.payees.read_payee(call.principal, payee_id)
    changes, problems = read_update(await call.json(PayeeUpdate))
    if problems:
        errors = [FieldError((field,), problem) for field, problem in problems]
        raise HttpError(400, "; ".join(map(str, errors)), field_errors=errors)
    if not changes:
        raise InvalidError(f"give one of {', '.join(FIELDS)}")
    await call.services.payments.payees.change_payee(call.principal, payee_id, changes)
    return empty_answer()

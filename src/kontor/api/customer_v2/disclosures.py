"""Freigaben: what the customer allows advisers of the tenant to read."""

from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.operations import Call, Success, operation
from kontor.wire.disclosures import Freigabe, NewFreigabe, Zugriff, show_freigabe, show_zugriff

DISCLOSURES = CUSTOMER + "/freigaben"
DISCLOSURE = DISCLOSURES + "/{freigabe-id}"


@operation("GET", DISCLOSURES, success=Success(shape=list[Freigabe]), **READ)
async def list_disclosures(call: Call) -> Answer:
    """List what the customer allows advisers to read.

    Also after `gueltigBis`; withdrawn ones are left out.
    """
    found = await call.services.analyses.disclosures.list_disclosures(call.principal)
    return json_answer([show_freigabe(disclosure, call.urls) for disclosure in found])


@operation(
    "POST", DISCLOSURES, body=NewFreigabe, success=Success(201, headers={"Location": "the Freigabe"}), **MODIFY
)  # fmt: skip
async def add_disclosure(call: Call) -> Answer:
    """Allow an adviser, or every adviser of the tenant, to read analyses.

    Until `gueltigBis`, at most twelve months from now. `text` of the Freigabe is in the audit trail.
    """
    body = await call.json(NewFreigabe)
    disclosure = await call.services.analyses.disclosures.add_disclosure(
        call.principal, body.umfang, body.gueltigBis, body.berater
    )
    return created(f"{call.urls.disclosures}/{disclosure.id}")


@operation("GET", DISCLOSURE, success=Success(shape=Freigabe), errors=(404,), **READ)
async def read_disclosure(call: Call) -> Answer:
    """Read one Freigabe.

    A withdrawn one is not found.
    """
    disclosure = await call.services.analyses.disclosures.read_disclosure(call.principal, call.path_uuid("freigabe-id"))
    return json_answer(show_freigabe(disclosure, call.urls))


@operation("DELETE", DISCLOSURE, success=Success(description="withdrawn"), errors=(404,), **MODIFY)
async def withdraw_disclosure(call: Call) -> Answer:
    """Withdraw a Freigabe.

    From now on nobody reads by it.
    """
    await call.services.analyses.disclosures.withdraw_disclosure(call.principal, call.path_uuid("freigabe-id"))
    return empty_answer()


@operation("GET", DISCLOSURE + "/zugriffe", success=Success(shape=list[Zugriff]), errors=(404,), **READ)
async def list_disclosure_reads(call: Call) -> Answer:
    """List who has read by a Freigabe, the newest 500 first.

    From the audit trail; also of a withdrawn Freigabe.
    """
    found = await call.services.analyses.disclosures.list_reads(call.principal, call.path_uuid("freigabe-id"))
    return json_answer([show_zugriff(read) for read in found])

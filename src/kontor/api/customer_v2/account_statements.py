"""Account statements as the bank has issued them."""

from kontor.api.answers import NO_STORE, Answer, json_answer
from kontor.api.customer_v2.accesses import READ
from kontor.api.customer_v2.cancellations import Binary
from kontor.api.customer_v2.transactions import PRODUCT
from kontor.api.operations import Call, Success, operation
from kontor.wire.account_statements import OTHER_FILE, PDF, Kontoauszug, find_media_type, name_file, show_statement

STATEMENTS = PRODUCT + "/kontoauszuege"


@operation("GET", STATEMENTS, success=Success(shape=list[Kontoauszug]), errors=(404,), **READ)
async def list_account_statements(call: Call) -> Answer:
    """List the account statements of a product, newest first.

    `GELISTET`: the file comes with a later fetch.
    """
    statements = await call.services.account_statements.list_statements(
        call.principal, call.path("access-id"), call.path_uuid("product-id")
    )
    return json_answer([show_statement(statement) for statement in statements])


@operation(
    "GET",
    STATEMENTS + "/{statement-id}",
    success=Success(
        shape=Binary,
        media_type=PDF,
        other_media_types=(OTHER_FILE,),
        headers={"Content-Disposition": "attachment, with a file name"},
    ),
    errors=(404,),
    **READ,
)
async def read_account_statement(call: Call) -> Answer:
    """Read the file of an account statement.

    404 unless its status is `VORHANDEN`.
    """
    statement, content = await call.services.account_statements.read_file(
        call.principal, call.path("access-id"), call.path_uuid("product-id"), call.path_uuid("statement-id")
    )
    headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{name_file(statement)}"'}
    return Answer(200, content, find_media_type(statement), headers)

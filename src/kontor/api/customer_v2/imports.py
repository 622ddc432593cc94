"""Statement files of the user's accounts, and CSV forms that the user describes."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.customer_v2.transactions import FILE_LIMITS, STATEMENT_TYPES
from kontor.api.operations import Call, Success, operation
from kontor.domain.accesses import FILES_ACCESS, check_access_id
from kontor.domain.errors import InvalidError
from kontor.services.statements import Owner, UnknownFormError, name_owner
from kontor.wire.import_forms import ImportForm, NewImportForm, show_form
from kontor.wire.imports import (
    ImportPreview,
    StoredImport,
    UnknownForm,
    show_kept,
    show_preview,
    show_stored,
    show_unknown,
)

IMPORTS = CUSTOMER + "/imports"
FORMS = IMPORTS + "/forms"
FORM = FORMS + "/{form-name}"


class ImportQuery(msgspec.Struct, rename={"product_id": "produkt", "access_id": "zugang"}):
    preview: Annotated[bool, Meta(description="answer what would be stored, store nothing")] = False
    product_id: Annotated[UUID, Meta(description="the product that the file is of")] | None = None
    access_id: (
        Annotated[str, Meta(description=f"the access for files, {FILES_ACCESS} if absent; made when there is none")]
        | None
    ) = None
    form: Annotated[str, Meta(description="the form of a CSV; if absent, found by its columns")] | None = None


@operation(
    "POST",
    IMPORTS,
    query=ImportQuery,
    file_types=STATEMENT_TYPES,
    takes_any_type=True,
    is_bulk=True,
    is_heavy=True,
    success=Success(201, shape=StoredImport, description="stored", headers={"Location": "the result, for 30 days"}),
    errors=(404,),
    other_shapes={200: (ImportPreview, UnknownForm)},
    other_statuses={200: "what would be stored, or the columns of a CSV that has no known form (preview)"},
    **MODIFY,
)
async def add_import(call: Call) -> Answer:
    """Import a statement file.

    MT940, camt.052 to 054, MT535, OFX, QIF, CSV, or a zip of them, of any content type. What is stored already is not
    added again. Without `produkt` its accounts become products of an access for files, never of a bank's. The answer
    tells rows that cannot be read; a file without any that can is refused, as is a CSV of an unknown form; with
    `preview` its columns are told, to be described at `imports/forms`.
    """
    query = call.query(ImportQuery)
    owner = name_owner(call.principal)
    access_id = await _find_access(call, owner, query)
    data = await call.read_body()
    if not data:
        raise InvalidError("the file is empty", "body")
    try:
        imported = await call.services.imports.import_file(
            owner, access_id, data, product_id=query.product_id, is_preview=query.preview, limits=FILE_LIMITS,
            form=query.form, is_kept=not query.preview,
        )  # fmt: skip
    except UnknownFormError as error:
        if not query.preview:
            raise
        return json_answer(show_unknown(error))
    uses = call.services.accesses.permissions.uses
    if not query.preview:
        uses.forget(owner.user_id)
    await uses.note(call.principal, access_id)  # what is stored already is told in both cases
    if query.preview:
        return json_answer(show_preview(imported))
    shown = show_stored(imported, call.urls)
    return json_answer(shown, 201, {"Location": call.urls.import_result(shown.id)})


async def _find_access(call: Call, owner: Owner, query: ImportQuery) -> str:
    if query.product_id is None:
        access_id = FILES_ACCESS if query.access_id is None else query.access_id
        try:
            return check_access_id(access_id)
        except InvalidError as error:
            raise InvalidError(error.reason, "zugang") from None
    if query.access_id is not None:
        raise InvalidError("cannot be named with produkt, which has its access", "zugang")
    return await call.services.imports.find_access_of(owner, query.product_id)


@operation("GET", IMPORTS + "/{import-id}", success=Success(shape=StoredImport), errors=(404,), **READ)
async def read_import(call: Call) -> Answer:
    """Read what came of an imported file, for 30 days, while its access exists.

    What was stored, per account, with the rows that could not be read.
    """
    kept = await call.services.imports.read_result(name_owner(call.principal), call.path_uuid("import-id"))
    return json_answer(show_kept(kept, call.urls))


@operation("GET", FORMS, success=Success(shape=list[ImportForm]), **READ)
async def list_import_forms(call: Call) -> Answer:
    """List the CSV forms that the user has described.

    A file whose header fits a form is read by it.
    """
    forms = await call.services.import_forms.list_forms(call.principal)
    return json_answer([show_form(form, call.urls) for form in forms])


@operation(
    "POST",
    FORMS,
    body=NewImportForm,
    success=Success(201, description="stored", headers={"Location": "the form"}),
    **MODIFY,
)
async def add_import_form(call: Call) -> Answer:
    """Describe a CSV form by its columns.

    A form of the same name is replaced.
    """
    form = (await call.json(NewImportForm)).to_form()
    await call.services.import_forms.store_form(call.principal, form)
    return created(call.urls.import_form(form.name))


@operation("GET", FORM, success=Success(shape=ImportForm), errors=(404,), **READ)
async def read_import_form(call: Call) -> Answer:
    """Read one CSV form of the user.

    The columns, the date format and the decimal separator.
    """
    form = await call.services.import_forms.read_form(call.principal, call.path("form-name"))
    return json_answer(show_form(form, call.urls))


@operation("DELETE", FORM, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_import_form(call: Call) -> Answer:
    """Delete a CSV form of the user.

    What was imported with it stays.
    """
    await call.services.import_forms.delete_form(call.principal, call.path("form-name"))
    return empty_answer()

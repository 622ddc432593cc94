"""Statement files, and CSV forms that the user describes."""

from collections.abc import Mapping, Sequence
from typing import Any

from kontor_client.models.imports import ImportForm, ImportPreview, StoredImport
from kontor_client.plans import Call, Plan, fetch, path_of, send

IMPORTS = "/customer/v2/imports"
FORMS = f"{IMPORTS}/forms"


def import_file(
    content: bytes, *, product_id: str | None = None, access_id: str | None = None, form: str | None = None
) -> Plan[StoredImport]:
    """Import a statement file. What is stored already is not added again.

    Without `product_id` its accounts become products of an access for files, `dateien` unless `access_id` names another
    one. `form` names the form of a CSV; without it, the form is found by the columns.
    """
    # A booking is added once, however often the file is sent.
    answer = yield from send(_call(content, product_id, access_id, form, is_preview=False))
    return answer.decode(StoredImport)


def preview_import(
    content: bytes, *, product_id: str | None = None, access_id: str | None = None, form: str | None = None
) -> Plan[ImportPreview]:
    """What `import_file` would store, or the columns of a CSV that has no known form."""
    answer = yield from send(_call(content, product_id, access_id, form, is_preview=True))
    return answer.decode(ImportPreview)


def read_import(import_id: str) -> Plan[StoredImport]:
    """What came of an imported file, for 30 days."""
    return fetch(StoredImport, IMPORTS + path_of(import_id))


def list_import_forms() -> Plan[list[ImportForm]]:
    """The CSV forms that the user has described."""
    return fetch(list[ImportForm], FORMS)


def add_import_form(
    name: str, columns: Mapping[str, str], *, day_format: str, decimal_sign: str, marks: Sequence[str] = ()
) -> Plan[ImportForm]:
    """Describe a CSV; a form of the same name is replaced.

    `columns` leads from a column to a field of a transaction on the wire, such as `betrag`. `day_format` is written
    like `dd.mm.yyyy`.
    """
    body: dict[str, Any] = {
        "name": name,
        "kennzeichen": list(marks),
        "spalten": dict(columns),
        "datumsformat": day_format,
        "dezimalzeichen": decimal_sign,
    }
    answer = yield from send(Call("POST", FORMS, json=body, is_repeatable=True))
    return (yield from fetch(ImportForm, answer.headers["location"]))


def read_import_form(name: str) -> Plan[ImportForm]:
    return fetch(ImportForm, FORMS + path_of(name))


def delete_import_form(name: str) -> Plan[None]:
    """What was imported with it stays."""
    yield from send(Call("DELETE", FORMS + path_of(name)))


def _call(content: bytes, product_id: str | None, access_id: str | None, form: str | None, *, is_preview: bool) -> Call:
    params = {"produkt": product_id, "zugang": access_id, "form": form, "preview": True if is_preview else None}
    headers = {"Content-Type": "application/octet-stream"}
    return Call("POST", IMPORTS, params, content=content, headers=headers, is_repeatable=True)

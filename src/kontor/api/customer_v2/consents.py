"""Consent: strong customer authentication for an access, and its renewal."""

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, created, json_answer
from kontor.api.customer_v2.accesses import (
    ACCESS,
    CUSTOMER,
    MODIFY,
    read_customer_address,
    redirect_user,
    refuse_credentials,
)
from kontor.api.operations import Call, Success, operation
from kontor.domain.accesses import History, check_access_id
from kontor.domain.errors import NotFoundError
from kontor.domain.redirects import FormOptions, UseCase
from kontor.domain.sca_machine import AnswerKind, ScaState
from kontor.services.accesses import IncompleteCredentialsError
from kontor.services.sca import ConsentOptions, ConsentView, NotOpenError, make_answer
from kontor.wire.accesses import NewAccess
from kontor.wire.consents import MAX_TRANSACTIONS, ConsentStatus, MaxTransactions, ScaAnswer, show_consent
from kontor.wire.form_sessions import Language
from kontor.wire.messages import show_notice

CONSENT = CUSTOMER + "/consent/{consent-id}"
STATUS: dict[str, Any] = {"success": Success(shape=ConsentStatus), "errors": (404,)}
ANSWER: dict[str, Any] = STATUS | {"other_shapes": {409: ConsentStatus}}
CONSENT_HEADERS = {"Customer-IP-Address": "public IP address of the end user (required)"}


class ConsentQuery(msgspec.Struct):
    callbackUrl: Annotated[str, Meta(description="where the bank's page sends the user back to")] | None = None  # noqa: N815
    queryTanSettings: Annotated[bool, Meta(description="ask for method and medium, even saved ones")] = False  # noqa: N815
    maxTransactions: (  # noqa: N815
        Annotated[
            MaxTransactions,
            Meta(description="whether transactions older than 90 days are fetched, now and later; at first `all`"),
        ]
        | None
    ) = None

    language: Language | None = None

    @property
    def history(self) -> History | None:
        return None if self.maxTransactions is None else MAX_TRANSACTIONS[self.maxTransactions]


@operation(
    "POST",
    ACCESS + "/consent",
    query=ConsentQuery,
    headers=CONSENT_HEADERS,
    body=dict[str, NewAccess],
    success=Success(201, headers={"Location": "the consent"}),
    other_statuses={451: "redirect the user to Location (tenants that may not handle credentials)"},
    errors=(404, 409),
    **MODIFY,
)
async def start_consent(call: Call) -> Answer:
    """Ask the bank for consent, on first creation of an access or to renew it.

    The body may name the access with provider and credentials; with an empty object the stored ones are used.
    """
    access_id = call.path("access-id")
    check_access_id(access_id)
    exists = await call.services.accesses.exists(call.principal, access_id)
    if not exists and not call.principal.is_regulated:
        raise HttpError(404, "There is no such object.")
    address = read_customer_address(call)
    if address is None:
        raise HttpError(400, "Customer-IP-Address: the header is required")
    query = call.query(ConsentQuery)
    if query.callbackUrl is not None:
        await call.services.redirects.check_callback(call.principal, query.callbackUrl)
    request = await _read_access(call, access_id)
    if not call.principal.is_regulated:
        return await _redirect(call, access_id, request, query, address)
    if query.callbackUrl is None:
        raise HttpError(400, "callbackUrl: the parameter is required")
    if request is None and not exists:
        raise HttpError(404, "There is no such object.")
    options = ConsentOptions(address, query.callbackUrl, query.queryTanSettings, query.history)
    try:
        view = await call.services.consents.start_consent(
            call.principal, access_id, None if request is None else request.to_request(access_id), options
        )
    except IncompleteCredentialsError as error:
        raise HttpError(400, error.message, messages=[show_notice(error.notice)]) from None
    return created(call.urls.consent(view.dialogue.id))


async def _redirect(
    call: Call, access_id: str, new_access: NewAccess | None, query: ConsentQuery, address: str
) -> Answer:
    """A renewal, or another session for an access whose accounts are not chosen yet.

    Of an access that is customer data the selection changes at once, as for any other tenant.
    """
    options = FormOptions(query.queryTanSettings, query.history, None, query.language)
    is_confirmed = await call.services.accesses.is_confirmed(call.principal, access_id)
    if new_access is not None:
        refuse_credentials(access_id, new_access)
        request = new_access.to_request(access_id)
        if is_confirmed:
            await call.services.accesses.store_access(call.principal, access_id, request)
        else:
            call.services.accesses.permissions.check_usable_until(request.usable_until, f"{access_id}.nutzungBis")
            options = replace(
                options,
                selected_products=request.selected_products,
                purpose=request.purpose,
                usable_until=request.usable_until,
            )
    use_case = UseCase.AUTHENTICATE_ACCOUNT if is_confirmed else UseCase.CREATE_ACCOUNT
    return await redirect_user(call, use_case, access_id, query.callbackUrl, address, options)


async def _read_access(call: Call, access_id: str) -> NewAccess | None:
    """The access in the body; None where nothing is given about it."""
    if call.header("content-length") in (None, "0") and call.header("transfer-encoding") is None:
        return None
    body = await call.json_map(NewAccess)
    if set(body) - {access_id}:
        raise HttpError(400, "body: name only the access of the path")
    new_access = body.get(access_id)
    return None if new_access is None or new_access == NewAccess() else new_access


async def _find(call: Call) -> ConsentView:
    """Not one of the web form before the choice of accounts: its methods and challenges would tell the bank."""
    view = await call.services.consents.read_consent(call.principal, call.path_uuid("consent-id"))
    if not await call.services.accesses.is_confirmed(call.principal, view.dialogue.access_id):
        raise NotFoundError
    return view


@operation("GET", CONSENT, **STATUS, **MODIFY)
async def read_consent(call: Call) -> Answer:
    """Read where the consent stands.

    The bank is not asked.
    """
    return json_answer(show_consent(await _find(call), call.urls))


@operation("POST", CONSENT, body=ScaAnswer, **ANSWER, **MODIFY)
async def answer_consent(call: Call) -> Answer:
    """Answer the open step: a method, a medium, a TAN, or a confirmation in the app.

    The relations of the status tell which step is open; 409 where it is another.
    """
    view = await _find(call)
    body = await call.json(ScaAnswer)
    if body.count_given() > 1:
        raise HttpError(400, "body: give one answer at a time")
    kind, value = body.read(view.dialogue)
    if kind is AnswerKind.TAN and view.dialogue.position.state is ScaState.TAN and not value.strip():
        raise HttpError(400, "scaAuthenticationData: the TAN is empty")  # costs none of the user's attempts
    return await _answer(call, view, kind, value)


@operation("GET", CONSENT + "/poll", **ANSWER, **MODIFY)
async def poll_consent(call: Call) -> Answer:
    """Ask the bank whether the user has confirmed in the app.

    409 where no app has anything to confirm.
    """
    return await _answer(call, await _find(call), AnswerKind.CONFIRMED, "")


@operation("POST", CONSENT + "/cancel", **ANSWER, **MODIFY)
async def cancel_consent(call: Call) -> Answer:
    """Cancel the consent.

    409 with the status where it has ended already.
    """
    return await _answer(call, await _find(call), AnswerKind.CANCEL, "")


async def _answer(call: Call, view: ConsentView, kind: AnswerKind, value: str) -> Answer:
    """An answer to a step that is not open is a conflict; the current status comes with it."""
    try:
        settled = await call.services.consents.answer(call.principal, view.dialogue.id, kind, make_answer(kind, value))
    except NotOpenError as error:
        return json_answer(show_consent(error.view, call.urls), 409)
    return json_answer(show_consent(settled, call.urls))

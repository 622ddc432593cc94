"""The customer and its accesses."""

import ipaddress
import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, created, empty_answer, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.accesses import check_access_id
from kontor.domain.redirects import FormOptions, UseCase
from kontor.domain.scopes import CUSTOMER_CREDIT, CUSTOMER_MODIFY, CUSTOMER_READ, CUSTOMER_TAGS
from kontor.services.accesses import AccessRequest
from kontor.wire.accesses import (
    AccessIssues,
    BankAccess,
    Customer,
    NewAccess,
    show_access,
    show_accesses,
    show_customer,
    show_issues,
)
from kontor.wire.form_sessions import Language

CUSTOMER = "/customer/v2"
ACCESSES = CUSTOMER + "/bankzugaenge"
ACCESS = ACCESSES + "/{access-id}"
READ: dict[str, Any] = {"tag": "Customer", "security": Security.USER_TOKEN, "scope": CUSTOMER_READ}
MODIFY: dict[str, Any] = READ | {"scope": CUSTOMER_MODIFY}
TAGS: dict[str, Any] = READ | {"scope": CUSTOMER_TAGS}
IP_HEADER = {"Customer-IP-Address": "public IP address of the end user; says that the user is present"}
MAX_ACCESSES_PER_CALL = 20


class AddQuery(msgspec.Struct):
    callbackUrl: Annotated[str, Meta(description="fallback of the redirect frontend")] | None = None  # noqa: N815
    refresh: Annotated[bool, Meta(description="fetch all data of existing accesses again")] = False
    language: Language | None = None


@operation("GET", CUSTOMER, success=Success(shape=Customer), **READ)
async def read_customer(call: Call) -> Answer:
    """Read the customer with all accesses.

    Relations say what the token can be used for.
    """
    views = await call.services.accesses.list_accesses(call.principal)
    scopes = call.principal.scopes
    shown = show_customer(
        views, call.urls, can_check_credit=CUSTOMER_CREDIT in scopes, can_modify=CUSTOMER_MODIFY in scopes
    )
    return json_answer(shown)


@operation("GET", ACCESSES, success=Success(shape=dict[str, BankAccess]), **READ)
async def list_accesses(call: Call) -> Answer:
    """List the accesses, by their id.

    An object whose keys are the ids of the accesses.
    """
    views = await call.services.accesses.list_accesses(call.principal)
    return json_answer(show_accesses(views, call.urls))


@operation("GET", ACCESS, success=Success(shape=BankAccess), errors=(404,), **READ)
async def read_access(call: Call) -> Answer:
    """Read one access with its products.

    While `status` is not `VOLLSTAENDIG`, products or transactions are still being fetched.
    """
    view = await call.services.accesses.read_access(call.principal, call.path("access-id"))
    return json_answer(show_access(view, call.urls))


@operation("GET", ACCESS + "/issues", success=Success(shape=AccessIssues), errors=(404,), **READ)
async def read_issues(call: Call) -> Answer:
    """Read what the last attempt to fetch an access had to say.

    Messages are for the end user, with a code each.
    """
    view = await call.services.accesses.read_access(call.principal, call.path("access-id"))
    return json_answer(show_issues(view, call.urls))


@operation(
    "POST",
    ACCESSES,
    query=AddQuery,
    headers=IP_HEADER,
    body=dict[str, NewAccess],
    success=Success(
        201,
        headers={"Location": "the access, or the collection when several were added"},
        optional_headers={
            "Retry-After": "seconds until a bank may be called again without the user, where it was not called now",
        },
    ),
    other_statuses={451: "redirect the user to Location (tenants that may not handle credentials)"},
    errors=(409,),
    **MODIFY,
)
async def add_accesses(call: Call) -> Answer:
    """Add one or several accesses.

    Answers once the header data is known, or the bank asked for SCA, or refused; transactions follow in the
    background. The access is stored in any case: see its messages and issues. Without `Customer-IP-Address` a bank is
    called four times in 24 hours at most.
    """
    query = call.query(AddQuery)
    body = await call.json_map(NewAccess)
    if not body:
        raise HttpError(400, "body: name at least one access")
    if len(body) > MAX_ACCESSES_PER_CALL:
        raise HttpError(400, f"body: at most {MAX_ACCESSES_PER_CALL} accesses can be added at once")
    address = read_customer_address(call)
    if query.callbackUrl is not None:
        await call.services.redirects.check_callback(call.principal, query.callbackUrl)
    if not call.principal.is_regulated:
        new_id = await _find_new_access(call, body)
        if new_id is not None:
            if body[new_id].kontoauszuege:
                raise HttpError(400, f"{new_id}.kontoauszuege: can be set once the access is added")
            options = _make_options(call, new_id, body[new_id].to_request(new_id), query.language)
            return await redirect_user(call, UseCase.CREATE_ACCOUNT, new_id, query.callbackUrl, address, options)
    requests = {access_id: new_access.to_request(access_id) for access_id, new_access in body.items()}
    try:
        wait = await call.services.accesses.add_accesses(
            call.principal, requests, refresh=query.refresh, is_attended=address is not None
        )
    except TimeoutError:
        raise HttpError(504, "The bank has not answered yet; the fetch goes on, repeat the call shortly.") from None
    answer = created(call.urls.access(next(iter(body))) if len(body) == 1 else call.urls.accesses)
    if wait is not None:
        answer.headers["Retry-After"] = str(max(1, math.ceil(wait.total_seconds())))
    return answer


@operation("DELETE", ACCESSES, success=Success(description="deleted"), **MODIFY)
async def delete_accesses(call: Call) -> Answer:
    """Delete all accesses with their data and credentials.

    Fetches that wait in the queue are removed too.
    """
    await call.services.accesses.delete_all(call.principal)
    return empty_answer()


@operation("DELETE", ACCESS, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_access(call: Call) -> Answer:
    """Delete an access with its data and credentials.

    Fetches that wait in the queue are removed too.
    """
    await call.services.accesses.delete_access(call.principal, call.path("access-id"))
    return empty_answer()


def _make_options(call: Call, access_id: str, request: AccessRequest, language: str | None) -> FormOptions:
    call.services.accesses.permissions.check_usable_until(request.usable_until, f"{access_id}.nutzungBis")
    return FormOptions(
        selected_products=request.selected_products,
        language=language,
        purpose=request.purpose,
        usable_until=request.usable_until,
    )


async def _find_new_access(call: Call, body: dict[str, NewAccess]) -> str | None:
    """For a redirect tenant: the one access to be added on our own pages, or None when all exist already.

    One that was begun there and is not confirmed yet counts as new: its form is gone on with.
    """
    for access_id, new_access in body.items():
        check_access_id(access_id)
        refuse_credentials(access_id, new_access)
    missing = [
        access_id for access_id in body if not await call.services.accesses.is_confirmed(call.principal, access_id)
    ]
    if len(missing) > 1:
        raise HttpError(400, "body: this tenant adds one access at a time")
    return missing[0] if missing else None


def refuse_credentials(access_id: str, new_access: NewAccess) -> None:
    """What a tenant that uses the redirect frontend must not send."""
    if new_access.providerId is not None or new_access.credentials is not None:
        raise HttpError(400, f"{access_id}: this tenant must not send credentials or a provider id")
    if new_access.sync is False:
        raise HttpError(400, f"{access_id}.sync: must be true for this tenant")


async def redirect_user(
    call: Call, use_case: UseCase, access_id: str, callback_url: str | None, address: str | None, options: FormOptions
) -> Answer:
    """451 without a body: the user goes on in the redirect frontend."""
    handle = await call.services.redirects.start_session(
        call.principal, use_case, access_id, callback_url, address, options=options
    )
    return empty_answer(451, {"Location": call.urls.webform(handle.reveal(), use_case), "Cache-Control": "no-store"})


def read_customer_address(call: Call) -> str | None:
    """The end user's address, which must be a public one (in the demo, any)."""
    text = call.header("customer-ip-address")
    if text is None:
        return None
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        raise HttpError(400, "Customer-IP-Address: expected an IPv4 or IPv6 address") from None
    if not _is_public(address) and not call.settings.demo:
        raise HttpError(400, "Customer-IP-Address: expected a public address")
    return str(address)


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """One that a browser on the Internet can have: `is_global` alone also admits groups and old special ranges."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return _is_public(address.ipv4_mapped)
        if address.scope_id is not None or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved

"""What a tenant knows of merchants, for all its users. Calls are bound to the tenant of the client's token."""

from typing import Any

import msgspec

from kontor.api.answers import Answer, empty_answer, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.api.paging import DEFAULT_PAGE, CursorText, Limit, page_answer, read_cursor
from kontor.domain.errors import InvalidError
from kontor.domain.merchants import Merchant, MerchantState
from kontor.domain.scopes import RULES_MANAGE
from kontor.wire.merchants import MerchantChange, TenantMerchant, show_merchant

MERCHANTS = "/auth/mgmt/v1/tenants/{tenant-name}/merchants"
MERCHANT = MERCHANTS + "/{merchant-id}"
MANAGE: dict[str, Any] = {
    "tag": "Management",
    "security": Security.CLIENT_TOKEN,
    "scope": RULES_MANAGE,
    "errors": (404,),
}


class MerchantsQuery(msgspec.Struct):
    status: MerchantState | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


async def _require_tenant(call: Call) -> str:
    """404 for any other tenant than the token's."""
    tenant = await call.services.tenants.read_tenant(call.principal, call.path("tenant-name"))
    return tenant.name


async def _find_merchant(call: Call) -> Merchant:
    await _require_tenant(call)
    return await call.services.tenant_merchants.read_merchant(call.principal, call.path_uuid("merchant-id"))


@operation("GET", MERCHANTS, query=MerchantsQuery, success=Success(shape=list[TenantMerchant]), **MANAGE)
async def list_tenant_merchants(call: Call) -> Answer:
    """List merchants that the tagger does not know, with what the tenant knows of them.

    In the order of their names. The operator's own model has named the categories, or the tenant. They decide where the
    tagger knows no partner and is less sure; corrections and rules win.
    """
    tenant, query = await _require_tenant(call), call.query(MerchantsQuery)
    after = read_cursor(query.cursor, str) or ""
    found = await call.services.tenant_merchants.list_merchants(call.principal, query.status, after, query.limit + 1)
    page = found[: query.limit]
    shown = [show_merchant(merchant, call.urls.tenant_merchant(tenant, merchant.id)) for merchant in page]
    return page_answer(call, shown, page[-1].merchant if len(found) > query.limit else None)


@operation("GET", MERCHANT, success=Success(shape=TenantMerchant), **MANAGE)
async def read_tenant_merchant(call: Call) -> Answer:
    """Read what the tenant knows of one merchant.

    Its words, its status, and its category where one counts.
    """
    merchant = await _find_merchant(call)
    return json_answer(show_merchant(merchant, call.urls.tenant_merchant(call.path("tenant-name"), merchant.id)))


@operation("PUT", MERCHANT, body=MerchantChange, success=Success(description="changed"), **MANAGE)
async def change_tenant_merchant(call: Call) -> Answer:
    """Approve, change or reject the category of a merchant.

    An approved one counts more than the tagger's word. A rejected one counts no longer, and the model is not asked
    again. Stored transactions are tagged anew in the background.
    """
    merchant = await _find_merchant(call)
    body, service = await call.json(MerchantChange), call.services.tenant_merchants
    if body.status == MerchantState.APPROVED:
        category = None if body.tagTreeItem is None else body.tagTreeItem.systemName
        await service.approve(call.principal, merchant.id, category)
    elif body.tagTreeItem is not None:
        raise InvalidError("is for APPROVED alone", "tagTreeItem")
    else:
        await service.reject(call.principal, merchant.id)
    return empty_answer()


@operation("DELETE", MERCHANT, success=Success(description="deleted"), **MANAGE)
async def delete_tenant_merchant(call: Call) -> Answer:
    """Delete what the tenant knows of a merchant.

    Nothing of it stays. The model may be asked again as soon as there are payments to it; reject it to prevent that.
    """
    merchant = await _find_merchant(call)
    await call.services.tenant_merchants.delete(call.principal, merchant.id)
    return empty_answer()

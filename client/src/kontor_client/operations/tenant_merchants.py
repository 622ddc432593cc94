"""What a tenant knows of merchants, for a client with the scope auth/tenants/rules/manage."""

from typing import Any

from kontor_client.models.tags import TenantMerchant
from kontor_client.operations.management import present, tenant_path
from kontor_client.plans import Call, Plan, fetch, send

MERCHANTS = "merchants"


def list_tenant_merchants(
    tenant: str, *, status: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[TenantMerchant]]:
    """One page; `status` is OPEN, SUGGESTED, UNANSWERED, APPROVED or REJECTED."""
    params = present(status=status, limit=limit, cursor=cursor)
    return fetch(list[TenantMerchant], tenant_path(tenant, MERCHANTS), params=params)


def read_tenant_merchant(tenant: str, merchant_id: str) -> Plan[TenantMerchant]:
    return fetch(TenantMerchant, tenant_path(tenant, MERCHANTS, merchant_id))


def change_tenant_merchant(tenant: str, merchant_id: str, status: str, category: str | None = None) -> Plan[None]:
    """`status` is APPROVED, with another category than the model's if one is given, or REJECTED."""
    body: dict[str, Any] = {"status": status} | ({} if category is None else {"tagTreeItem": {"systemName": category}})
    yield from send(Call("PUT", tenant_path(tenant, MERCHANTS, merchant_id), json=body, is_repeatable=True))


def delete_tenant_merchant(tenant: str, merchant_id: str) -> Plan[None]:
    """The model may be asked again."""
    yield from send(Call("DELETE", tenant_path(tenant, MERCHANTS, merchant_id)))

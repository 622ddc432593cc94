"""Advisers of a tenant, as its administration makes them."""

from uuid import uuid4

from banking import BankCustomer, new_customer
from kontor.domain.scopes import ADVISER_READ, ALL_USER_SCOPES, CUSTOMER_CREDIT, CUSTOMER_READ
from kontor.domain.tenants import ClientKind
from kontor.services.identity.tenants import new_role


async def create_office(services, tenant):
    """A client for advisers: its name and secret."""
    administration = services.tenant_administration
    name = f"office-{uuid4().hex[:8]}"
    _, secret = await administration.create_client(tenant.name, name, ClientKind.USER, ALL_USER_SCOPES)
    role = new_role("adviser", [CUSTOMER_READ, CUSTOMER_CREDIT, ADVISER_READ], is_default=False)
    await administration.create_role(tenant.name, name, role)
    return name, secret


def make_adviser(tenant, office, scope=None):
    user = new_customer(tenant)
    members = f"{tenant.url}/clients/{office[0]}/roles/adviser/users"
    tenant.http.post(members, json=user.reference, headers=tenant.as_admin).raise_for_status()
    form = {"grant_type": "password", "username": user.username, "password": f"password of {user.username}"}
    form |= {"scope": scope} if scope else {}
    answer = tenant.http.post("/auth/oauth2/token", data=form, auth=(f"{tenant.name}/{office[0]}", office[1]))
    assert answer.status_code == 200, answer.text
    return BankCustomer(tenant, user.username, user.reference, answer.json()["access_token"])

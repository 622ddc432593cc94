"""The scope for tags alone: it changes tags and nothing else, and the scope modify includes it."""

import httpx
import pytest

from banking import ACCESSES, narrow, new_customer
from kontor.domain.scopes import CUSTOMER_MODIFY, CUSTOMER_READ, CUSTOMER_TAGS, RULES_MANAGE, USER_SCOPES
from kontor.domain.tenants import ClientKind
from kontor.services.identity import new_role
from tenants import create_tenant

RULES = "/customer/v2/ai/tagging-rules/"
RULE = {"tagTreeItem": {"systemName": "LIVING_GROCERIES"}, "counterpartyName": "Buchladen"}


def ask_for_token(tenant, login, scope=None):
    form = {"grant_type": "password", "username": tenant.username, "password": tenant.password}
    return tenant.http.post("/auth/oauth2/token", data=form | ({"scope": scope} if scope else {}), auth=login)


def call(tenant, token, method, path, json=None) -> httpx.Response:
    return tenant.http.request(method, path, json=json, headers={"Authorization": f"Bearer {token}"})


def test_modify_includes_tags_and_tags_do_not_include_modify(bank_server, shared):
    customer = new_customer(shared)
    assert narrow(customer, CUSTOMER_MODIFY).post(RULES, RULE).status_code == 201
    tags_only = narrow(customer, CUSTOMER_TAGS)
    assert tags_only.post(RULES, RULE).status_code == 201
    for refused in (tags_only.delete(ACCESSES), tags_only.get(RULES)):
        assert refused.status_code == 403
    reader = narrow(customer, CUSTOMER_READ).post(RULES, RULE)
    assert reader.status_code == 403
    assert f'scope="{CUSTOMER_TAGS}"' in reader.headers["www-authenticate"]


def test_token_names_tags_only_where_they_were_granted_by_name_or_asked_for(bank_server, shared):
    assert ask_for_token(shared, shared.app).json()["scope"].split(" ") == list(USER_SCOPES)
    asked = ask_for_token(shared, shared.app, f"{CUSTOMER_TAGS} {CUSTOMER_READ}").json()
    assert asked["scope"] == f"{CUSTOMER_READ} {CUSTOMER_TAGS}"


@pytest.mark.parametrize("client_scope", [CUSTOMER_MODIFY, CUSTOMER_TAGS])
async def test_role_can_grant_tags_alone(services, http, client_scope):
    tenant = await create_tenant(services, http)
    administration = services.tenant_administration
    _, secret = await administration.create_client(tenant.name, "diary", ClientKind.USER, [CUSTOMER_READ, client_scope])
    role = new_role("tagger", [CUSTOMER_READ, CUSTOMER_TAGS], is_default=False)
    await administration.create_role(tenant.name, "diary", role)
    members = f"{tenant.url}/clients/diary/roles/tagger/users"
    tenant.http.post(members, json=tenant.user_reference, headers=tenant.as_admin).raise_for_status()
    login = (f"{tenant.name}/diary", secret)
    answer = ask_for_token(tenant, login).json()
    assert answer["scope"] == f"{CUSTOMER_READ} {CUSTOMER_TAGS}"
    assert ask_for_token(tenant, login, CUSTOMER_MODIFY).json()["error"] == "invalid_scope"
    assert call(tenant, answer["access_token"], "POST", RULES, RULE).status_code == 201
    assert call(tenant, answer["access_token"], "DELETE", ACCESSES).status_code == 403


async def test_admin_client_manages_rules_only_where_the_scope_was_granted(services, http):
    tenant = await create_tenant(services, http)
    asked = {"grant_type": "client_credentials", "scope": RULES_MANAGE}
    assert tenant.http.post("/auth/oauth2/token", data=asked, auth=tenant.admin).json()["error"] == "invalid_scope"
    _, secret = await services.tenant_administration.create_client(
        tenant.name, "rules", ClientKind.ADMIN, [RULES_MANAGE]
    )
    granted = tenant.http.post("/auth/oauth2/token", data=asked, auth=(f"{tenant.name}/rules", secret)).json()
    assert granted["scope"] == RULES_MANAGE

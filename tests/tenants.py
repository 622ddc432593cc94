"""Tenants of one's own, with everything needed to call the API as each of their parts."""

from collections import deque
from dataclasses import dataclass, field, replace
from functools import cache
from uuid import uuid4

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from cheap_passwords import CHEAP
from kontor.domain.scopes import (
    ADVISER_READ,
    ALL_SCOPES,
    ALL_USER_SCOPES,
    CUSTOMER_CREDIT,
    CUSTOMER_READ,
    MANAGEMENT_SCOPES,
    USER_SCOPES,
)
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from kontor.services.security import passwords
from kontor.storage import keys


@dataclass
class TenantUnderTest:
    """A tenant with everything needed to call the API as each of its parts."""

    name: str
    admin: tuple[str, str]
    app: tuple[str, str]
    username: str
    password: str
    user_reference: str
    http: httpx.Client
    tokens: dict[str, str] = field(default_factory=dict)

    def client_token(self, login: tuple[str, str] | None = None, scope: str | None = None) -> str:
        form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
        answer = self.http.post("/auth/oauth2/token", data=form, auth=login or self.admin)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    def user_token(self, scope: str | None = None) -> str:
        form = {"grant_type": "password", "username": self.username, "password": self.password}
        answer = self.http.post("/auth/oauth2/token", data=form | ({"scope": scope} if scope else {}), auth=self.app)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    @property
    def as_admin(self) -> dict[str, str]:
        """Headers of a management call."""
        if "admin" not in self.tokens:
            self.tokens["admin"] = self.client_token()
        return {"Authorization": f"Bearer {self.tokens['admin']}"}

    @property
    def as_user(self) -> dict[str, str]:
        """Headers of a customer's call."""
        if "user" not in self.tokens:
            self.tokens["user"] = self.user_token()
        return {"Authorization": f"Bearer {self.tokens['user']}"}

    @property
    def url(self) -> str:
        return f"/auth/mgmt/v1/tenants/{self.name}"


_generate = keys._generate_rsa_key
_rsa_key = cache(_generate)
_rsa_keys: deque[RSAPrivateKey] = deque()
MAX_RSA_KEYS = 3  # a key, the one before it after a rotation, and an older one


def generate_rsa_key() -> RSAPrivateKey:
    """In place of a new key for each tenant of this process: the next of a few, since each takes 0.3 s to make."""
    if len(_rsa_keys) < MAX_RSA_KEYS:
        _rsa_keys.append(_generate())
    else:
        _rsa_keys.rotate()
    return _rsa_keys[-1]


async def create_tenant(
    services: Services,
    http: httpx.Client,
    *,
    is_regulated: bool = True,
    has_own_key: bool = False,
    may_collect: bool = False,
) -> TenantUnderTest:
    """Most tenants of a run share an RSA key: making one takes longer than most tests. Passwords are hashed cheaply."""
    name = f"t-{uuid4().hex[:12]}"
    administration = services.tenant_administration
    tenant = replace(
        new_tenant(name, is_regulated=is_regulated, scopes=ALL_SCOPES),
        callback_bases=("https://example.com/", "http://localhost", "http://127.0.0.1"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_generate_rsa_key", _generate if has_own_key else _rsa_key)
        await administration.create_tenant(tenant)
    _, admin_secret = await administration.create_client(name, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
    _, app_secret = await administration.create_client(
        name, "app", ClientKind.USER, USER_SCOPES, may_collect=may_collect
    )
    await administration.create_role(name, "app", new_role("customer", USER_SCOPES, is_default=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        user = await services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    return TenantUnderTest(
        name, (f"{name}/admin", admin_secret), (f"{name}/app", app_secret), "anna", "annas password", str(user.id), http
    )


async def create_office(services: Services, tenant: str) -> tuple[str, str]:
    """The client `office` of a console in which customers and advisers are apart: its name and secret."""
    administration = services.tenant_administration
    _, secret = await administration.create_client(tenant, "office", ClientKind.USER, ALL_USER_SCOPES)
    await administration.create_role(tenant, "office", new_role("customer", USER_SCOPES, is_default=True))
    adviser = new_role("adviser", [CUSTOMER_READ, CUSTOMER_CREDIT, ADVISER_READ], is_default=False)
    await administration.create_role(tenant, "office", adviser)
    return f"{tenant}/office", secret

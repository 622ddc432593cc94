"""Tenant, Client, ClientRole and User, as the management interface shows them."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.domain.secrets import Secret
from kontor.domain.tenants import MAX_PASSWORD_LENGTH, MAX_USERNAME_LENGTH
from kontor.domain.tenants import Client as DomainClient
from kontor.domain.tenants import Role as DomainRole
from kontor.domain.tenants import Tenant as DomainTenant
from kontor.domain.tenants import User as DomainUser
from kontor.services.identity import NewUser as NewUserCommand

TechnicalName = Annotated[str, Meta(description="technical name, a URL segment", examples=["demo"])]
Scopes = Annotated[list[str], Meta(examples=[["http://service/customer/read"]])]


class Tenant(msgspec.Struct, omit_defaults=True):
    name: TechnicalName
    description: str | msgspec.UnsetType = msgspec.UNSET


class Client(msgspec.Struct, omit_defaults=True):
    name: TechnicalName
    username: Annotated[str, Meta(description="what Basic authentication takes", examples=["demo/admin"])]
    description: str | msgspec.UnsetType = msgspec.UNSET
    grantedScopes: Scopes | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


class ClientRole(msgspec.Struct):
    name: TechnicalName
    defaultRole: Annotated[bool, Meta(description="assigned to users newly created through the client")]  # noqa: N815
    description: str | msgspec.UnsetType = msgspec.UNSET
    grantedScopes: Scopes | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


class UserReference(msgspec.Struct):
    userReference: Annotated[UUID, Meta(description="technical user id")]  # noqa: N815


class User(msgspec.Struct):
    userReference: Annotated[UUID, Meta(description="technical user id; used in URLs")]  # noqa: N815
    username: Annotated[str, Meta(description="name for the password grant", examples=["anna@example.com"])]


class NewUser(msgspec.Struct):
    """Body of creating and of reactivating a user."""

    username: Annotated[str, Meta(min_length=1, max_length=MAX_USERNAME_LENGTH, examples=["anna@example.com"])]
    password: Annotated[str, Meta(min_length=1, max_length=MAX_PASSWORD_LENGTH, examples=["a long passphrase"])]
    firstname: Annotated[str, Meta(max_length=255)] | None = None
    lastname: Annotated[str, Meta(max_length=255)] | None = None

    def to_command(self) -> NewUserCommand:
        return NewUserCommand(self.username, Secret(self.password), self.firstname, self.lastname)


class ChangedUser(msgspec.Struct):
    """Body of renaming a user."""

    username: Annotated[str, Meta(min_length=1, max_length=MAX_USERNAME_LENGTH, examples=["anna@example.com"])]
    firstname: Annotated[str, Meta(max_length=255)] | None = None
    lastname: Annotated[str, Meta(max_length=255)] | None = None


def show_tenant(tenant: DomainTenant) -> Tenant:
    return Tenant(tenant.name, tenant.description or msgspec.UNSET)


def show_client(client: DomainClient) -> Client:
    return Client(
        client.name, client.username, client.description or msgspec.UNSET, list(client.granted_scopes) or msgspec.UNSET
    )


def show_role(role: DomainRole) -> ClientRole:
    return ClientRole(
        role.name, role.is_default, role.description or msgspec.UNSET, list(role.granted_scopes) or msgspec.UNSET
    )


def show_user(user: DomainUser) -> User:
    return User(user.id, user.username)

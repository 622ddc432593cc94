"""Management of a tenant: clients, roles and users. Every call is bound to the tenant of the client's token."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, created, empty_answer, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain import scopes
from kontor.domain.tenants import User as DomainUser
from kontor.wire.management import (
    ChangedUser,
    Client,
    ClientRole,
    NewUser,
    Tenant,
    User,
    UserReference,
    show_client,
    show_role,
    show_tenant,
    show_user,
)

TENANTS = "/auth/mgmt/v1/tenants"
TENANT = TENANTS + "/{tenant-name}"
CLIENTS = TENANT + "/clients"
CLIENT = CLIENTS + "/{client-name}"
ROLES = CLIENT + "/roles"
ROLE = ROLES + "/{role-name}"
ROLE_USERS = ROLE + "/users"
USERS = TENANT + "/users"
USER = USERS + "/{user-reference}"

COMMON: dict[str, Any] = {"tag": "Management", "security": Security.CLIENT_TOKEN}
LOCATION = {"Location": "address of the created object"}


class ListUsersQuery(msgspec.Struct):
    includeInactive: Annotated[bool, Meta(description="list deactivated users too")] = False  # noqa: N815


class RoleUserBody(msgspec.Struct):
    """The object form of a user reference, accepted besides the plain string."""

    userReference: str  # noqa: N815


# Tenants, clients, roles


@operation("GET", TENANTS, scope=scopes.TENANTS_READ, success=Success(shape=list[Tenant]), **COMMON)
async def list_tenants(call: Call) -> Answer:
    """List the tenants the token may see: its own.

    A client's token belongs to one tenant, so the list has one entry.
    """
    tenant = await call.services.tenants.read_tenant(call.principal, call.principal.tenant_name)
    return json_answer([show_tenant(tenant)])


@operation("GET", TENANT, scope=scopes.TENANTS_READ, success=Success(shape=Tenant), errors=(404,), **COMMON)
async def read_tenant(call: Call) -> Answer:
    """Read the tenant.

    404 for any other tenant than the token's.
    """
    return json_answer(show_tenant(await call.services.tenants.read_tenant(call.principal, call.path("tenant-name"))))


@operation("GET", CLIENTS, scope=scopes.CLIENTS_READ, success=Success(shape=list[Client]), errors=(404,), **COMMON)
async def list_clients(call: Call) -> Answer:
    """List the tenant's clients.

    Secrets are not shown.
    """
    clients = await call.services.tenants.list_clients(call.principal, call.path("tenant-name"))
    return json_answer([show_client(client) for client in clients])


@operation("GET", CLIENT, scope=scopes.CLIENTS_READ, success=Success(shape=Client), errors=(404,), **COMMON)
async def read_client(call: Call) -> Answer:
    """Read one client.

    Its secret is not shown.
    """
    client = await call.services.tenants.read_client(call.principal, call.path("tenant-name"), call.path("client-name"))
    return json_answer(show_client(client))


@operation("GET", ROLES, scope=scopes.CLIENTS_READ, success=Success(shape=list[ClientRole]), errors=(404,), **COMMON)
async def list_roles(call: Call) -> Answer:
    """List a client's roles.

    A role gives scopes to the users that are assigned to it.
    """
    roles = await call.services.tenants.list_roles(call.principal, call.path("tenant-name"), call.path("client-name"))
    return json_answer([show_role(role) for role in roles])


def _role_path(call: Call) -> tuple[str, str, str]:
    return call.path("tenant-name"), call.path("client-name"), call.path("role-name")


@operation("GET", ROLE, scope=scopes.CLIENTS_READ, success=Success(shape=ClientRole), errors=(404,), **COMMON)
async def read_role(call: Call) -> Answer:
    """Read one role.

    It shows which scopes its users get.
    """
    return json_answer(show_role(await call.services.tenants.read_role(call.principal, *_role_path(call))))


@operation(
    "GET", ROLE_USERS, scope=scopes.CLIENTS_READ, success=Success(shape=list[UserReference]), errors=(404,), **COMMON
)
async def list_role_users(call: Call) -> Answer:
    """List the active users that have a role.

    Deactivated users are left out.
    """
    references = await call.services.tenants.list_role_users(call.principal, *_role_path(call))
    return json_answer([UserReference(reference) for reference in references])


@operation(
    "POST",
    ROLE_USERS,
    scope=scopes.ROLES_ASSIGN,
    body=Annotated[str | RoleUserBody, Meta(description="a JSON string holding the user reference")],
    success=Success(201, headers=LOCATION, description="assigned"),
    errors=(404,),
    **COMMON,
)
async def assign_role(call: Call) -> Answer:
    """Assign a user to a role.

    The user's next token has the scopes of the role.
    """
    await call.services.tenants.read_role(call.principal, *_role_path(call))
    body = await call.json(str | RoleUserBody)  # type: ignore[arg-type]
    try:
        user_id = UUID(body if isinstance(body, str) else body.userReference)
    except ValueError:
        raise HttpError(400, "body: a user reference is a UUID") from None
    await call.services.tenants.assign_role(call.principal, *_role_path(call), user_id)
    return created(call.urls.role_user(*_role_path(call), user_id))


@operation(
    "GET",
    ROLE_USERS + "/{user-reference}",
    scope=scopes.CLIENTS_READ,
    success=Success(shape=UserReference),
    errors=(404,),
    **COMMON,
)
async def read_role_user(call: Call) -> Answer:
    """Read one user of a role.

    404 for a user that does not have the role.
    """
    user_id = call.path_uuid("user-reference")
    await call.services.tenants.read_role_user(call.principal, *_role_path(call), user_id)
    return json_answer(UserReference(user_id))


# Users


@operation(
    "GET",
    USERS,
    scope=scopes.USERS_READ,
    query=ListUsersQuery,
    success=Success(shape=list[User]),
    errors=(404,),
    **COMMON,
)
async def list_users(call: Call) -> Answer:
    """List the tenant's users.

    Deactivated users are listed only if asked for.
    """
    tenant_name = call.path("tenant-name")
    await call.services.tenants.read_tenant(call.principal, tenant_name)
    query = call.query(ListUsersQuery)
    users = await call.services.users.list_users(call.principal, tenant_name, include_inactive=query.includeInactive)
    return json_answer([show_user(user) for user in users])


@operation("GET", USER, scope=scopes.USERS_READ, success=Success(shape=User), errors=(404,), **COMMON)
async def read_user(call: Call) -> Answer:
    """Read one active user.

    404 for a deactivated user.
    """
    user_id = call.path_uuid("user-reference")
    return json_answer(
        show_user(await call.services.users.read_user(call.principal, call.path("tenant-name"), user_id))
    )


@operation(
    "POST",
    USERS,
    scope=scopes.USERS_CREATE,
    body=NewUser,
    success=Success(201, headers=LOCATION, description="created"),
    errors=(404, 409),
    **COMMON,
)
async def create_user(call: Call) -> Answer:
    """Create a user.

    The default roles of the client that creates the user are assigned; through the admin client, those of the
    tenant's user clients.
    """
    tenant_name = call.path("tenant-name")
    await call.services.tenants.read_tenant(call.principal, tenant_name)
    body = await call.json(NewUser)
    user = await call.services.users.create_user(call.principal, tenant_name, body.to_command())
    return created(call.urls.user(tenant_name, user.id))


async def _find_user(call: Call) -> DomainUser:
    """The user of the path, deactivated or not."""
    return await call.services.users.read_any_user(
        call.principal, call.path("tenant-name"), call.path_uuid("user-reference")
    )


@operation(
    "PUT",
    USER,
    scope=scopes.USERS_CREATE,
    body=ChangedUser,
    success=Success(description="renamed"),
    errors=(404, 409),
    **COMMON,
)
async def rename_user(call: Call) -> Answer:
    """Rename an active user.

    Names that are left out stay as they are. 409 where the username is taken.
    """
    user_id = call.path_uuid("user-reference")
    user = await call.services.users.read_user(call.principal, call.path("tenant-name"), user_id)
    body = await call.json(ChangedUser)
    await call.services.users.rename_user(call.principal, user, body.username, body.firstname, body.lastname)
    return empty_answer()


@operation(
    "DELETE",
    USER,
    scope=scopes.USERS_CREATE,
    success=Success(description="erased"),
    errors=(404, 405),
    **COMMON,
)
async def erase_user(call: Call) -> Answer:
    """Erase a deactivated user and everything that belongs to it.

    Accesses, transactions, payments and credentials are deleted for good. 405 for an active user.
    """
    await call.services.users.erase_user(call.principal, await _find_user(call))
    return empty_answer()


@operation(
    "PUT",
    USER + "/deactivate",
    scope=scopes.USERS_CREATE,
    success=Success(description="deactivated"),
    errors=(404,),
    **COMMON,
)
async def deactivate_user(call: Call) -> Answer:
    """Deactivate a user; its tokens stop working at once.

    Its data stays until it is erased, and it can be reactivated.
    """
    await call.services.users.deactivate_user(call.principal, await _find_user(call))
    return empty_answer()


@operation(
    "POST",
    USER + "/reactivate",
    scope=scopes.USERS_CREATE,
    body=NewUser,
    success=Success(description="reactivated"),
    errors=(404, 409),
    **COMMON,
)
async def reactivate_user(call: Call) -> Answer:
    """Reactivate a user with a new password.

    Its data is as it was. 409 where the username is taken.
    """
    user = await _find_user(call)
    body = await call.json(NewUser)
    await call.services.users.reactivate_user(call.principal, user, body.to_command())
    return empty_answer()


# Certificate


@operation(
    "GET",
    TENANT + "/certificate",
    tag="Keys",
    security=Security.NONE,
    success=Success(shape=str, media_type="application/x-pem-file"),
    errors=(404,),
)
async def read_certificate(call: Call) -> Answer:
    """Read the certificate under which credentials are encrypted.

    An X.509 certificate as PEM, open to everybody. It changes when the tenant's key is rotated.
    """
    certificate = await call.services.tenants.read_certificate(call.path("tenant-name"))
    return Answer(200, certificate.encode(), "application/x-pem-file")

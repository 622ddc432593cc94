"""One object, read with a client's token: `GET /auth/mgmt/v1/tenants/{tenant}/users/{user-reference}`."""

from collections.abc import Sequence
from itertools import cycle
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException
from psycopg import AsyncConnection
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import load_only

from benchmarks.conventional.database import DatabaseSession
from benchmarks.conventional.models import AccessToken, User
from benchmarks.conventional.security import ClientScope
from benchmarks.endpoints import Endpoint, Request, Targets
from benchmarks.environment import BenchmarkEnvironment
from kontor.storage.database import fetch_row
from kontor.storage.users import FIND_USER

USERS = 1000
TOKENS = 8


# What is requested: a thousand different users in turn, so that no answer is the one before.


async def prepare(environment: BenchmarkEnvironment) -> list[Request]:
    references = await environment.add_users(USERS)
    tokens = cycle([await environment.issue_client_token() for _ in range(TOKENS)])
    return [
        Request(f"/auth/mgmt/v1/tenants/{environment.tenant}/users/{reference}", next(tokens))
        for reference in references
    ]


# The limit

READY_USER = """
    select json_build_object('userReference', id, 'username', username)::text
    from users where tenant_id = $1 and id = $2
"""


async def read_ready(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> bytes | None:
    row = await fetch_row(connection, READY_USER, [principal[0], path.rpartition("/")[2]])
    return None if row is None else row[0].encode()


async def ask(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> None:
    await fetch_row(connection, FIND_USER, [principal[0], path.rpartition("/")[2]])


# The conventional reference

router = APIRouter()


class UserOut(BaseModel):
    """Made straight from the ORM object, which is what FastAPI does with a `response_model`."""

    model_config = ConfigDict(from_attributes=True)

    userReference: UUID = Field(validation_alias="id")  # noqa: N815
    username: str


@router.get("/auth/mgmt/v1/tenants/{tenant_name}/users/{user_reference}", response_model=UserOut)
async def read_user(
    tenant_name: str,
    user_reference: UUID,
    token: Annotated[AccessToken, Depends(ClientScope("auth/tenants/users/read"))],
    session: DatabaseSession,
) -> User:
    if tenant_name != token.tenant.name:
        raise HTTPException(404, "There is no such object.")
    user = await session.scalar(
        select(User)
        .where(User.tenant_id == token.tenant_id, User.id == user_reference, User.is_active)
        .options(load_only(User.id, User.username))
    )
    if user is None:
        raise HTTPException(404, "There is no such object.")
    return user


ENDPOINT = Endpoint(
    name="single-read",
    title="One user, read with a client's token",
    targets=Targets(conventional=4.0, limit=0.6),
    prepare=prepare,
    read_ready=read_ready,
    ask=ask,
    router=router,
)

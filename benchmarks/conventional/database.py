"""Engine and session."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine


def make_engine(conninfo: str, pool_size: int) -> AsyncEngine:
    facts = conninfo_to_dict(conninfo)
    url = URL.create(
        "postgresql+asyncpg",
        username=str(facts["user"]),
        password=str(facts["password"]),
        database=str(facts["dbname"]),
        query={"host": str(facts["host"])},
    )
    return create_async_engine(
        url,
        # Tuned: as many connections as Kontor has, kept open; nobody waits for a new one.
        pool_size=pool_size,
        max_overflow=0,
        # Tuned: newest first, so that few connections are hot, each with its statements prepared.
        pool_use_lifo=True,
        # Tuned: single reads need no transaction. This saves two round trips (begin, rollback) in each request.
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
        # Tuned: no ping before use; it would be one more round trip.
        pool_pre_ping=False,
        # Tuned: prepared statements are kept per connection (the default, said aloud).
        connect_args={"prepared_statement_cache_size": 100},
    )


def make_sessions(engine: AsyncEngine) -> async_sessionmaker[AsyncSession]:
    # Tuned: nothing is expired after a commit and nothing is flushed before a query, since nothing is written.
    return async_sessionmaker(engine, expire_on_commit=False, autoflush=False)


async def open_session(request: Request) -> AsyncIterator[AsyncSession]:
    async with request.app.state.sessions() as session:
        yield session


# Tuned: one session and so one connection for the whole request; given back before the answer is sent, not after.
DatabaseSession = Annotated[AsyncSession, Depends(open_session, scope="function")]

"""Threads for calls that block, a pool for each kind of call: a kind that hangs holds up no other."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

T = TypeVar("T")


async def run_in(executor: Executor, function: Callable[..., T], *arguments: object) -> T:
    """As `asyncio.to_thread`, with the caller's context, in a pool of one's own."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(executor, context.run, function, *arguments)

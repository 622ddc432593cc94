"""Operations as methods of the two clients."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from kontor_client.operations.transactions import Pages
from kontor_client.plans import Call, Plan
from kontor_client.running import AsyncRunner, SyncRunner

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


def awaited(operation: Callable[P, Plan[T]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method of `AsyncKontor`."""

    async def run(self: AsyncRunner, /, *args: P.args, **options: P.kwargs) -> T:
        return await self.run(operation(*args, **options))

    return _describe(run, operation)


def waited(operation: Callable[P, Plan[T]]) -> Callable[Concatenate[Any, P], T]:
    """A method of `Kontor`."""

    def run(self: SyncRunner, /, *args: P.args, **options: P.kwargs) -> T:
        return self.run(operation(*args, **options))

    return _describe(run, operation)


def iterated_async(pages_of: Callable[P, Pages[T]]) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    """A method of `AsyncKontor` that yields row by row; a page is read when it is needed."""

    async def iterate(self: AsyncRunner, /, *args: P.args, **options: P.kwargs) -> AsyncIterator[T]:
        pages = pages_of(*args, **options)
        following: Call | None = pages.first
        while following is not None:
            rows, following = await self.run(pages.read(following))
            for row in rows:
                yield row

    return _describe(iterate, pages_of)


def iterated(pages_of: Callable[P, Pages[T]]) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """A method of `Kontor` that yields row by row; a page is read when it is needed."""

    def iterate(self: SyncRunner, /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        pages = pages_of(*args, **options)
        following: Call | None = pages.first
        while following is not None:
            rows, following = self.run(pages.read(following))
            yield from rows

    return _describe(iterate, pages_of)


def _describe(method: M, operation: Callable[..., Any]) -> M:
    """What `help` shows: the operation's own name, text and parameters, these after `self`."""
    update_wrapper(method, operation)  # type: ignore[arg-type]
    shown = inspect.signature(operation)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__dict__["__signature__"] = shown.replace(
        parameters=[own, *shown.parameters.values()], return_annotation=inspect.Signature.empty
    )
    return method

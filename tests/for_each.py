"""One test for many things that are checked in no time: a test for each of them takes longer than what it checks."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(name: str, things: Iterable[Any], show: Callable[[Any], str] = str) -> Callable[[Any], Any]:
    """`@for_each("page", PAGES)` above a test with the argument `page`: it names every page that fails, and why."""
    listed = list(things)
    assert listed, "there is something to check"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def check_all(**fixtures: Any) -> None:
            failures = {}
            for thing in listed:
                try:
                    test(**fixtures, **{name: thing})
                except AssertionError as error:
                    failures[show(thing)] = str(error)
            assert failures == {}

        others = [parameter for parameter in signature.parameters.values() if parameter.name != name]
        vars(check_all)["__signature__"] = signature.replace(parameters=others)
        return check_all

    return decorate

"""Tests with many examples: the long tier tries all of them, the fast tier a part.

tests/conftest.py marks all properties `examples`.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
ALL_EXAMPLES = "KONTOR_TEST_ALL_EXAMPLES"  # set by ./dev for the long tier


def count_examples(count: int) -> int:
    """How many of them a property tries: all in the long tier; in the fast tier a quarter, and at least 10."""
    return count if ALL_EXAMPLES in os.environ else min(count, max(count // 4, 10))


def many_examples(count: int) -> Any:
    """`@many_examples(400)` above `@given` replaces the default of 100. With other settings: `count_examples`."""
    return settings(max_examples=count_examples(count))


def few_cases(cases: Iterable[Any], count: int) -> list[Any]:
    """For `parametrize`: the first `count` in the fast tier, the others in the long tier."""
    listed = list(cases)
    return [*listed[:count], *(pytest.param(case, marks=pytest.mark.long) for case in listed[count:])]


def some_of(things: Sequence[T]) -> Sequence[T]:
    """Every third in the fast tier. The test is marked `examples`, so that the long tier tries all of them."""
    return things if ALL_EXAMPLES in os.environ else things[::3]

"""Properties with many examples: the long tier tries all of them, the fast tier a quarter."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

ALL_EXAMPLES = "KONTOR_TEST_ALL_EXAMPLES"  # set by ./dev for the long tier


def many_examples(count: int) -> Callable[[Any], Any]:
    """`@many_examples(400)` above `@given`."""
    tried = count if ALL_EXAMPLES in os.environ else max(count // 4, 10)

    def decorate(test: Any) -> Any:
        return pytest.mark.examples(settings(max_examples=tried)(test))

    return decorate

"""Somebody who is signed in to the console."""

from collections.abc import Iterator

import httpx
import pytest

from console_site import ConsoleSite


@pytest.fixture(scope="module")
def visitor(console_site: ConsoleSite) -> Iterator[httpx.Client]:
    """The user whose data is there from the start, in a browser without scripts; for tests that only read."""
    with console_site.visit() as client:
        yield client

"""One fleet for all tests of this folder: its processes take longer to start than the tests to run."""

from collections.abc import Iterator

import pytest
from fleets import Fleet, running_fleet


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet

from collections.abc import Iterator

import pytest

from fints_banks import FintsBankUnderTest, running_fints_bank
from kontor.config import Settings


@pytest.fixture(scope="module")
def bank(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FintsBankUnderTest]:
    """A suffix makes a login of one's own: `demo1+mine`."""
    with running_fints_bank(settings, tmp_path_factory.mktemp("fints"), page_rows=50) as bank:
        yield bank

from collections.abc import Iterator

import pytest
from dialogue import BANK_ADDRESS

from kontor.config import Settings


@pytest.fixture(scope="session", autouse=True)
def bank_address(settings: Settings) -> Iterator[None]:
    """The demo bank keeps its books in PostgreSQL, where every process finds them."""
    assert settings.database_url is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BANK_ADDRESS, settings.database_url.reveal())
        yield

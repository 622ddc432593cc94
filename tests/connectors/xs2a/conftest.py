from collections.abc import Iterator

import pytest

from kontor.config import Settings
from xs2a_dialogues import Xs2aBankUnderTest, running_xs2a_bank


@pytest.fixture(scope="module")
def xs2a_bank(settings: Settings) -> Iterator[Xs2aBankUnderTest]:
    with running_xs2a_bank(settings, page_size=100) as bank:
        yield bank

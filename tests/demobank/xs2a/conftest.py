from collections.abc import Iterator

import pytest

from kontor.config import Settings
from xs2a_dialogues import Caller, Xs2aBankUnderTest, new_login, running_xs2a_bank


@pytest.fixture(scope="module")
def xs2a_bank(settings: Settings) -> Iterator[Xs2aBankUnderTest]:
    with running_xs2a_bank(settings, page_size=50) as bank:
        yield bank


@pytest.fixture
def caller(xs2a_bank: Xs2aBankUnderTest) -> Iterator[Caller]:
    client = Caller(xs2a_bank.url, new_login("test_bank_message"))
    yield client
    client.close()

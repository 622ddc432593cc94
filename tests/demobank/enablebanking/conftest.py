from collections.abc import Iterator

import pytest

from enablebanking_talk import ServiceUnderTest, running_service
from kontor.config import Settings


@pytest.fixture(scope="module")
def service(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceUnderTest]:
    with running_service(settings, tmp_path_factory.mktemp("application"), page_size=50) as running:
        yield running

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from scripted_service import running_stage, write_key


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_key(tmp_path_factory.mktemp("key"))


@pytest.fixture
def play(key_file: Path) -> Iterator[Any]:
    """A scripted service with these answers."""
    with ExitStack() as stack:
        yield lambda answers: stack.enter_context(running_stage(key_file, answers))

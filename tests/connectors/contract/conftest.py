import json
from collections.abc import Iterator

import pytest
from dialogue import BANK_ADDRESS
from scenarios import serve_enablebanking, serve_fints, serve_xs2a, write_folders

from kontor.config import Settings


@pytest.fixture(scope="session", autouse=True)
def bank_address(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The demo bank keeps its books in PostgreSQL, where every process finds them; on the wire it is a server."""
    assert settings.database_url is not None
    books = settings.database_url.reveal()
    folders = write_folders(tmp_path_factory.mktemp("statements"))
    with (
        pytest.MonkeyPatch.context() as patch,
        serve_xs2a(books) as xs2a,
        serve_fints(books, tmp_path_factory.mktemp("fints")) as fints,
        serve_enablebanking(books, tmp_path_factory.mktemp("application")) as enablebanking,
    ):
        addresses = {"demo": books, "xs2a": xs2a, "fints": fints, "files": folders, "enablebanking": enablebanking}
        patch.setenv(BANK_ADDRESS, json.dumps(addresses))
        yield

"""Secrets with a mark, sent through every entrance, and those that Kontor makes, are looked for where bytes are kept.

Looked through are answers and pages, logs, metrics, every table, and the files of the database with its write-ahead
log, which a backup copies.
"""

import base64
from pathlib import Path

import pytest

from journeys.marked_flows import MARK, play_every_flow
from secret_search import find_forms, list_forms


@pytest.fixture(scope="module")
async def played(bank_server, shared, standing_services, http, console_site):
    return await play_every_flow(standing_services, http, shared, console_site)


def test_no_answer_and_no_page_repeats_a_secret(played):
    assert len(played.answers) > 20
    assert all("</html>" in page for page in played.pages)
    for text in [answer.text + str(answer.headers) for answer in played.answers] + played.pages:
        for name, form in list_forms(MARK).items():
            assert form.decode("latin-1") not in text, name


def test_no_log_and_no_metric_has_a_secret(played, server_log, worker_log, data_dir, http):
    logs = [server_log, worker_log, data_dir / "console.log"]
    texts = [*(log.read_bytes() for log in logs), http.get("/metrics").content]
    assert all(texts)
    for secret in (MARK, *played.made):
        for name, form in list_forms(secret).items():
            assert not any(form in text for text in texts), name


def search_file(file: Path, forms: dict[str, bytes]) -> list[str]:
    """A running PostgreSQL removes files that it keeps for a while, such as `pg_internal.init`."""
    try:
        return list(find_forms(file, forms))
    except FileNotFoundError:
        return []


def test_no_file_of_the_database_has_a_secret_not_even_the_write_ahead_log(played, owner):
    """That of the demo bank, which knows its customers' logins, is no exception: it is told no secret to keep."""
    owner.execute("checkpoint")
    folder = Path(owner.execute("show data_directory").fetchone()[0])
    forms = {
        f"{number} {name}": form
        for number, secret in enumerate((MARK, *played.made))
        for name, form in list_forms(secret).items()
    }
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = [hit for file in files for hit in search_file(file, forms)]
    assert found == []
    name = {"plain": played.username.encode()}
    folders = {file.parent.name for file in files if search_file(file, name)}
    assert "pg_wal" in folders  # what is no secret is found


@pytest.mark.parametrize("offset", range(4))
@pytest.mark.parametrize("encode", [bytes, bytes.hex, base64.b64encode], ids=["plain", "hex", "Base64"])
def test_the_search_finds_a_secret_wherever_it_is(tmp_path, offset, encode):
    """Also where it lies across two chunks."""
    hidden = encode(b"x" * offset + MARK.encode() + b"yz")
    raw = hidden.encode() if isinstance(hidden, str) else hidden
    for start_at in range(40, 70):
        (tmp_path / "file").write_bytes(b" " * start_at + raw + b" " * 100)
        assert list(find_forms(tmp_path / "file", list_forms(MARK), chunk_bytes=64))

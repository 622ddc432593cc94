"""An export that ends is whole: one that cannot become whole breaks off."""

import asyncio
import os
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from kontor.cli.exports import _save_pieces
from kontor.domain.errors import NotFoundError
from kontor.services.statements.exports import Span
from kontor.services.statements.imports import Owner
from kontor.wire.export_files import write_file

OWNER = Owner(uuid4(), "pseudonym", uuid4(), "somebody")


class FewExports:
    """Of a user without anything, who may be erased before the end."""

    def __init__(self, *, is_erased):
        self._is_erased = is_erased

    async def read_user(self, owner):
        if self._is_erased:
            raise NotFoundError
        return "{}"


async def collect(exports):
    pieces = write_file(exports, OWNER, [], datetime(2026, 11, 15, tzinfo=UTC), Span(), "csv")
    return b"".join([piece async for piece in pieces])


def test_an_export_of_a_user_who_was_erased_meanwhile_does_not_end_as_if_it_were_whole():
    assert asyncio.run(collect(FewExports(is_erased=False))).startswith(b"access_id,")
    with pytest.raises(NotFoundError):
        asyncio.run(collect(FewExports(is_erased=True)))


def test_a_pipe_named_as_output_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    async def write():
        yield b"whole"

    asyncio.run(_save_pieces(write(), pipe))
    assert os.read(reader, 100) == b"whole"
    os.close(reader)
    assert pipe.is_fifo()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]

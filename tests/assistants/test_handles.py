"""Handles of previews: signed for one token, for ten minutes, and never read before the signature is checked."""

import base64

import msgspec
import pytest

from kontor.assistants import handles
from kontor.assistants.errors import ToolError
from kontor.assistants.handles import HANDLE_SECONDS, HandleKey
from kontor.domain.secrets import Secret


class Change(msgspec.Struct):
    count: int


KEY = HandleKey(Secret("kontor_at_one"))


def test_a_handle_opens_to_what_was_previewed():
    assert KEY.open(KEY.seal(Change(3)), Change) == Change(3)


def test_a_handle_of_one_token_is_nothing_to_another():
    with pytest.raises(ToolError):
        HandleKey(Secret("kontor_at_other")).open(KEY.seal(Change(3)), Change)


def test_a_handle_with_one_byte_changed_is_refused_wherever_it_is():
    sealed = base64.urlsafe_b64decode(KEY.seal(Change(3)) + "==")
    for place in range(len(sealed)):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        with pytest.raises(ToolError):
            KEY.open(base64.urlsafe_b64encode(changed).decode().rstrip("="), Change)


@pytest.mark.parametrize("text", ["AAAA", "!", "", "ä", "A" * 64])
def test_any_other_text_is_refused(text):
    with pytest.raises(ToolError):
        KEY.open(text, Change)


def test_a_handle_counts_for_ten_minutes(monkeypatch):
    now = 1_800_000_000
    monkeypatch.setattr(handles.time, "time", lambda: now)
    handle = KEY.seal(Change(3))
    now += HANDLE_SECONDS
    assert KEY.open(handle, Change) == Change(3)
    now += 1
    with pytest.raises(ToolError):
        KEY.open(handle, Change)

"""Tests that need the official contract fail without it: a test that is skipped proves nothing, and nobody notices."""

import pytest
from contract import CONTRACT, load_contract


def test_without_the_contract_its_tests_fail_and_say_what_is_missing(monkeypatch):
    monkeypatch.delenv(CONTRACT, raising=False)
    with pytest.raises(AssertionError, match=CONTRACT):
        load_contract()


def test_a_path_that_leads_nowhere_fails(monkeypatch, tmp_path):
    monkeypatch.setenv(CONTRACT, str(tmp_path / "gone.yaml"))
    with pytest.raises(FileNotFoundError):
        load_contract()

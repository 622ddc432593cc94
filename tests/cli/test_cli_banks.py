"""`kontor bank`: profiles are checked before they are used, and shown in their own form."""

import tomllib

from kontor.cli import commands


def test_a_usable_folder_is_told_and_a_mistake_is_named_with_its_file(tmp_path, capsys):
    (tmp_path / "ing.toml").write_text('groups = ["ING"]\n[fints]\nhistory_days = 30\n')
    (tmp_path / "mine.toml").write_text('[[bank]]\ncode = "99999999"\nname = "A"\n')
    assert commands.run(["bank", "check", str(tmp_path)]) == commands.OK
    told = capsys.readouterr().err
    assert "Usable: 2 profiles with 1 banks." in told
    assert "Replaces what Kontor knows about ing." in told
    (tmp_path / "ing.toml").write_text("[fints]\nhistory = 30\n")
    assert commands.run(["bank", "check", str(tmp_path)]) == commands.REFUSED
    told = " ".join(capsys.readouterr().err.split())
    assert "ing.toml: fints:" in told
    assert "history" in told


def test_a_bank_is_shown_in_a_form_that_can_be_checked(tmp_path, capsys):
    assert commands.run(["bank", "show", "50010517"]) == commands.OK
    shown = capsys.readouterr()
    profile = tomllib.loads(shown.out)
    assert profile["codes"] == ["50010517"]
    assert profile["fints"] == {"address": "https://fints.ing.de/fints", "has_one_step": True}
    assert profile["xs2a"]["accounts_path"] == "v3/accounts"
    assert shown.err.startswith("ING, profile ")
    (tmp_path / "mine.toml").write_text(shown.out)
    assert commands.run(["bank", "check", str(tmp_path)]) == commands.OK
    assert commands.run(["bank", "show", "00000001"]) == commands.REFUSED

"""The guide's commands, in its order, in an empty folder."""

from firefly_server import TOKEN, FireflyServer, serve_firefly

from guide_code import Guide
from processes import run_kontor


def test_the_guide_leads_from_a_key_to_the_first_entries(
    synced, settings, shared, run_command, bank_server, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    names = {"bank": shared.name, "anna": synced.customer.username}
    told = []
    with serve_firefly(FireflyServer()) as firefly:
        values = {"KONTOR_SYNC_URL": bank_server, "FIREFLY_SERVER": firefly.address, "FIREFLY_TOKEN": TOKEN}
        for words in Guide("guides/firefly.md").list_commands():
            if words[:2] == ["kontor", "api-key"]:
                made = run_kontor(settings, *(names.get(word, word) for word in words[1:]))
                values["KONTOR_SYNC_KEY"] = made.stdout.split()[-1]
            elif words[0] == "export":
                name = words[1].partition("=")[0]
                monkeypatch.setenv(name, values.pop(name))
            else:
                told.append(run_command(*words[1:])[:2])
        assert values == {}
        assert [code for code, _ in told] == [0, 0]
        assert told[1][1] == "Done: 1 new account, 4 new.\n"
        assert len(firefly.groups) == 3
    assert (tmp_path / "kontor-firefly" / "categories.toml").exists()

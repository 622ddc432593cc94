"""The code of the guide works as pasted, in its order."""

import re

from guide_code import Guide


def test_every_block_works_as_pasted(bank_server, customer, tmp_path, monkeypatch, capsys):
    Guide("guides/clients.md").run_python(tmp_path, bank_server, customer, monkeypatch)
    shown = capsys.readouterr().out
    assert "GIROKONTO" in shown
    assert re.search(r"^200 application/json \['", shown, re.MULTILINE)
    assert re.search(r"^True$", shown, re.MULTILINE)
    assert re.search(r"^True False False False$", shown, re.MULTILINE)


def test_the_readme_of_the_package_does_what_it_says(bank_server, customer, capsys):
    [block] = Guide("../client/README.md").list_blocks("python")
    access_id = customer.add_complete("leer+readme")
    names = {
        "base_url": bank_server, "client": customer.tenant.app[0], "client_secret": customer.tenant.app[1],
        "username": customer.username, "password": f"password of {customer.username}",
    }  # fmt: skip
    exec(compile(block, "client/README.md", "exec"), names)
    assert capsys.readouterr().out == f"{access_id} VOLLSTAENDIG\n"

"""`kontor operator status`: the state of a service that may run elsewhere, over its API."""

import json
from uuid import uuid4

import pytest

from kontor.cli import commands


@pytest.fixture
async def token(standing_services):
    _, token = await standing_services.operators.create_operator(f"status-{uuid4().hex[:8]}", 1)
    return token.reveal()


def test_it_tells_every_check_and_by_its_exit_code_whether_all_is_well(bank_server, token, monkeypatch, capsys):
    monkeypatch.setenv("KONTOR_OPERATOR_TOKEN", token)
    code = commands.run(["operator", "status", "--url", bank_server, "--json"])
    checks = json.loads(capsys.readouterr().out)
    assert {"database", "workers", "refreshes"} <= {check["check"] for check in checks}
    assert code == (0 if all(check["well"] == "yes" for check in checks) else 1)


@pytest.mark.parametrize(("given", "said"), [("", "KONTOR_OPERATOR_TOKEN"), ("kontor_op_wrong", "403")])
def test_without_a_valid_token_it_says_so_in_one_sentence(server, given, said, monkeypatch, capsys):
    monkeypatch.setenv("KONTOR_OPERATOR_TOKEN", given)
    assert commands.run(["operator", "status", "--url", server]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert "Traceback" not in told.err


def test_a_service_that_is_not_there_is_told_as_such(token, monkeypatch, capsys):
    monkeypatch.setenv("KONTOR_OPERATOR_TOKEN", token)
    assert commands.run(["operator", "status", "--url", "http://127.0.0.1:9"]) == 1
    assert "Traceback" not in capsys.readouterr().err

"""Enable Banking from the operator's side: the list of banks, and what `kontor check` says, at the demo service."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from enablebanking_talk import RETURN_URL, running_service
from kontor.bootstrap import make_registry
from kontor.cli.checks import State, check_application, check_settings
from kontor.cli.checks.enable_banking import check_enable_banking
from kontor.config import SettingError, read_settings
from processes import run_kontor


@pytest.fixture(scope="module")
def service(settings, tmp_path_factory):
    with running_service(settings, tmp_path_factory.mktemp("application")) as running:
        yield running


@pytest.fixture
def environment(service, tmp_path):
    return {
        "KONTOR_ENABLE_BANKING_APPLICATION": service.service.application.id,
        "KONTOR_ENABLE_BANKING_KEY": str(service.key_file),
        "KONTOR_ENABLE_BANKING_URL": service.url,
        "KONTOR_ENABLE_BANKING_BANKS": str(tmp_path / "banks.json"),
    }


def write_list(environment):
    bank = {"name": "Demo-Bank", "country": "DE", "maximum_consent_validity": 86_400}
    Path(environment["KONTOR_ENABLE_BANKING_BANKS"]).write_text(json.dumps({"banks": [bank]}))


def test_the_list_of_banks_is_fetched_and_read_again(environment):
    file = environment["KONTOR_ENABLE_BANKING_BANKS"]
    told = run_kontor(read_settings(environment), "bank", "fetch", file, "--name", "demo")
    assert "1 banks, 0 of them in the catalogue already" in told.stdout + told.stderr
    (bank,) = json.loads(Path(file).read_text())["banks"]
    assert (bank["name"], bank["country"], bank["bic"]) == ("Demo-Bank", "DE", "KONTDEFFXXX")
    assert bank["maximum_consent_validity"] == 180 * 86_400


def test_a_list_that_enable_banking_does_not_give_is_explained(environment):
    for changes, words in (
        ({"KONTOR_ENABLE_BANKING_APPLICATION": "4b6c8c26-7f80-4a4e-9d4e-111111111111"}, "The token is not valid"),
        ({"KONTOR_ENABLE_BANKING_APPLICATION": ""}, "needs KONTOR_ENABLE_BANKING_APPLICATION"),
        ({"KONTOR_ENABLE_BANKING_URL": "http://127.0.0.1:1"}, "does not answer"),
    ):
        told = run_kontor(read_settings(environment | changes), "bank", "fetch", "list.json", code=1)
        assert words in told.stderr


def test_an_address_without_tls_is_refused(environment):
    for address in ("http://bank.example", "https://", "https://bank.example?key=1", "http://localhost.bank.example"):
        with pytest.raises(SettingError, match="must be an https address"):
            read_settings(environment | {"KONTOR_ENABLE_BANKING_URL": address})


def find(findings, subject="Enable Banking"):
    return [(finding.state, finding.text) for finding in findings if finding.subject == subject]


def test_settings_that_belong_together_are_set_together(environment):
    assert list(check_enable_banking(read_settings({}))) == []
    for missing in ("KONTOR_ENABLE_BANKING_APPLICATION", "KONTOR_ENABLE_BANKING_KEY", "KONTOR_ENABLE_BANKING_BANKS"):
        given = {name: value for name, value in environment.items() if name != missing}
        (finding,) = check_enable_banking(read_settings(given))
        assert (finding.subject, finding.state) == (missing, State.PROBLEM)


def test_a_key_and_a_list_that_cannot_be_used_are_problems(environment, tmp_path, settings):
    (finding,) = check_enable_banking(read_settings(environment))
    assert finding.state is State.PROBLEM
    assert "banks.json cannot be read" in finding.text
    write_list(environment)
    assert find(check_settings(read_settings(environment)))[0][0] is State.OK
    broken = tmp_path / "broken.pem"
    broken.write_text("nothing")
    changed = read_settings(environment | {"KONTOR_ENABLE_BANKING_KEY": str(broken)})
    assert "is not a private key" in find(check_settings(changed))[0][1]
    without = replace(read_settings(environment), enable_banking_banks=None, database_url=settings.database_url)
    with pytest.raises(SettingError, match="KONTOR_ENABLE_BANKING_BANKS"):
        make_registry(without)


def test_the_application_is_looked_up_as_it_is_registered(environment, service):
    write_list(environment)
    found = find(check_application(read_settings(environment)))
    assert [state for state, _ in found] == [State.OK, State.PROBLEM, State.WARNING]
    assert "http://127.0.0.1:8080/customer/v2/webform/return is not among" in found[1][1]
    assert "http://127.0.0.1:8080/console/connect/back" in found[2][1]
    registered = service.service.application
    service.service.application = replace(registered, redirect_urls=(RETURN_URL,), is_active=False)
    try:
        (refused,) = find(check_application(read_settings(environment)))
    finally:
        service.service.application = registered
    assert refused == (State.PROBLEM, f"{service.url}: This application may not do that.")


def test_nothing_is_asked_where_the_settings_are_wrong(environment):
    assert list(check_application(read_settings(environment))) == [], "the list is missing"
    assert list(check_application(read_settings({}))) == []

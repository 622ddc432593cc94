"""Settings: every variable is read, mistakes are told by name, and secrets stay secret."""

from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest

from kontor.config import PREFIX, SettingError, Settings, describe_settings, export_settings, read_settings
from kontor.domain.secrets import Secret

GIVEN = {
    "base_url": ("https://kontor.example", "https://kontor.example"),
    "data": ("/srv/kontor", Path("/srv/kontor")),
    "database_url": ("postgresql://a:hidden-1@b/c", Secret("postgresql://a:hidden-1@b/c")),
    "migration_database_url": ("postgresql://o:hidden-2@b/c", Secret("postgresql://o:hidden-2@b/c")),
    "is_embedded": ("true", True),
    "parent_pid": ("4711", 4711),
    "master_key": ("hidden-3", Secret("hidden-3")),
    "master_key_command": ("vault read kontor", "vault read kontor"),
    "pool_size": ("3", 3),
    "request_seconds": ("60", 60),
    "compute_megabytes": ("600", 600),
    "max_body_bytes": ("2048", 2048),
    "max_bulk_body_bytes": ("4096", 4096),
    "trusted_proxies": ("10.0.0.1, ::1", ("10.0.0.1", "::1")),
    "metrics_token": ("hidden-4", Secret("hidden-4")),
    "otlp_endpoint": ("http://collector:4318", "http://collector:4318"),
    "transport_security": ("max-age=60", "max-age=60"),
    "enable_banking_url": ("https://service.example", "https://service.example"),
    "console_url": ("https://console.example", "https://console.example"),
    "model_url": ("https://model.example/v1", "https://model.example/v1"),
    "log_level": ("debug", "debug"),
    "log_format": ("text", "text"),
    "clock": ("2026-10-20T00:00:00+00:00@300.0@1795000000", "2026-10-20T00:00:00+00:00@300.0@1795000000"),
    "demo": ("1", True),
}


NOT_WITH_OTHERS = {"today"}  # the clock says it already


def complete(kind: object, default: object) -> str:
    """A value other than the default, for settings that others have added."""
    return {bool: "false" if default else "true", int: "77", float: "7.5"}.get(type(default), "something")


@pytest.fixture
def environment() -> dict[str, str]:
    known = {name: text for name, (text, _) in GIVEN.items()}
    for field in fields(Settings):
        if field.name in NOT_WITH_OTHERS:
            continue
        known.setdefault(field.name, complete(field.type, field.default))
    return {PREFIX + name.upper(): text for name, text in known.items()}


def test_every_variable_is_parsed(environment):
    settings = read_settings(environment)
    for name, (_, value) in GIVEN.items():
        assert getattr(settings, name) == value, name
    plain = read_settings({})
    assert read_settings({"KONTOR_TODAY": "2026-02-28"}).today == date(2026, 2, 28)
    for field in fields(Settings):
        if field.name in NOT_WITH_OTHERS:
            continue
        assert getattr(settings, field.name) != getattr(plain, field.name), field.name


def test_exported_settings_are_read_back_as_they_were(environment):
    for settings in (read_settings(environment), read_settings({})):
        assert read_settings(export_settings(settings)) == settings


def test_no_secret_is_shown(environment):
    shown = f"{read_settings(environment)!r} {read_settings(environment)}"
    assert "hidden" not in shown
    secrets = [field for field in fields(Settings) if "Secret" in str(field.type)]
    assert shown.count("Secret(***)") == 2 * len(secrets)


def test_an_empty_variable_counts_as_not_given():
    assert read_settings({PREFIX + field.name.upper(): "" for field in fields(Settings)}) == read_settings({})


def test_arguments_win_over_the_environment():
    assert read_settings({"KONTOR_POOL_SIZE": "3"}, pool_size=4, base_url=None).pool_size == 4


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("BASE_URL", "kontor.example"),
        ("BASE_URL", "https://kontor.example/"),
        ("POOL_SIZE", "0"),
        ("POOL_SIZE", "many"),
        ("REQUEST_SECONDS", "-1"),
        ("MAX_BODY_BYTES", "10"),
        ("MAX_BULK_BODY_BYTES", "10"),
        ("TRUSTED_PROXIES", "10.0.0.1,proxy"),
        ("OTLP_ENDPOINT", "collector:4318"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
        ("TODAY", "tomorrow"),
        ("IS_EMBEDDED", "perhaps"),
        ("PARENT_PID", "mother"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_by_its_name(variable, text):
    with pytest.raises(SettingError, match=PREFIX + variable):
        read_settings({PREFIX + variable: text})


@pytest.mark.parametrize(
    "address",
    [
        "http://model.example/v1",
        "http://8.8.8.8/v1",
        "http://localhost.model.example/v1",
        "https://model.example/v1/",
        "https://model.example/v1?key=x",
        "https://user:password@model.example/v1",
        "ftp://127.0.0.1/v1",
        "model.example/v1",
        "https:///v1",
    ],
)
def test_the_own_model_is_reached_by_https_or_within_the_own_network(address):
    name = {"KONTOR_MODEL_NAME": "m"}
    for safe in ("https://model.example/v1", "http://localhost:1/v1", "http://192.168.7.2:8000/v1", "http://[::1]/v1"):
        assert read_settings({"KONTOR_MODEL_URL": safe} | name).model_url == safe
    with pytest.raises(SettingError, match="KONTOR_MODEL_URL must be"):
        read_settings({"KONTOR_MODEL_URL": address} | name)
    with pytest.raises(SettingError, match="needs KONTOR_MODEL_NAME"):
        read_settings({"KONTOR_MODEL_URL": "https://model.example/v1"})


def test_every_setting_is_described():
    described = describe_settings()
    assert [row[0] for row in described] == [PREFIX + field.name.upper() for field in fields(Settings)]
    assert all(len(row[2]) > 10 for row in described)

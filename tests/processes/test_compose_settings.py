"""The compose file passes on every setting that an operator can set, and the proxies fit the settings' defaults."""

import re
from pathlib import Path

import yaml

from kontor.config import Settings, describe_settings, read_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
NOT_PASSED = {
    "KONTOR_DATA": "the image sets it",
    "KONTOR_MASTER_KEY": "a secret, read by KONTOR_MASTER_KEY_COMMAND",
    "KONTOR_IS_EMBEDDED": "set by Kontor for child processes",
    "KONTOR_PARENT_PID": "set by Kontor for child processes",
    "KONTOR_POSTGRES_PROGRAMS": "the image has the programs of PostgreSQL 18",
    "KONTOR_DEMO": "set by `kontor demo`",
    "KONTOR_TODAY": "for demos and tests",
    "KONTOR_CLOCK": "for simulations",
    "KONTOR_MCP_TOKEN": "of `kontor mcp`, which runs beside an assistant",
    "KONTOR_MCP_API_KEY": "of `kontor mcp`, which runs beside an assistant",
}


def test_every_setting_is_passed_on_or_there_is_a_reason():
    services = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())["services"]
    passed = {name.removesuffix("_FILE") for service in ("migrate", "api") for name in services[service]["environment"]}
    known = {name for name, _, _ in describe_settings()}
    assert passed <= known
    assert known - passed == set(NOT_PASSED)


def test_what_is_not_given_is_the_default():
    environment = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())["services"]["worker"]["environment"]
    empty = {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in environment.items()}
    given = {name: value for name, value in empty.items() if not name.endswith("_FILE")}
    changed = {"master_key_command", "erasure_log"}
    settings = read_settings(given)
    assert {
        name for name in Settings.__slots__ if getattr(settings, name) != getattr(read_settings({}), name)
    } == changed


def test_the_log_of_erasures_is_on_a_volume_of_its_own():
    services = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())["services"]
    for name in ("api", "worker"):
        folder = str(Path(services[name]["environment"]["KONTOR_ERASURE_LOG"]).parent)
        assert f"state:{folder}" in services[name]["volumes"]
    assert "state" not in str(services["postgres"]["volumes"])


def read_seconds(text: str, name: str) -> int:
    return int(re.search(rf"\b{name} (\d+)s", text)[1])


def test_proxies_wait_longer_and_take_more_than_kontor_and_close_idle_connections_earlier():
    defaults = read_settings({})
    nginx, caddy = (DEPLOY / "nginx/kontor.conf").read_text(), (DEPLOY / "caddy/Caddyfile").read_text()
    for size in (re.search(r"client_max_body_size (\d+)m", nginx), re.search(r"max_size (\d+)MiB", caddy)):
        assert int(size[1]) * 1024 * 1024 > defaults.max_bulk_body_bytes
    assert read_seconds(nginx, "proxy_read_timeout") > defaults.request_seconds
    assert read_seconds(caddy, "response_header_timeout") > defaults.request_seconds
    assert read_seconds(nginx, "keepalive_timeout") < defaults.keep_alive_seconds
    assert read_seconds(caddy, "keepalive") < defaults.keep_alive_seconds

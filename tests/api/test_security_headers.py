"""Headers that tell browsers what a response may do, on answers of the API, on pages, on files, and on errors."""

import re
from dataclasses import replace

import httpx
import pytest

from kontor.config import SettingError

FORM = "/customer/v2/webform/step"
PLACES = [
    "/health/live",
    "/openapi.json",
    "/docs",
    "/docs/customer",
    "/docs/assets/docs.js",
    "/console",
    "/console/sign-in",
    "/console/assets/console.js",
    FORM,
    "/customer/v2/webform/embed.js",
    "/demobank/style.css",
    "/no/such/path",
]
PUBLIC = ("/openapi.json", "/docs", "/docs/customer")  # the same for everybody; asked about each time
every_place = pytest.mark.parametrize("path", PLACES)


def directives(answer: httpx.Response) -> dict[str, str]:
    [policy] = answer.headers.get_list("content-security-policy")
    return dict((part.strip() + " ").split(" ", 1) for part in policy.split(";"))


@every_place
def test_no_response_may_load_from_elsewhere_or_run_what_stands_in_it(http, path):
    found = directives(http.get(path))
    assert found["default-src"].strip() == "'none'"
    assert found.get("script-src", "'none'").strip() in ("'none'", "'self'")
    assert found.get("base-uri", "").strip() == "'none'"


@every_place
def test_no_response_can_be_framed_unless_a_tenant_lists_the_place(http, path):
    assert directives(http.get(path))["frame-ancestors"].strip() == "'none'"


@every_place
def test_every_response_forbids_sniffing_referrers_and_devices(http, path):
    headers = http.get(path).headers
    assert headers.get_list("x-content-type-options") == ["nosniff"]
    assert headers.get_list("referrer-policy") == ["no-referrer"]
    assert headers.get_list("permissions-policy") == ["camera=(), microphone=(), geolocation=(), payment=()"]
    assert len(headers.get_list("cross-origin-resource-policy")) == 1


@every_place
def test_only_files_without_customer_data_may_be_kept(http, path):
    answer = http.get(path)
    [kept] = answer.headers.get_list("cache-control")
    assert kept == "no-store" or re.search(r"\.(js|css)$", path) or path in PUBLIC


@pytest.mark.parametrize("path", ["/customer/v2", "/customer/v2/bankzugaenge", "/customer/v2/kontoumsaetze"])
def test_answers_with_customer_data_are_not_kept(shared, path):
    answer = shared.http.get(path, headers=shared.as_user)
    assert answer.status_code in (200, 404)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@every_place
def test_no_response_allows_scripts_of_other_origins_to_read_it(http, path):
    for method in ("GET", "OPTIONS"):
        headers = http.request(method, path, headers={"Origin": "https://evil.example"}).headers
        assert [name for name in headers if name.startswith("access-control-")] == []


@every_place
def test_texts_name_their_charset(http, path):
    answer = http.get(path)
    kind = answer.headers["content-type"]
    assert kind == "application/json" or kind.endswith("; charset=utf-8")


def test_tenants_can_show_logos_and_load_the_component_and_nothing_else(http, shared):
    logo = http.get("/providers/v2", headers=shared.as_user).json()[0]["relations"][1]["href"]
    for path in (logo, "/customer/v2/webform/embed.js"):
        assert http.get(path).headers["cross-origin-resource-policy"] == "cross-origin"
    others = [path for path in PLACES if not path.endswith("embed.js")]
    assert {http.get(path).headers["cross-origin-resource-policy"] for path in others} == {"same-origin"}


@pytest.mark.parametrize("path", ["/console/sign-in", "/docs"])
def test_pages_that_speak_to_no_other_window_are_cut_off_from_it(http, path):
    assert http.get(path).headers["cross-origin-opener-policy"] == "same-origin"


def test_the_web_form_keeps_the_window_that_opened_it(http):
    """It reports its end to the tenant's page, and the bank's page comes back in a window of its own."""
    assert "cross-origin-opener-policy" not in http.get(FORM).headers


@pytest.mark.parametrize("value", ["max-age=31536000; includeSubDomains", "max-age=60"])
async def test_https_is_demanded_for_as_long_as_the_operator_says(start_app, value):
    async with start_app(base_url="https://kontor.example", transport_security=value) as client:
        for path in ("/openapi.json", "/docs", "/no/such/path"):
            assert (await client.get(path)).headers["strict-transport-security"] == value


def test_plain_http_demands_nothing(http):
    assert "strict-transport-security" not in http.get("/health/live").headers


@pytest.mark.parametrize("value", ["yes", "max-age=1\r\nX: y", "max-age=", "max-age=1; other"])
def test_a_value_that_is_no_such_policy_prevents_the_start(settings, value):
    with pytest.raises(SettingError, match="KONTOR_TRANSPORT_SECURITY"):
        replace(settings, transport_security=value)

"""The console as an app: manifest, icons, service worker, pushes, and what is there without a network."""

import json
import re
import struct

import pytest

from banking import new_customer
from console_site import read_token
from kontor.console.rendering import load_texts
from kontor.domain.alerts import AlertKind
from push_browsers import new_browser

PUSH = "/customer/v2/hinweise/push"


def read_facts(client, language):
    answer = client.get("/console/service-worker.js", params={"language": language})
    assert answer.status_code == 200
    found = re.match(r"const FACTS = (.*);\n", answer.text)
    assert found is not None
    return json.loads(found[1])


def test_the_manifest_has_icons_of_the_sizes_that_it_says(visitor):
    page = visitor.get("/console/sign-in").text
    [address] = re.findall(r'<link rel="manifest" href="([^"]+)"', page)
    answer = visitor.get(address)
    assert answer.headers["content-type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/console", "/console", "standalone")
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        picture = visitor.get(icon["src"])
        assert picture.headers["content-type"] == "image/png"
        width, height = struct.unpack(">II", picture.content[16:24])
        assert f"{width}x{height}" == icon["sizes"]


@pytest.mark.parametrize("language", list(load_texts()))
def test_the_service_worker_has_a_text_for_every_kind_in_the_language_of_the_page(visitor, language):
    facts = read_facts(visitor, language)
    assert facts["language"] == language
    assert {*facts["texts"]} == {"title", "other", *AlertKind}
    assert len(set(facts["texts"].values())) == len(facts["texts"])
    assert not re.search(r"\d", "".join(facts["texts"].values()))


def test_a_service_worker_in_no_language_is_refused(visitor):
    for query in ({}, {"language": "xx"}):
        assert visitor.get("/console/service-worker.js", params=query).status_code == 400


def test_the_service_worker_may_serve_the_whole_console_and_keeps_nothing_of_a_customer(visitor, console_site):
    answer = visitor.get("/console/service-worker.js", params={"language": "de"})
    assert answer.headers["service-worker-allowed"] == "/console"
    kept = read_facts(visitor, "de")["kept"]
    assert [re.sub(r"\?v=\w+", "", address) for address in kept] == [
        "/console/offline", "/console/assets/palette.css", "/console/assets/console.css", "/console/assets/icon.svg",
    ]  # fmt: skip
    for address in kept:
        content = visitor.get(address)
        assert content.status_code == 200
        assert console_site.rich.username not in content.text
    assert "Keine Verbindung" in visitor.get("/console/offline").text


def test_pages_allow_manifest_and_worker_and_still_nothing_inline(visitor):
    policy = visitor.get("/console").headers["content-security-policy"]
    assert "manifest-src 'self'; worker-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_browser_is_switched_on_listed_and_switched_off_by_forms(console_site):
    customer, browser = new_customer(console_site.regulated), new_browser()
    with console_site.visit(customer) as client:
        page = client.get("/console/devices").text
        assert "Noch keiner." in page
        keys = browser.subscription["keys"]
        form = {"action": "subscribe", "token": read_token(page), "endpoint": browser.endpoint} | keys
        answer = client.post("/console/devices", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/devices?notice=push_on")
        [known] = customer.read(PUSH)
        page = client.get(answer.headers["location"]).text
        assert "Hinweise sind eingeschaltet." in page
        assert f'data-endpoint="{browser.endpoint}"' in page
        form = {"action": "unsubscribe", "token": read_token(page), "id": known["id"]}
        assert client.post("/console/devices", data=form).headers["location"].endswith("notice=push_off")
        assert customer.read(PUSH) == []
        assert client.post("/console/devices", data=form | {"token": "0" * 64}).status_code == 403


def test_a_push_leads_to_the_page_of_what_it_is_about(console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add("leer+push", "wrong")
    [alert] = customer.read("/customer/v2/hinweise")
    with console_site.visit(customer) as client:
        answer = client.get(f"/console/alerts/{alert['id']}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/console/accounts#bank-{access_id}")
        gone = client.get("/console/alerts/00000000-0000-0000-0000-000000000000")
        assert (gone.status_code, gone.headers["location"]) == (303, "/console")

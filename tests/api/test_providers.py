"""The provider catalogue over HTTP: search, filters, ETag, logos, statistics, and banks that cannot be reached here."""

import random
from dataclasses import replace
from xml.etree import ElementTree

import httpx
import pytest

import shapes
from banking import ACCESSES, DEMO_BANK, new_id
from plain_http import plain_client
from processes import free_port, running_server

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def as_reader(shared):
    return {"Authorization": f"Bearer {shared.user_token('http://service/provider/read')}"}


@pytest.fixture(scope="module")
def everything(http, as_reader):
    answer = http.get("/providers/v2", headers=as_reader)
    assert answer.status_code == 200
    return answer


def search(http, as_reader, **query):
    answer = http.get("/providers/v2", params=query, headers=as_reader)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_provider_has_the_fields_of_its_table(everything):
    providers = shapes.parse_raw(everything.text)
    assert len(providers) > 1000
    for provider in providers:
        assert shapes.fits(shapes.PROVIDER)(provider)
        assert [relation["rel"] for relation in provider["relations"]] == ["self", "logo"]
    assert len({provider["id"] for provider in providers}) == len(providers)


def test_providers_that_can_be_connected_name_their_login_fields(everything):
    """Banks without any electronic access have nothing to log in with."""
    with_fields = [provider for provider in everything.json() if provider["authenticationInfo"]["fields"]]
    assert len(with_fields) > 2000
    for provider in with_fields:
        keys = [field["fieldkey"] for field in provider["authenticationInfo"]["fields"]]
        assert len(keys) == len(set(keys))
        assert any(field["secret"] for field in provider["authenticationInfo"]["fields"])


def test_demo_bank_is_listed_under_its_fixed_id(http, as_reader, server):
    bank = http.get(f"/providers/v2/{DEMO_BANK}", headers=as_reader).json()
    assert bank["id"] == DEMO_BANK
    assert [field["fieldkey"] for field in bank["authenticationInfo"]["fields"]] == ["userid", "pin"]
    assert [field["secret"] for field in bank["authenticationInfo"]["fields"]] == [False, True]
    assert bank["relations"][0] == {"rel": "self", "href": f"{server}/providers/v2/{DEMO_BANK}"}


@pytest.mark.parametrize("provider_id", ["00000000-0000-0000-0000-000000000001", "x", "%00", DEMO_BANK + "0", "🏦"])
def test_unknown_provider_is_404(http, as_reader, provider_id):
    for path in ("", "/logo", "/statistics"):
        assert http.get(f"/providers/v2/{provider_id}{path}", headers=as_reader).status_code == 404


def test_list_and_single_provider_show_the_same(http, as_reader, everything):
    for provider in random.Random(7).sample(everything.json(), 5):
        assert http.get(f"/providers/v2/{provider['id']}", headers=as_reader).json() == provider


# Search


@pytest.mark.parametrize(
    "words", ["sparkasse köln", "Sparkasse Koeln", "SPARKASSE KÖLN", "köln sparkasse", "sparkasse koln"]
)
def test_search_finds_a_bank_however_its_umlauts_are_written(http, as_reader, words):
    found = search(http, as_reader, q=words)
    assert "KölnBonn" in found[0]["name"] or "Köln" in found[0]["name"]


@pytest.mark.parametrize(
    ("query", "blz"),
    [
        ({"q": "37050198"}, "37050198"),
        ({"q": "COLSDE33"}, "37050198"),
        ({"q": "colsde33xxx"}, "37050198"),
        ({"blz": "37050198"}, "37050198"),
        ({"bic": "COLSDE33"}, "37050198"),
        ({"bic": "COLSDE33XXX", "capability": "KONTEN"}, "37050198"),
    ],
)
def test_search_by_bank_code_and_bic(http, as_reader, query, blz):
    assert search(http, as_reader, **query)[0]["blz"] == blz


def test_filters_narrow_and_can_be_combined(http, as_reader, everything):
    whole = everything.json()
    by_code = search(http, as_reader, blz="3705")
    assert {provider["id"] for provider in by_code} == {
        provider["id"] for provider in whole if provider.get("blz", "").startswith("3705")
    }
    by_bic = search(http, as_reader, bic="GENODE")
    assert {provider["id"] for provider in by_bic} == {
        provider["id"] for provider in whole if provider.get("bic", "").startswith("GENODE")
    }
    for capability in ("KONTEN", "KARTEN", "DEPOTS"):
        found = search(http, as_reader, capability=capability)
        assert {provider["id"] for provider in found} == {
            provider["id"] for provider in whole if capability in provider["capabilities"]
        }
    both = search(http, as_reader, blz="3705", bic="COLS")
    assert both
    assert all(provider["blz"].startswith("3705") and provider["bic"].startswith("COLS") for provider in both)


def test_the_capability_filter_tells_banks_apart(http, as_reader):
    found = {word: len(search(http, as_reader, capability=word)) for word in ("KONTEN", "KARTEN", "DEPOTS")}
    assert found["KONTEN"] > found["KARTEN"] > found["DEPOTS"] > 1


def test_providers_known_by_a_file_form_alone_are_listed_with_channel_file_only(http, as_reader, everything):
    read = search(http, as_reader, channel="file", q="paypal")
    assert [provider["name"] for provider in read] == ["PayPal"]
    assert read[0]["authenticationInfo"] == {"fields": []}
    assert read[0]["capabilities"] == ["KONTEN"]
    assert read[0]["id"] not in {provider["id"] for provider in everything.json()}
    assert search(http, as_reader, q="paypal") == []
    assert http.get(f"/providers/v2/{read[0]['id']}", headers=as_reader).json() == read[0]
    assert http.get(f"/providers/v2/{read[0]['id']}/logo").status_code == 200
    by_card = search(http, as_reader, channel="file", capability="KARTEN")
    assert "American Express" in {provider["name"] for provider in by_card}
    assert shapes.fits(shapes.PROVIDER)(shapes.parse_raw(str(read[0]).replace("'", '"').replace("True", "true")))


def test_an_access_cannot_be_added_at_a_provider_known_by_a_file_form_alone(customer, http, as_reader):
    [paypal] = search(http, as_reader, channel="file", q="paypal")
    answer = customer.post(ACCESSES, {new_id(): {"providerId": paypal["id"], "credentials": {}}})
    assert answer.status_code == 400


def test_search_that_finds_nothing_is_an_empty_list(http, as_reader):
    assert search(http, as_reader, q="there is no such bank anywhere") == []
    assert search(http, as_reader, q="\x00") is not None


@pytest.mark.parametrize("query", ["capability=GOLD", "channel=GOLD", "q=a&q=b", f"q={'x' * 201}", "blz=" + "1" * 21])
def test_bad_filter_is_400(http, as_reader, query):
    assert http.get(f"/providers/v2?{query}", headers=as_reader).status_code == 400


# ETag


def test_list_that_has_not_changed_is_304_without_a_body(http, as_reader, everything):
    tag = everything.headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = http.get("/providers/v2", headers=as_reader | {"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    assert http.get("/providers/v2", headers=as_reader | {"If-None-Match": '"other"'}).status_code == 200


def test_each_filter_has_a_tag_of_its_own(http, as_reader, everything):
    answer = http.get("/providers/v2?q=sparkasse", headers=as_reader)
    assert answer.headers["etag"] != everything.headers["etag"]
    assert http.get("/providers/v2?q=sparkasse", headers=as_reader).headers["etag"] == answer.headers["etag"]
    changed = http.get("/providers/v2", headers=as_reader | {"If-None-Match": answer.headers["etag"]})
    assert changed.status_code == 200


# Logos


def test_logos_load_as_plain_images_without_a_token(everything, server):
    relations = [provider["relations"][1]["href"] for provider in everything.json()]
    chosen = [*random.Random(11).sample(relations, 49), f"{server}/providers/v2/{DEMO_BANK}/logo"]
    with httpx.Client() as anybody:
        for href in chosen:
            answer = anybody.get(href)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("image/svg+xml")
            assert "sandbox" in answer.headers["content-security-policy"]
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            root = ElementTree.fromstring(answer.content)
            assert root.tag == f"{SVG}svg"
            assert not [element for element in root.iter() if element.tag in (f"{SVG}script", f"{SVG}foreignObject")]


def test_logo_loads_for_a_browser_that_accepts_only_images(http):
    accept = {"Accept": "image/avif,image/webp,image/svg+xml,image/*;q=0.8"}
    assert http.get(f"/providers/v2/{DEMO_BANK}/logo", headers=accept).status_code == 200


# Statistics


def test_statistics_tell_how_recent_fetches_went(demo1, http, as_reader):
    shown = http.get(f"/providers/v2/{DEMO_BANK}/statistics", headers=as_reader).json()
    assert shown["fetches"] >= 1
    assert 0 < shown["successRate"] <= 1
    assert shown["meanDurationSeconds"] > 0
    assert shapes.is_timestamp(shown["lastSuccess"])


def test_statistics_of_a_bank_that_was_never_called(http, as_reader, everything):
    unknown = next(provider["id"] for provider in everything.json() if provider.get("blz") == "37050198")
    assert http.get(f"/providers/v2/{unknown}/statistics", headers=as_reader).json() == {"fetches": 0}


def test_statistics_of_all_providers_name_those_that_were_called(demo1, http, as_reader):
    shown = http.get("/providers/v2/statistics", headers=as_reader).json()
    assert shown[DEMO_BANK]["fetches"] >= 1
    assert all(facts["fetches"] or "downSince" in facts for facts in shown.values())
    unknown = next(provider["id"] for provider in search(http, as_reader, blz="37050198"))
    assert unknown not in shown


def test_wrong_pin_counts_as_no_failure_of_the_bank(customer, http, as_reader):
    def read():
        return http.get(f"/providers/v2/{DEMO_BANK}/statistics", headers=as_reader).json()

    customer.add("leer", "wrong")
    before = read()
    customer.add("leer", "wronger")
    after = read()
    assert after["fetches"] > before["fetches"]
    assert after["successRate"] * after["fetches"] > before["successRate"] * before["fetches"]


# Banks that are listed but cannot be reached here


def test_bank_without_a_connector_is_listed_in_the_demo_and_unreachable(customer, http, as_reader):
    bank = search(http, as_reader, blz="37050198")[0]
    fields = {field["fieldkey"]: "12345" for field in bank["authenticationInfo"]["fields"]}
    sealed = customer.credentials("12345", "12345") | {
        key: customer.credentials(text)["userid"] for key, text in fields.items()
    }
    access_id = new_id()
    answer = customer.post(ACCESSES, {access_id: {"providerId": bank["id"], "credentials": sealed}})
    assert answer.status_code == 201
    access = customer.read_access(access_id)
    assert access["status"] == "GESTARTET"
    assert "messages" not in access
    assert customer.issue_codes(access_id) == ["BA1051"]


def test_only_reachable_banks_are_listed_outside_the_demo(settings, tmp_path, as_reader):
    real = replace(settings, demo=False, base_url=f"http://127.0.0.1:{free_port()}", compute_preload=False)
    with running_server(real, tmp_path / "server.log") as address, plain_client(base_url=address) as http:
        shown = http.get("/providers/v2", headers=as_reader).json()
    assert DEMO_BANK in {provider["id"] for provider in shown}
    assert all(provider["authenticationInfo"]["fields"] for provider in shown)

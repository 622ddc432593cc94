"""Credit files over HTTP: what is in them, who signs them, and that nothing changes them."""

import base64
import hashlib
import json
import subprocess
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import javascript
import psycopg
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import shapes
from banking import narrow, new_customer, rels
from kontor.domain.clocks import BERLIN
from kontor.domain.scopes import CUSTOMER_CREDIT, CUSTOMER_READ
from kontor.services.credit_files.credit_files import MAX_FILES

FILES = "/customer/v2/ai/credit-files"
SELF = {"zweck": "Ratenkredit über 5.000 Euro", "freigabe": "SELBST"}
TODAY = datetime.now(BERLIN).date()
SOON = (TODAY + timedelta(days=30)).isoformat()
COUNTS = {"ZURUECKGEGEBENE_LASTSCHRIFTEN", "MAHNGEBUEHREN", "INKASSO", "PFAENDUNGEN"}
SIGNED_LATER = ("signatur", "relations")


@pytest.fixture(scope="module")
def debtor(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("schulden")
    return customer


def create(customer, **facts):
    answer = customer.post(FILES, SELF | facts)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def allow(customer, umfang=("credit-check",)):
    answer = customer.post("/customer/v2/freigaben", {"umfang": list(umfang), "gueltigBis": SOON})
    return answer.headers["location"].rpartition("/")[2]


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def read_number(text):
    return int(float(text)) if float(text).is_integer() else float(text)


def canonicalize(text):
    """What is signed, written by Python's own library: sorted names, and numbers as JavaScript writes them."""
    content = json.loads(text, parse_float=read_number)
    for name in SIGNED_LATER:
        del content[name]
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def verify(customer, text, content):
    """By RFC 7515 and RFC 8037 alone: InvalidSignature unless the installation has signed this content."""
    protected, empty, signature = json.loads(text)["signatur"].split(".")
    header = json.loads(decode(protected))
    [key] = [key for key in customer.http.get("/.well-known/jwks.json").json()["keys"] if key["kid"] == header["kid"]]
    assert (header["alg"], empty, key["kty"], key["crv"], key["use"]) == ("EdDSA", "", "OKP", "Ed25519", "sig")
    payload = base64.urlsafe_b64encode(content).rstrip(b"=")
    Ed25519PublicKey.from_public_bytes(decode(key["x"])).verify(decode(signature), protected.encode() + b"." + payload)


def test_a_credit_file_has_every_figure_with_its_transactions(debtor):
    shown = debtor.read(create(debtor))
    check = debtor.read("/customer/v2/ai/credit-check/")["details"]
    values = {value["name"]: value for value in shown["werte"]}
    ids = {row["id"] for row in debtor.read("/customer/v2/kontoumsaetze?limit=1000")}
    assert (shown["version"], shown["zweck"], shown["freigabe"]) == (1, SELF["zweck"], "SELBST")
    assert shown["datenVon"] <= shown["datenBis"] <= shown["stichtag"]
    assert values["ZURUECKGEGEBENE_LASTSCHRIFTEN"]["wert"] == check["returnDebitsCount"] > 0
    assert values["KREDITRATEN"]["wert"] == check["loanInstallmentsMonthly"] > 0
    assert values["EINNAHMEN"]["wert"] == check["incomeMonthly"] > 0
    for value in values.values():
        assert bool(value["umsaetze"]) == bool(value["wert"])
        assert len(value["erklaerung"]) > 20
    assert ids & set(values["INKASSO"]["umsaetze"])
    assert all(shown[name] for name in ("nichtBekannt", "wuerdeAendern", "ausgeschlossen", "regelwerk", "modell"))
    assert {"vorgaenger", "einwilligung", "pruefung"} & set(shown) == set()


def test_amounts_have_two_decimals_and_counts_none(debtor):
    raw = shapes.parse_raw(debtor.get(create(debtor)).text)
    for value in raw["werte"]:
        assert shapes.is_money(value["wert"]) != (value["name"] in COUNTS), value["name"]


def test_others_can_check_the_signature_by_the_rfcs_alone(debtor):
    text = debtor.get(create(debtor)).text
    content = canonicalize(text)
    verify(debtor, text, content)
    for changed in (content.replace(b'"INKASSO"', b'"INKASSA"'), content + b" "):
        with pytest.raises(InvalidSignature):
            verify(debtor, text, changed)


@pytest.mark.programs
def test_a_javascript_engine_finds_the_same_text_to_be_signed(debtor):
    text = debtor.get(create(debtor)).text
    assert javascript.canonicalize(text, SIGNED_LATER) == canonicalize(text)


def test_openssl_accepts_the_signature(debtor, tmp_path):
    text = debtor.get(create(debtor)).text
    protected, _, signature = json.loads(text)["signatur"].split(".")
    key = debtor.http.get("/.well-known/jwks.json").json()["keys"][0]
    der = bytes.fromhex("302a300506032b6570032100") + decode(key["x"])  # RFC 8410
    payload = base64.urlsafe_b64encode(canonicalize(text)).rstrip(b"=")
    for name, data in (("key", der), ("signature", decode(signature)), ("input", protected.encode() + b"." + payload)):
        (tmp_path / name).write_bytes(data)
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin"]
    done = subprocess.run(
        [*command, "-in", "input", "-sigfile", "signature"], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"Signature Verified Successfully" in done.stdout, done.stderr


def test_the_key_is_named_by_its_thumbprint_and_needs_no_token(shared):
    answer = shared.http.get("/.well-known/jwks.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    for key in answer.json()["keys"]:
        required = {name: key[name] for name in ("crv", "kty", "x")}
        digest = hashlib.sha256(json.dumps(required, separators=(",", ":")).encode()).digest()
        assert key["kid"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert "d" not in key


async def test_after_a_new_key_files_signed_before_and_afterwards_are_verified(debtor, services):
    before = debtor.get(create(debtor)).text
    made = await services.key_rotation.replace_signing_key()
    after = debtor.get(create(debtor)).text
    for text in (before, after):
        verify(debtor, text, canonicalize(text))
    signed_by = [json.loads(decode(json.loads(text)["signatur"].split(".")[0]))["kid"] for text in (before, after)]
    assert signed_by[0] != signed_by[1] == made
    assert debtor.http.get("/.well-known/jwks.json").json()["keys"][0]["kid"] == made


def test_the_same_data_gives_the_same_document_but_for_id_and_time(debtor):
    first, second = (debtor.read(create(debtor)) for _ in range(2))
    for shown in (first, second):
        for name in ("id", "erstelltAm", *SIGNED_LATER):
            del shown[name]
    assert json.dumps(first) == json.dumps(second)


def test_a_file_read_twice_has_the_same_bytes(debtor):
    address = create(debtor)
    assert debtor.get(address).content == debtor.get(address).content


def test_files_are_listed_with_the_newest_first(customer):
    addresses = [create(customer, zweck=f"Zweck {number}") for number in range(2)]
    listed = customer.read(FILES)
    assert [entry["relations"][0]["href"] for entry in listed] == addresses[::-1]
    assert set(listed[0]) == {"id", "version", "erstelltAm", "zweck", "freigabe", "relations"}
    assert "get_credit_files" in rels(customer.read("/customer/v2"))


def test_without_data_a_file_says_so_and_has_no_values(customer):
    shown = customer.read(create(customer))
    assert (shown["werte"], shown["luecken"]) == ([], [])
    assert {"datenVon", "datenBis"} & set(shown) == set()
    assert any("keinen vollständigen Monat" in text for text in shown["nichtBekannt"])


def test_by_a_disclosure_the_file_carries_the_text_that_the_customer_agreed_to(customer):
    disclosure = allow(customer)
    shown = customer.read(create(customer, freigabe=disclosure))
    [entry] = [entry for entry in customer.read("/customer/v2/freigaben") if entry["id"] == disclosure]
    assert (shown["freigabe"], shown["einwilligung"]) == (disclosure, entry["text"])


def test_a_disclosure_that_is_withdrawn_foreign_or_for_something_else_is_refused(customer, shared):
    withdrawn = allow(customer)
    assert customer.delete(f"/customer/v2/freigaben/{withdrawn}").status_code == 200
    foreign, other = allow(new_customer(shared)), allow(customer, ["contracts"])
    for disclosure in (withdrawn, foreign, other, str(uuid4())):
        answer = customer.post(FILES, SELF | {"freigabe": disclosure})
        assert (answer.status_code, "freigabe" in answer.json()["message"]) == (400, True)
    assert customer.read(FILES) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"zweck": ""}, "zweck"),
        ({"zweck": " \x00\n"}, "zweck"),
        ({"zweck": "x" * 201}, "zweck"),
        ({"freigabe": "ANDERE"}, "freigabe"),
        ({"zweck": 1}, "zweck"),
    ],
)
def test_a_wrong_body_is_refused_and_the_field_named(customer, change, word):
    answer = customer.post(FILES, SELF | change)
    assert (answer.status_code, word in answer.json()["message"]) == (400, True)


def test_a_purpose_is_kept_without_characters_that_no_text_has(customer):
    assert customer.read(create(customer, zweck=" Raten\x00kredit "))["zweck"] == "Ratenkredit"


def test_it_needs_the_credit_scope(customer):
    address = create(customer)
    assert narrow(customer, CUSTOMER_CREDIT).get(address).status_code == 200
    reader = narrow(customer, CUSTOMER_READ)
    assert [reader.get(FILES).status_code, reader.get(address).status_code, reader.post(FILES, SELF).status_code] == [
        403
    ] * 3
    assert customer.http.get(FILES).status_code == 401


def test_the_file_of_another_user_is_not_found(customer, shared):
    address, other = create(customer), new_customer(shared)
    assert other.get(address).status_code == customer.get(f"{FILES}/{uuid4()}").status_code == 404
    assert other.read(FILES) == []


def test_nobody_changes_a_file_not_even_the_owner_of_the_tables(customer, owner):
    create(customer)
    with pytest.raises(psycopg.errors.RaiseException, match="not changed"):
        owner.execute("update credit_files set document = '{}' where user_id = %s", [customer.reference])


def test_a_user_has_at_most_as_many_files_as_the_limit(customer, owner):
    owner.execute(
        "insert into credit_files (user_id, id, tenant_id, version, purpose, created_at, document, signature)"
        " select u.id, gen_random_uuid(), u.tenant_id, 1, '', now(), '{}', '' from users u, generate_series(1, %s)"
        " where u.id = %s",
        [MAX_FILES, customer.reference],
    )
    answer = customer.post(FILES, SELF)
    assert (answer.status_code, str(MAX_FILES) in answer.json()["message"]) == (400, True)


def test_the_export_of_a_user_has_the_signed_text_and_erasing_the_user_deletes_the_file(customer, owner):
    shown = customer.get(create(customer)).text
    [exported] = customer.read("/customer/v2/export")["credit_files"]
    assert (exported["signature"], exported["document"].encode()) == (
        json.loads(shown)["signatur"],
        canonicalize(shown),
    )
    erased = customer.http.delete("/customer/v2", headers=customer.headers, params={"confirm": customer.username})
    assert erased.status_code == 200
    count = owner.execute("select count(*) from credit_files where user_id = %s", [customer.reference]).fetchone()
    assert count == (0,)


def test_making_a_file_is_in_the_audit_trail(customer):
    name = create(customer).rpartition("/")[2]
    entries = customer.read("/customer/v2/export")["audit_entries"]
    assert [
        f"credit-file {name}" in entry["object"] for entry in entries if entry["action"] == "credit-file.create"
    ] == [True]


def test_amounts_are_the_sums_of_their_transactions(debtor):
    """Checked from the list of transactions alone: the rents of the months are twelve times the figure."""
    shown = debtor.read(create(debtor))
    [rent] = [value for value in shown["werte"] if value["name"] == "MIETE"]
    rows, address = {}, "/customer/v2/kontoumsaetze?limit=1000"
    while address:
        answer = debtor.get(address)
        rows |= {row["id"]: Decimal(str(row["betrag"])) for row in answer.json()}
        address = answer.links.get("next", {}).get("url")
    total = -sum(rows[name] for name in rent["umsaetze"])
    assert (total / 12).quantize(Decimal("0.01")) == Decimal(str(rent["wert"])) > 0


def get_as(customer, address, media_type):
    return customer.http.get(address, headers=customer.headers | {"Accept": media_type})


def test_a_file_is_served_as_page_and_as_pdf_with_the_same_bytes_each_time(debtor):
    address = create(debtor)
    page, pdf = get_as(debtor, address, "text/html"), get_as(debtor, address, "application/pdf")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "sandbox" in page.headers["content-security-policy"]
    assert page.text.startswith("<!doctype html>")
    assert (pdf.status_code, pdf.headers["content-type"], pdf.content[:5]) == (200, "application/pdf", b"%PDF-")
    assert (page.headers["vary"], pdf.headers["cache-control"]) == ("Accept", "no-store")
    signature = debtor.read(address)["signatur"]
    assert signature in page.text
    assert get_as(debtor, address, "text/html").content == page.content
    assert get_as(debtor, address, "application/pdf").content == pdf.content
    assert get_as(debtor, address, "image/png").status_code == 406

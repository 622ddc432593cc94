"""Whatever a bank sends: a `Failed` or a problem, soon, and nothing else."""

import json

import pytest
from bad_banks import ACCOUNT, CONSENT, ROW, BadBank, dribble, fail, go_on_for_ever, hang, pack, redirect

from asgi_servers import serve_app
from kontor.connectors.base import Continue, Done, Failed, FailureKind, Problem, ProblemKind, Progress
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector, Xs2aSettings
from xs2a_dialogues import Dialogue

SETTINGS = Xs2aSettings(
    connect_seconds=5, read_seconds=1, answer_seconds=1, largest_answer_bytes=1_000_000, most_pages=20
)
ELSEWHERE = "http://169.254.169.254/v1/consents/1/authorisations"


def link_to(target):
    return CONSENT | {"_links": CONSENT["_links"] | {"startAuthorisation": {"href": target}}}


CONSENTS = {
    "truncated": json.dumps(CONSENT).encode()[:-9],
    "empty": b"",
    "no JSON": b"<html>Wartung</html>",
    "wrong encoding": b'{"consentId": "\xe4\xf6\xfc"}',
    "UTF-16": json.dumps(CONSENT).encode("utf-16"),
    "a list": [],
    "a number as id": CONSENT | {"consentId": 7},
    "no id": {"consentStatus": "received", "_links": {}},
    "no links": CONSENT | {"_links": {}},
    "links that are none": CONSENT | {"_links": {"self": "x"}},
    "nested too deep": b"[" * 200_000,
    "endless number": b'{"consentId": ' + b"1" * 100_000 + b"}",
    "10 MB": b" " * 10_000_000 + json.dumps(CONSENT).encode(),
    "packed": pack,
    "hanging": hang,
    "dribbling": dribble,
    "redirect to another host": redirect(ELSEWHERE),
    "redirect to itself": redirect("/v1/consents", 307),
    "link to another host": link_to(ELSEWHERE),
    "link to another port": link_to("http://127.0.0.1:1/v1/consents"),
    "link to a file": link_to("file:///etc/passwd"),
    "link that cannot be read": link_to("http://[::1/v1"),
    "link without a scheme": link_to("//evil.example/v1"),
    "only OAuth2": CONSENT
    | {"_links": {"self": {"href": "/v1/consents/1"}, "scaOAuth": {"href": "https://a.example"}}},
    "page without TLS elsewhere": CONSENT
    | {"_links": {"self": {"href": "/v1/consents/1"}, "scaRedirect": {"href": "javascript:alert(1)"}}},
    "500": fail(500, b"boom"),
    "503 without a body": fail(503),
    "429": fail(429, b'{"tppMessages": [{"category": "ERROR", "code": "ACCESS_EXCEEDED"}]}'),
    "400 with nonsense": fail(400, b"\xff\xfe"),
    "401 of another standard": fail(401, b'{"error": "invalid_client"}'),
    "certificate refused": fail(401, b'{"tppMessages": [{"category": "ERROR", "code": "CERTIFICATE_INVALID"}]}'),
}
KINDS = {
    "only OAuth2": FailureKind.NO_SUPPORTED_METHOD,
    "400 with nonsense": FailureKind.REJECTED,
    "401 of another standard": FailureKind.REJECTED,
    "certificate refused": FailureKind.INTERNAL,
}


def talk(url, **profile):
    bank = Xs2aBank(url, **profile)
    return Dialogue(Xs2aConnector(lambda provider: bank, SETTINGS), "somebody", pin="s3cret-pin")


@pytest.fixture(scope="module")
def bad_bank():
    bank = BadBank()
    with serve_app(bank) as url:
        yield bank, url


@pytest.mark.parametrize("case", CONSENTS)
def test_a_bad_consent_is_a_failure(bad_bank, case):
    bank, url = bad_bank
    bank.wrong = {"POST /v1/consents": CONSENTS[case]}
    step = talk(url).begin()
    assert isinstance(step, Failed), step
    assert step.kind is KINDS.get(case, FailureKind.UNREACHABLE)
    assert "s3cret-pin" not in repr(step)


def test_a_bank_that_asks_for_the_pin_again_and_again_does_not_get_it_for_ever(bad_bank):
    bank, url = bad_bank
    link = {"href": "/v1/consents/1/authorisations"}
    asking = {"scaStatus": "psuIdentified", "_links": {"updatePsuAuthentication": link}}
    bank.wrong = {"POST /v1/consents/1/authorisations": asking, "PUT /v1/consents/1/authorisations": asking}
    bank.asked.clear()
    assert talk(url).begin().kind is FailureKind.UNREACHABLE
    assert len(bank.asked) < 12


LISTS = {
    "truncated": b'{"transactions": {"booked": [',
    "no list": {"_links": {"download": {"href": "/v1/file"}}},
    "the same page again": {
        "transactions": {"booked": [ROW], "_links": {"next": {"href": "/v1/accounts/1/transactions?page=1"}}}
    },
    "pages without end": go_on_for_ever,
    "next page at another host": {"transactions": {"booked": [ROW], "_links": {"next": {"href": ELSEWHERE}}}},
    "10 MB": b" " * 10_000_000,
    "refused": fail(403, b"{}"),
    "hanging": hang,
}


@pytest.mark.parametrize("case", LISTS)
def test_a_bad_list_is_a_problem_of_its_account_alone(bad_bank, case):
    bank, url = bad_bank
    bank.wrong = {"GET /v1/accounts/1/transactions": LISTS[case]}
    bank.asked.clear()
    dialogue = talk(url)
    progress = dialogue.begin()
    assert isinstance(progress, Progress)
    done = dialogue.resume(progress, Continue())
    assert isinstance(done, Done)
    assert done.result.transactions == {}
    assert [(problem.kind, problem.product_key) for problem in done.result.problems] == [
        (ProblemKind.TRANSACTIONS, ACCOUNT["iban"])
    ]
    assert len(bank.asked) < 40


def test_rows_that_cannot_be_read_are_counted_and_the_others_kept(bad_bank):
    bank, url = bad_bank
    rows = [
        ROW,
        {"transactionAmount": {"currency": "EUR", "amount": "NaN"}, "bookingDate": "2026-11-01"},
        {"transactionAmount": {"currency": "EURO", "amount": "1.00"}, "bookingDate": "2026-11-01"},
        {"transactionAmount": {"currency": "EUR", "amount": "1.00"}, "bookingDate": "31.11.2026"},
        {"transactionAmount": "1.00", "bookingDate": "2026-11-01"},
        7,
    ]
    bank.wrong = {"GET /v1/accounts/1/transactions": {"transactions": {"booked": rows, "_links": {}}}}
    dialogue = talk(url)
    done = dialogue.resume(dialogue.begin(), Continue())
    assert len(done.result.transactions[ACCOUNT["iban"]]) == 1
    assert done.result.problems == (Problem(ProblemKind.TRANSACTIONS, ACCOUNT["iban"], count=5),)


def test_nobody_listens():
    assert talk("http://127.0.0.1:1").begin().kind is FailureKind.UNREACHABLE
    connector = Xs2aConnector(lambda provider: None)
    assert Dialogue(connector, "somebody").begin().kind is FailureKind.UNREACHABLE

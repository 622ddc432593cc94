"""Whatever goes wrong, the error is one of the client's own, and no secret is in it."""

import logging
import traceback

import httpx
import pytest

from kontor_client import ForeignAddressError, Kontor, KontorClientError, UnexpectedAnswerError

BASE = "http://127.0.0.1:1"
SECRET = "s3cret-value"


def tell(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("token", [f"{SECRET}\n", f"{SECRET}ü", f"{SECRET}\x00"])
def test_a_token_that_no_header_can_have_is_refused_and_not_shown(token: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    for open_client in (
        lambda: Kontor(BASE, token, retries=0).list_accesses(),
        lambda: Kontor.login_with_key(BASE, token, retries=0),
    ):
        with pytest.raises(KontorClientError, match="line break") as refused:
            open_client()
        assert SECRET not in tell(refused.value) + caplog.text


def test_a_password_in_the_address_is_not_shown():
    with pytest.raises(ForeignAddressError) as refused:
        Kontor(f"http://user:{SECRET}@127.0.0.1:1", "token", retries=0).list_accesses()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(301, headers={"Location": "https://kontor.example/"}), "301 to https://kontor.example/"),
        (httpx.Response(200, content=b"<html>"), "200: JSON is malformed"),
        (httpx.Response(200, content=b'{"a": 1}'), "200: Expected `object`"),
    ],
)
def test_an_answer_that_is_not_kontors_is_an_error_of_the_client(answer: httpx.Response, said: str):
    kontor = Kontor(BASE, "token", transport=httpx.MockTransport(lambda _: answer), retries=0)
    with pytest.raises(UnexpectedAnswerError, match=said):
        kontor.list_accesses()

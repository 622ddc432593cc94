"""Cookies, and tokens against forged requests."""

import pytest
from litestar.testing import RequestFactory

from kontor.domain.secrets import Secret
from kontor.pages.browser import (
    BadRequestError,
    Cookies,
    CsrfError,
    check_csrf,
    make_token,
    read_query,
    write_language,
)

BASE = "https://kontor.example"
COOKIE = Secret("a-cookie-of-43-characters")
STEP = "tan-0123456789ab-0"


def check(token: str | None = None, step: str = STEP, cookie: Secret = COOKIE, **headers: str) -> None:
    request = RequestFactory().post("/", headers={name.replace("_", "-"): value for name, value in headers.items()})
    check_csrf(request, cookie, make_token(COOKIE, STEP) if token is None else token, step, BASE)


def test_a_form_of_our_own_page_is_accepted():
    check()
    check(Sec_Fetch_Site="same-origin", Origin=BASE)


def test_a_page_without_referrer_sends_its_form_with_the_origin_null():
    check(Sec_Fetch_Site="same-origin", Origin="null")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_another_site_is_refused_though_it_knew_the_token(site):
    with pytest.raises(CsrfError):
        check(Sec_Fetch_Site=site)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://kontor.example", "https://kontor.example:8443"])
def test_another_origin_is_refused_though_it_knew_the_token(origin):
    with pytest.raises(CsrfError):
        check(Origin=origin)


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "ä"])
def test_a_wrong_token_is_refused(token):
    with pytest.raises(CsrfError):
        check(token)


def test_a_token_is_good_for_its_own_step_and_browser_only():
    with pytest.raises(CsrfError):
        check(step="accounts")
    with pytest.raises(CsrfError):
        check(cookie=Secret("the cookie of somebody else"))


def test_a_token_tells_nothing_about_the_cookie():
    assert COOKIE.reveal() not in make_token(COOKIE, STEP)


def test_on_https_the_cookie_is_bound_to_the_host():
    cookies = Cookies("kontor-form", is_https=True)
    assert cookies.write(COOKIE, is_framed=False) == (
        f"__Host-kontor-form={COOKIE.reveal()}; Path=/; HttpOnly; Secure; SameSite=Lax"
    )


def test_on_https_the_language_is_bound_to_the_host_too():
    written = write_language("en", is_https=True)
    assert written == "__Host-kontor-language=en; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure"
    assert "Secure" not in write_language("en", is_https=False)


def test_in_a_frame_the_cookie_is_partitioned():
    written = Cookies("kontor-form", is_https=True).write(COOKIE, is_framed=True)
    assert written.endswith("; Secure; SameSite=None; Partitioned")


@pytest.mark.parametrize("is_framed", [False, True])
def test_without_https_the_cookie_is_a_plain_one(is_framed):
    written = Cookies("kontor-form", is_https=False).write(COOKIE, is_framed=is_framed)
    assert written == f"kontor-form={COOKIE.reveal()}; Path=/; HttpOnly; SameSite=Lax"


def test_the_cookie_is_read_under_its_own_name_only():
    request = RequestFactory().get("/", headers={"Cookie": f"kontor-form={COOKIE.reveal()}"})
    assert Cookies("kontor-form", is_https=False).read(request) == COOKIE
    assert Cookies("kontor-form", is_https=True).read(request) is None


@pytest.mark.parametrize("query", ["session=a&session=b", "callbackUrl=a&callbackUrl=a", "q=%ff"])
def test_repeated_and_unreadable_parameters_are_refused(query):
    request = RequestFactory().get("/")
    request.scope["query_string"] = query.encode()
    with pytest.raises(BadRequestError):
        read_query(request)

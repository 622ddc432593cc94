"""Callback URLs: what is accepted leads to a base of the tenant, whichever parser reads it."""

from ipaddress import IPv6Address
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic_core import Url, ValidationError

from kontor.domain.callbacks import MAX_URL_LENGTH, CallbackRules, add_to_query, check_callback
from kontor.domain.errors import InvalidError
from many_examples import many_examples

BASES = (
    "https://example.com/",
    "https://shop.example/app",
    "https://shop.example:8443/callback/",
    "https://bücher.example/",
    "https://192.0.2.7/",
    "https://[2001:db8::7]/",
    "http://localhost",
    "http://127.0.0.1",
    "http://[::1]:9000/",
)
RULES = CallbackRules(BASES, is_any_allowed=False, is_loopback_allowed=True)
STRICT = CallbackRules(BASES, is_any_allowed=False, is_loopback_allowed=False)
ANY = CallbackRules((), is_any_allowed=True, is_loopback_allowed=False)

GOOD = [
    "https://example.com",
    "https://example.com/",
    "https://example.com/back",
    "https://example.com/back/",
    "https://example.com:443/back",
    "https://example.com:/back",
    "https://example.com:0443/back",
    "HTTPS://example.com/back",
    "https://EXAMPLE.com/back",
    "hTTps://eXample.COM/Back",
    "https://example.com?state=1",
    "https://example.com/?state=a%2Fb&x=1+2&flag",
    "https://example.com/?next=https://evil.example/",
    "https://example.com/?next=//evil.example/",
    "https://example.com/?q=../..",
    "https://example.com/?who=a@b",
    "https://example.com/a:b@c",
    "https://example.com/a%20b",
    "https://example.com/ü",
    "https://example.com/a%252e%252e/b",
    "https://example.com/...",
    "https://example.com/a/.well-known/b",
    "https://example.com/;x=1",
    "https://shop.example/app",
    "https://shop.example/app/",
    "https://shop.example/app?x=1",
    "https://shop.example/app/deep/er?x=1",
    "https://shop.example:8443/callback",
    "https://shop.example:8443/callback/x",
    "https://bücher.example/back",
    "https://BÜCHER.example/back",
    "https://xn--bcher-kva.example/back",
    "https://bücher。example/back",
    "https://192.0.2.7/x",
    "https://[2001:db8::7]/x",
    "https://[2001:DB8:0:0:0:0:0:7]/x",
    "http://localhost/x",
    "http://localhost:3000/x",
    "http://LOCALHOST:65535",
    "http://127.0.0.1:8080/x?y=1",
    "http://[::1]:9000/x",
    "https://example.com/" + "a" * (MAX_URL_LENGTH - 20),
]

BAD = [
    # another place
    "https://evil.example/",
    "https://example.com.evil.example/",
    "https://evilexample.com/",
    "https://sub.example.com/",
    "https://example.co/",
    "https://example.com./back",
    "https://example..com/",
    "https://.example.com/",
    "https://examp1e.com/",
    "https://exаmple.com/",  # a Cyrillic a
    "https://example.com%2eevil.example/",
    "https://evil.example/https://example.com/",
    "https://evil.example/?https://example.com/",
    "https://evil.example?example.com/",
    "https://evil.example;example.com/",
    "https://xn--example.com/",
    # user information
    "https://example.com@evil.example/",
    "https://example.com:443@evil.example/",
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://@example.com/",
    "https://:@example.com/",
    "https://example.com%40evil.example/",
    "https://example.com＠evil.example/",
    "https://evil.example%00@example.com/",
    # backslashes and slashes
    "https://example.com\\@evil.example/",
    "https://example.com\\.evil.example/",
    "https:\\\\example.com/",
    "https:/\\example.com/",
    "https://evil.example\\example.com/",
    "https://example.com/\\evil.example",
    "https:///example.com/",
    "https:////example.com/",
    "https:/example.com/",
    "https:example.com/",
    "//example.com/",
    "///example.com/",
    "/back",
    "back",
    "example.com",
    "https://example.com／evil.example/",
    "https://example.com//evil.example/",
    "https://example.com/a//b",
    "https://example.com//",
    # blanks and controls
    "",
    " ",
    " https://example.com/",
    "https://example.com/ ",
    "https://example.com/a b",
    "\thttps://example.com/",
    "https://exam\tple.com/",
    "https://example.com\n.evil.example/",
    "https://example.com/\r\nSet-Cookie:a=b",
    "https://example.com/\x00",
    "https://example.com/\x7f",
    "https://example.com/\x85",
    "https://example.com/\ud800",
    "java\nscript:alert(1)",
    # schemes
    "http://example.com/",
    "javascript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "data:text/html,x",
    "ftp://example.com/",
    "file:///etc/passwd",
    "file://example.com/etc/passwd",
    "wss://example.com/",
    "https",
    "https:",
    "https://",
    "https://?x",
    "https://#x",
    "httpſ://example.com/",
    # ports
    "https://example.com:444/",
    "https://example.com:80/",
    "https://example.com:0/",
    "https://example.com:00000/",
    "https://example.com:65536/",
    "https://example.com:-443/",
    "https://example.com:+443/",
    "https://example.com:4_43/",
    "https://example.com:٤٤٣/",
    "https://example.com:443x/",
    "https://example.com:443:443/",
    "https://shop.example:8444/callback",
    "https://shop.example/callback",
    "https://shop.example:8443/app",
    "http://[::1]:9001/x",
    "http://[::1]/x",
    # numeric and bracketed hosts
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.2/",
    "http://0.0.0.0/",
    "http://localhost.evil.example/",
    "http://localhost./",
    "https://192.0.2.07/",
    "https://192.0.519/",
    "https://3221225991/",
    "https://１９２.0.2.8/",
    "http://[::1].evil.example:9000/",
    "http://evil.example[::1]:9000/",
    "http://[::1]evil.example:9000/",
    "http://[::1%25lo]:9000/",
    "http://[::ffff:127.0.0.1]/",
    "https://[example.com]/",
    "https://[v1.example]/",
    "https://[2001:db8::8]/",
    "https://[2001:db8::7/",
    "https://2001:db8::7/",
    # paths by segment
    "https://shop.example/",
    "https://shop.example/application",
    "https://shop.example/app2",
    "https://shop.example/App",
    "https://shop.example/app;x",
    "https://shop.example/other/app",
    "https://shop.example/app/../admin",
    "https://shop.example/app/..",
    "https://shop.example/./app",
    "https://shop.example/app/.",
    "https://shop.example/app/%2e%2e/admin",
    "https://shop.example/app/%2E./admin",
    "https://shop.example/app/.%2e/admin",
    "https://shop.example/app/..;/admin",
    "https://shop.example/app/..;x=1/admin",
    "https://shop.example/app%2fadmin",
    "https://shop.example/app%2F..%2Fadmin",
    "https://shop.example/app/%5c../admin",
    "https://shop.example/app%00/x",
    "https://shop.example/%61pp",
    # fragments and length
    "https://example.com/#",
    "https://example.com/#/evil",
    "https://example.com#@evil.example/",
    "https://example.com/?x#y",
    "https://example.com/" + "a" * MAX_URL_LENGTH,
]


@pytest.mark.parametrize("url", GOOD)
def test_good_urls_are_accepted_as_they_are(url):
    assert check_callback(url, RULES) == url


@pytest.mark.parametrize("url", BAD)
def test_bad_urls_are_refused(url):
    with pytest.raises(InvalidError) as caught:
        check_callback(url, RULES)
    assert caught.value.field == "callbackUrl"


def test_the_tables_are_long_enough():
    assert len(set(GOOD) | set(BAD)) == len(GOOD) + len(BAD) >= 60


@pytest.mark.parametrize("url", ["http://localhost/x", "http://127.0.0.1:8080/x", "http://[::1]:9000/x"])
def test_loopback_is_for_the_demo_only(url):
    with pytest.raises(InvalidError):
        check_callback(url, STRICT)


def test_a_tenant_without_restriction_still_needs_a_clean_https_address():
    assert check_callback("https://anywhere.example:8443/x?y", ANY)
    for url in ("http://anywhere.example/", "http://localhost/", "https://a@b.example/", "https://a.example/#x",
                "javascript:alert(1)", "https://a.example\\@b.example/"):  # fmt: skip
        with pytest.raises(InvalidError):
            check_callback(url, ANY)


def test_a_tenant_with_an_empty_list_allows_nothing():
    with pytest.raises(InvalidError):
        check_callback("https://example.com/", CallbackRules((), is_any_allowed=False, is_loopback_allowed=True))


# Other parsers: WHATWG's (pydantic has the one of Rust's `url`), and httpx's.


def whatwg(url: str) -> tuple[str, str, int | None, str]:
    read = Url(url)
    return read.scheme, read.host or "", read.port, read.path or "/"


def is_same_place(url: str) -> bool:
    """Does the URL, as WHATWG reads it, lie at or below a base? Hosts on loopback without a port take every port."""
    scheme, host, port, path = whatwg(url)
    for base in BASES:
        base_scheme, base_host, base_port, base_path = whatwg(base)
        is_any_port = base in ("http://localhost", "http://127.0.0.1")
        prefix = base_path.rstrip("/")
        is_below = path.rstrip("/") == prefix or path.startswith(f"{prefix}/")
        if (scheme, host) == (base_scheme, base_host) and (port == base_port or is_any_port) and is_below:
            return True
    return False


PIECES = st.sampled_from(
    ["https:", "http:", "HTTPS:", "//", "/", "\\", "example.com", "EXAMPLE.com", "shop.example", "evil.example", "@",
     ":", ":443", ":8443", ":0", "app", "app2", "callback", "..", ".", "%2e", "%2f", "%5c", "%00", ";", "?", "#",
     "&", "=", "[::1]", "[", "]", ":9000", "localhost", "127.0.0.1", "127.1", "\t", "\n", " ",
     "bücher.example", "。", "．", "／", "＠", "\u00ad", "\u200b", "ß", "x", "%", "１", "\x85", "\u2028",
     "xn--bcher-kva.example", "\ud800", "ｅxample.com"]
)  # fmt: skip
MIXED = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.tuples(st.sampled_from([*GOOD, *BASES]), st.lists(PIECES, max_size=6).map("".join)).map("".join),
    st.tuples(
        st.sampled_from([*GOOD, *BASES]), st.integers(0, 40), st.one_of(PIECES, st.characters(), st.text(max_size=3))
    ).map(lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]),
    st.text(max_size=30).map(lambda text: "https://" + text),
)


@many_examples(1000)
@given(MIXED)
def test_nothing_accepted_leads_elsewhere(url):
    try:
        check_callback(url, RULES)
    except InvalidError:
        return
    assert is_same_place(url), whatwg(url)
    sent = add_to_query(url, baReentry="FINISHED", accessId="a")
    assert is_same_place(sent), whatwg(sent)
    assert whatwg(sent)[:3] == whatwg(url)[:3]


@many_examples(300)
@given(MIXED)
def test_httpx_reads_what_is_accepted_the_same_way(url):
    try:
        check_callback(url, RULES)
    except InvalidError:
        return
    try:
        read = httpx.URL(add_to_query(url, baReentry="FINISHED"))
    except httpx.InvalidURL:
        assume(False)
    scheme, host, port, _ = whatwg(url)
    default = {"https": 443, "http": 80}[scheme]
    found = read.raw_host.decode().strip("[]")
    if ":" in found:
        found = str(IPv6Address(found))
    assert (read.scheme, found, read.port or default) == (scheme, host.strip("[]"), port)


@pytest.mark.parametrize("url", GOOD)
def test_good_urls_are_good_for_the_other_parser_too(url):
    assert is_same_place(url)


# What is added on the way back


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", "https://example.com?baReentry=FINISHED&accessId=a"),
        ("https://example.com/x", "https://example.com/x?baReentry=FINISHED&accessId=a"),
        ("https://example.com/x?", "https://example.com/x?baReentry=FINISHED&accessId=a"),
        ("https://example.com/?state=1", "https://example.com/?state=1&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?flag", "https://example.com/?flag&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?a=&b", "https://example.com/?a=&b&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?a=%FF%2f", "https://example.com/?a=%FF%2f&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?a=x+y%20z~", "https://example.com/?a=x+y%20z~&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?a=1&a=2", "https://example.com/?a=1&a=2&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?baReentry=ACCOUNT_CREATED&x=1", "https://example.com/?x=1&baReentry=FINISHED&accessId=a"),
        ("https://example.com/?%62aReentry=X&accessId=b", "https://example.com/?baReentry=FINISHED&accessId=a"),
        ("https://bücher.example:8443/ü?ä=ö",
         "https://xn--bcher-kva.example:8443/%C3%BC?%C3%A4=%C3%B6&baReentry=FINISHED&accessId=a"),
    ],
)  # fmt: skip
def test_the_query_is_kept_and_ours_is_added(url, expected):
    assert add_to_query(url, baReentry="FINISHED", accessId="a") == expected


@many_examples(200)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=5), st.text(max_size=5)), max_size=5), st.text(max_size=8))
def test_what_is_added_cannot_be_forged_or_lost(pairs, value):
    assume("\ud800" not in value and all(name not in ("baReentry", "accessId") for name, _ in pairs))
    try:
        query = httpx.QueryParams([*pairs, ("baReentry", "FORGED")])
    except UnicodeEncodeError:
        assume(False)
    added = add_to_query(f"https://example.com/?{query}", baReentry="FINISHED", accessId=value)
    assert added.isascii()
    read = urlsplit(added).query
    assert parse_qs(read, keep_blank_values=True)["baReentry"] == ["FINISHED"]
    assert parse_qs(read, keep_blank_values=True)["accessId"] == [value]
    assert parse_qsl(read, keep_blank_values=True)[: len(pairs)] == parse_qsl(str(query), keep_blank_values=True)[:-1]


def test_the_other_parser_refuses_what_it_cannot_read():
    with pytest.raises(ValidationError):
        Url("http://[::1].evil.example/")

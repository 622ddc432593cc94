"""When a call is tried again, and which addresses may be called: rules that need neither clock nor network."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.errors import InvalidError
from kontor.domain.webhooks import RetrySchedule, check_target, is_public, read_retry_after, read_target

SCHEDULE = RetrySchedule()
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
chances = st.floats(-1, 1)
waits = st.none() | st.floats(0, 2000)


# Retries


def run_through(chance_of, seconds_of_a_call, retry_after_of=lambda number: None):
    """The times of all tries, when every one fails."""
    now, tries = 0.0, []
    while True:
        tries.append(now)
        now += seconds_of_a_call
        number = len(tries)
        pause = SCHEDULE.plan(number, now, chance_of(number), retry_after_of(number))
        if pause is None:
            return tries
        now += pause


def test_without_jitter_the_tries_are_those_that_were_promised():
    assert run_through(lambda _: 0, 0) == [0, 5, 30, 120, 300, 600, 900]


@given(st.lists(chances, min_size=7, max_size=7), st.floats(0, 15))
def test_tries_lie_within_a_fifth_of_their_time_and_end_within_the_window(jitters, seconds):
    tries = run_through(lambda number: jitters[number - 1], seconds)
    assert len(tries) == 7
    assert tries == sorted(tries)
    assert tries[-1] <= SCHEDULE.window_seconds + 1e-6
    for planned, at in zip(SCHEDULE.offsets_seconds, tries, strict=True):
        assert planned * 0.8 <= at + 1e-9
        # A slow receiver can only make it later, by what its own calls and the pause after them take.
        assert at <= max(planned * 1.2, 7 * (seconds + SCHEDULE.pause_seconds) + planned * 1.2)


@given(st.lists(chances, min_size=7, max_size=7), st.lists(waits, min_size=7, max_size=7), st.floats(0, 15))
def test_who_asks_for_a_pause_gets_it_and_nothing_is_tried_after_the_window(jitters, wanted, seconds):
    tries = run_through(lambda number: jitters[number - 1], seconds, lambda number: wanted[number - 1])
    assert 1 <= len(tries) <= 7
    assert tries[-1] <= SCHEDULE.window_seconds + 1e-6
    for number, (before, after) in enumerate(pairwise(tries)):
        assert after - before >= (wanted[number] or 0) - 1e-6
        assert after - before >= SCHEDULE.pause_seconds - 1e-6


def test_a_pause_beyond_the_window_ends_it():
    assert SCHEDULE.plan(1, 0, 0, 899) == 899
    assert SCHEDULE.plan(1, 0, 0, 901) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("120", 120),
        (" 0 ", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("9" * 400, float("inf")),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0),
        ("Wed, 99 Foo 2026 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text, seconds):
    assert read_retry_after(text, NOW) == seconds


# Addresses


FORBIDDEN = {
    "this network": ["0.0.0.0", "0.1.2.3"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "link-local, with the metadata of clouds": ["169.254.169.254", "fe80::1", "fe80::1%1"],
    "special and documentation": ["192.0.0.8", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "benchmarking": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "6to4 relay": ["192.88.99.1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1"],
    "reserved and broadcast": ["240.0.0.1", "255.255.255.255"],
    "unspecified": ["::"],
    "unique local": ["fc00::1", "fd12:3456:789a::1"],
    "site-local": ["fec0::1"],
    "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:10.0.0.1"],
    "IPv4-compatible": ["::127.0.0.1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"],
    "6to4": ["2002:7f00:1::", "2002:808:808::1"],
    "Teredo": ["2001:0:4136:e378::1"],
    "discard": ["100::1"],
    "nonsense": ["localhost", "", "1.2.3", "::g"],
}
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.167.1.1", "2606:4700::1111", "2a00:1450:4001::1"]


@pytest.mark.parametrize(
    ("kind", "address"), [(kind, address) for kind, found in FORBIDDEN.items() for address in found]
)
def test_addresses_that_are_not_public_are_refused(kind, address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address):
    assert is_public(address)


def check(url, *addresses, is_loopback_allowed=False):
    check_target(read_target(url), list(addresses), is_loopback_allowed=is_loopback_allowed)


@pytest.mark.parametrize("url", ["https://a.example/x", "https://a.example:443/", "https://a.example:8443/?q=1"])
def test_https_on_the_two_open_ports_is_allowed(url):
    check(url, "8.8.8.8", "2606:4700::1111")


@pytest.mark.parametrize(
    "url",
    ["http://a.example/", "https://a.example:22/", "https://a.example:8080/", "https://a.example:1/", "ftp://a.example/",
     "https://user:pw@a.example/", "https://a.example/#x", "https:///x", "a.example", "https://a.example:0/",
     "https://a.example:99999/", "https://0x7f.1/", "https://127.1/", "https://2130706433/", "https://[::1/", ""],
)  # fmt: skip
def test_any_other_form_of_address_is_refused(url):
    with pytest.raises(InvalidError, match=r"^url: "):
        check(url, "8.8.8.8")


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "::ffff:8.8.8.8", "169.254.169.254"])
def test_one_forbidden_address_among_good_ones_is_enough_to_refuse(address):
    for addresses in ([address], ["8.8.8.8", address], [address, "8.8.8.8"]):
        with pytest.raises(InvalidError, match="public"):
            check("https://a.example/", *addresses)


def test_a_name_without_an_address_is_refused_with_the_same_words():
    with pytest.raises(InvalidError) as unknown:
        check("https://a.example/")
    with pytest.raises(InvalidError) as private:
        check("https://a.example/", "10.0.0.1")
    assert unknown.value.message == private.value.message


def test_loopback_is_allowed_only_where_it_was_asked_for_and_only_by_itself():
    for url in ("http://localhost:9000/", "http://127.0.0.1:1/", "https://localhost:5000/"):
        check(url, "127.0.0.1", "::1", is_loopback_allowed=True)
        with pytest.raises(InvalidError):
            check(url, "127.0.0.1")
    for others in (["8.8.8.8"], ["127.0.0.1", "8.8.8.8"], ["127.0.0.1", "10.0.0.1"], ["::ffff:127.0.0.1"], []):
        with pytest.raises(InvalidError):
            check("http://localhost:9000/", *others, is_loopback_allowed=True)
    with pytest.raises(InvalidError):
        check("https://a.example/", "127.0.0.1", "8.8.8.8", is_loopback_allowed=True)

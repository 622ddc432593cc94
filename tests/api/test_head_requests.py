"""HEAD: the status and the headers of GET, without its body."""

import pytest

PATHS = ["/customer/v2/bankzugaenge", "/providers/v2", "/health/live", "/openapi.json", "/console/sign-in", "/docs"]


@pytest.mark.parametrize("path", PATHS)
def test_head_is_answered_as_get_without_the_body(customer, path):
    headers = customer.headers | {"Accept-Encoding": "identity"}  # compressed pages have a length by chance
    read, asked = (customer.http.request(method, path, headers=headers) for method in ("GET", "HEAD"))
    assert (asked.status_code, asked.content) == (read.status_code, b"")
    assert read.content
    for name in ("content-type", "content-length", "cache-control"):
        assert asked.headers.get(name) == read.headers.get(name)


def test_a_connection_serves_further_requests_after_head(customer):
    """A body that was sent nevertheless would be taken for the next answer."""
    for _ in range(3):
        assert customer.http.head("/providers/v2", headers=customer.headers).status_code == 200
        assert customer.read("/customer/v2/bankzugaenge") == {}


def test_head_needs_what_get_needs(customer):
    assert customer.http.head("/customer/v2/bankzugaenge").status_code == 401
    assert customer.http.head("/customer/v2/nothing", headers=customer.headers).status_code == 404
    assert customer.http.head("/auth/oauth2/token").status_code == 405


def test_options_names_head_where_there_is_get(customer):
    assert customer.http.options("/customer/v2/bankzugaenge").headers["allow"] == "DELETE, GET, HEAD, OPTIONS, POST"

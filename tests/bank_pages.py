"""A customer's visit to a bank's own page, without a browser."""

import httpx

from plain_http import plain_client


def visit_page(page: str, login: str, pin: str = "demo", decision: str = "confirm") -> str:
    """Log in and decide; whom the bank does not let in gives up. The query with which the browser comes back."""
    url = httpx.URL(page)
    with plain_client(base_url=f"{url.scheme}://{url.netloc.decode()}", trust_env=False) as http:
        shown = http.get(url.raw_path.decode())
        assert shown.status_code == 200, shown.text
        action = shown.text.partition('action="')[2].partition('"')[0]
        answer = http.post(action, data={"login": login, "pin": pin, "decision": decision})
        if answer.status_code == 200:
            answer = http.post(action, data={"decision": "cancel"})
    assert answer.status_code == 303, answer.text
    return httpx.URL(answer.headers["location"]).query.decode()

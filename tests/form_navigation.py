"""Adding an access in the web form, page by page, by any login of the demo bank."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg

from banking import ACCESSES, BankCustomer, href, new_id
from consenting import PRESENT, decide_at_bank, wait_for_fetch
from form_client import FormClient
from tenant_view import TenantView

TANS = {"mockTAN": "4712", "iTAN": "12", "photoTAN": "8534842", "chipTAN": "936086"}
WAITING = ("connecting", "fetching")


def begin(customer: BankCustomer, access_id: str) -> str:
    answer = customer.post(ACCESSES, {access_id: {}}, headers=PRESENT)
    assert answer.status_code == 451, answer.text
    return answer.headers["location"]


def go_on(customer: BankCustomer, access_id: str) -> str:
    """By the relation that the access offers."""
    access = customer.read_access(access_id)
    answer = customer.http.post(href(access, "start_sca"), headers=customer.headers | PRESENT)
    assert (answer.status_code, answer.content) == (451, b""), answer.text
    assert "useCase=CREATE_ACCOUNT" in answer.headers["location"]
    return answer.headers["location"]


def enter(form: FormClient, login: str, owner: psycopg.Connection, pin: str = "demo") -> None:
    """What a user does on the page that is shown."""
    if form.page == "legal":
        form.send("accept")
    elif form.page in ("provider", "credentials"):
        form.log_in(login, pin)
    elif form.page in ("method", "medium"):
        form.send("choose", choice=form.find('name="choice" value="([^"]*)"'))
    elif form.page == "tan":
        form.send("submit", tan=next(tan for name, tan in TANS.items() if name in form.html))
    elif form.page == "confirmation":
        form.send("confirm")
    elif form.page == "redirect":
        back = decide_at_bank(owner, form.find('href="([^"]*)" id="bank-link"'))
        form.http.get(urlsplit(back)._replace(scheme="", netloc="").geturl())
        form.reload()
    else:
        raise AssertionError(form.text)


def walk(
    form: FormClient, login: str, owner: psycopg.Connection, *, last: str = "accounts", pin: str = "demo"
) -> Iterator[str]:
    """The name of each page, until the last one."""
    for _ in range(30):
        while form.page in WAITING:
            yield form.page
            form.reload()
        yield form.page
        if form.page == last:
            return
        enter(form, login, owner, pin)
    raise AssertionError(form.text)


def is_stored(eyes: TenantView) -> bool:
    return eyes.access_id in eyes.customer.read(ACCESSES)


def wait_until_staged(owner: psycopg.Connection, eyes: TenantView) -> None:
    """Everything that the bank has is here, so that there is something to be seen."""
    assert wait_for_fetch(owner, eyes.customer, eyes.access_id)[-1] == "DONE"
    row = owner.execute(
        "select length(result) from staged_fetches where user_id = %s and access_id = %s",
        [eyes.customer.reference, eyes.access_id],
    ).fetchone()
    assert row is not None
    assert row[0] is not None


def offered(form: FormClient) -> list[str]:
    return re.findall('name="account" value="([^"]*)"', form.at("accounts").html)


def to_accounts(customer: BankCustomer, owner: psycopg.Connection, login: str) -> tuple[FormClient, TenantView]:
    eyes = TenantView(customer, owner, login, new_id())
    form = FormClient(str(customer.http.base_url)).open(begin(customer, eyes.access_id))
    for _ in walk(form, login, owner):
        pass
    wait_until_staged(owner, eyes)
    return form, eyes

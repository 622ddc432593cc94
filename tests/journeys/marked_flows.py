"""Every flow that takes or makes a secret, with secrets that can be looked for afterwards."""

import base64
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from assistants.granting import BACK, Assistant
from banking import ACCESSES, BankCustomer, login, new_customer, new_id
from consenting import new_login, start
from console_site import ConsoleSite, sign_in_form
from form_client import FormClient, connect_account, order_payment
from form_navigation import begin
from kontor.services.bundle import Services
from plain_http import plain_client
from push_browsers import new_browser
from tenants import TenantUnderTest, create_tenant

MARK = "kanarie7f3e9c51d0"
SESSIONS = ("kontor-form", "kontor-console", "kontor-operator")  # cookies


@dataclass
class Played:
    """`made` are secrets that Kontor or a browser has made; `answers` are those of the API, `pages` what people see."""

    username: str = ""
    answers: list[httpx.Response] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    made: list[str | bytes] = field(default_factory=list)


async def play_every_flow(services: Services, http: httpx.Client, tenant: TenantUnderTest, site: ConsoleSite) -> Played:
    """Rightly and wrongly."""
    played = Played()
    http.event_hooks["response"].append(lambda answer: (answer.read(), played.answers.append(answer)))
    try:
        customer = new_customer(tenant)
        played.username = customer.username
        _log_in(tenant)
        _change_password(played, tenant)
        _connect_and_consent(customer)
        redirecting = await create_tenant(services, http, is_regulated=False)
        _use_the_form(played, new_customer(redirecting))
        _pay_in_the_form(played, new_customer(redirecting))
        await _use_keys(played, services, customer)
        await _grant_an_assistant(played, services, customer)
        _register_a_webhook(played, tenant)
        _subscribe_a_browser(played, customer)
    finally:
        http.event_hooks["response"].pop()
    _use_the_console(played, site)
    played.made += [tenant.app[1], tenant.admin[1], customer.token, *customer.secrets]
    return played


def _log_in(tenant: TenantUnderTest) -> None:
    """As a user and as a client, with right and wrong secrets."""
    name, password = f"canary-{new_id()[:8]}", f"{MARK} password"
    body = {"username": name, "password": password}
    assert tenant.http.post(f"{tenant.url}/users", json=body, headers=tenant.as_admin).status_code == 201
    assert login(tenant, name, password)
    form = {"grant_type": "password", "username": name, "password": f"{MARK} wrong"}
    assert tenant.http.post("/auth/oauth2/token", data=form, auth=tenant.app).status_code == 401
    client = {"grant_type": "client_credentials"}
    wrong = (tenant.app[0], f"{MARK} client")
    assert tenant.http.post("/auth/oauth2/token", data=client, auth=wrong).status_code == 401
    bearer = {"Authorization": f"Bearer {MARK}"}
    assert tenant.http.get(ACCESSES, headers=bearer).status_code == 403
    assert tenant.http.get(ACCESSES, params={"access_token": MARK}).status_code == 400
    unreadable = body | {"password": [MARK]}
    assert tenant.http.post(f"{tenant.url}/users", json=unreadable, headers=tenant.as_admin).status_code == 400


def _change_password(played: Played, tenant: TenantUnderTest) -> None:
    customer = new_customer(tenant)
    old, new = f"password of {customer.username}", f"{MARK} passphrase"
    answer = customer.post("/customer/v2/tokens/revoke", {"password": f"{MARK} wrong"})
    assert answer.status_code == 400, answer.text
    for body, status in (
        ({"password": f"{MARK} wrong", "newPassword": new}, 400),
        ({"password": old, "newPassword": f"{MARK} {customer.username}\0"}, 400),
        ({"password": old, "newPassword": new}, 200),
    ):
        answer = customer.http.put("/customer/v2/password", json=body, headers=customer.headers)
        assert answer.status_code == status, answer.text
    played.made.append(login(tenant, customer.username, new))


def _connect_and_consent(customer: BankCustomer) -> None:
    """Credentials and TANs that the bank refuses, and bodies that Kontor refuses."""
    for login_name in ("leer+kanarie", "test_internal", "test_unreachable", "test_locked"):
        assert customer.post(ACCESSES, {new_id(): customer.access(login_name, f"{MARK} pin")}).status_code == 201
    plain = {"providerId": 5, "credentials": {"pin": f"{MARK} pin"}}
    assert customer.post(ACCESSES, {new_id(): plain}).status_code == 400
    start(customer, new_login("test_phototan")).enter(f"{MARK} tan")


def _use_the_form(played: Played, customer: BankCustomer) -> None:
    address = begin(customer, new_id())
    form = FormClient(str(customer.http.base_url)).open(address).accept()
    form.log_in("leer+kanarie", f"{MARK} pin")
    played.pages.append(form.html)
    while form.page in ("connecting", "fetching"):
        played.pages.append(form.reload().html)
    _note_session(played, address, form)


def _pay_in_the_form(played: Played, customer: BankCustomer) -> None:
    """With a wrong TAN, from an account that is known, then with a wrong PIN, from another bank."""
    connect_account(customer, new_login("test_products"))
    _, address = order_payment(customer)
    form = FormClient(str(customer.http.base_url)).open(address)
    form.send("confirm").at("source").send("choose", choice=form.find('name="choice" value="([^"]*)"'))
    played.pages.append(form.at("tan").send("submit", tan=f"{MARK} tan").html)
    _note_session(played, address, form)
    _, address = order_payment(customer)
    form = FormClient(str(customer.http.base_url)).open(address)
    form.send("confirm").at("source").send("choose", choice="other").at("provider")
    form.log_in("leer+kanarie", f"{MARK} pin", **{"account-iban": "DE89370400440532013000"})
    played.pages.append(form.html)
    _note_session(played, address, form)


def _note_session(played: Played, address: str, form: FormClient) -> None:
    played.made += [value for name, value in parse_qsl(urlsplit(address).query) if name == "session"]
    played.made += _read_sessions(form.http)


def _read_sessions(browser: httpx.Client) -> list[str]:
    return [cookie.value for cookie in browser.cookies.jar if cookie.value and cookie.name in SESSIONS]


async def _use_keys(played: Played, services: Services, customer: BankCustomer) -> None:
    key = await services.tokens.create_api_key(customer.tenant.name, "app", customer.username, None)
    assert customer.http.post("/one/bc-token", headers={"X-API-KEY": key.reveal()}).status_code == 200
    assert customer.http.post("/one/bc-token", headers={"X-API-KEY": f"{MARK} key"}).status_code == 401
    _, operator = await services.operators.create_operator(f"canary-{new_id()[:8]}", 1)
    for token, status in ((operator.reveal(), 200), (f"{MARK} operator", 403)):
        answer = customer.http.get("/ops/v1/workers", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status, answer.text
    played.made += [key.reveal(), operator.reveal()]


async def _grant_an_assistant(played: Played, services: Services, customer: BankCustomer) -> None:
    administration = services.tenant_administration
    made = await administration.create_assistant(customer.tenant.name, f"canary-{new_id()[:8]}", [BACK], "Helper")
    assistant = Assistant(made.username, customer, str(customer.http.base_url).rstrip("/"))
    with assistant.browser() as browser:
        played.pages.append(assistant.sign_in(browser, assistant.query(), f"{MARK} password").text)
    code = assistant.agree()["code"]
    tokens = assistant.exchange(code).json()
    renewed = assistant.refresh(tokens["refresh_token"]).json()
    assert assistant.exchange(MARK).status_code == assistant.refresh(MARK).status_code == 400
    played.made.append(code)
    played.made += [token[name] for token in (tokens, renewed) for name in ("access_token", "refresh_token")]


def _register_a_webhook(played: Played, tenant: TenantUnderTest) -> None:
    """The key of the signatures is Base64 after its prefix."""
    address = f"{tenant.url}/webhooks"
    answer = tenant.http.post(address, json={"url": "https://93.184.215.14/hook"}, headers=tenant.as_admin)
    assert answer.status_code == 201, answer.text
    hook = answer.json()
    turned = tenant.http.put(f"{address}/{hook['id']}", json={"rotateSecret": True}, headers=tenant.as_admin).json()
    for secret in (hook["secret"], turned["secret"]):
        played.made += [secret, base64.b64decode(secret.removeprefix("whsec_"))]
    tenant.http.delete(f"{address}/{hook['id']}", headers=tenant.as_admin).raise_for_status()


def _subscribe_a_browser(played: Played, customer: BankCustomer) -> None:
    browser = new_browser()
    assert customer.post("/customer/v2/hinweise/push", browser.subscription).status_code == 201
    played.made += [browser.auth, browser.endpoint]


def _use_the_console(played: Played, site: ConsoleSite) -> None:
    customer = new_customer(site.regulated)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("/console/sign-in", sign_in_form(customer, password=f"{MARK} password")),
        ("/console/ops/sign-in", {"action": "operator", "operator_token": f"{MARK} operator"}),
    ]
    with plain_client(base_url=site.address) as browser:
        played.pages += [browser.post(path, data=form).text for path, form in wrong]
    with site.visit(customer) as browser, site.operate() as operator:
        for visitor, path in ((browser, "/console/sign-ins"), (operator, "/console/ops")):
            played.pages.append(visitor.get(path).raise_for_status().text)
            played.made += _read_sessions(visitor)
    played.made.append(site.operator_token)

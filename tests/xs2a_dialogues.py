"""Talking to the demo bank by XS2A: with Kontor's connector, and with bare HTTP."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx

from asgi_servers import serve_app
from kontor.config import Settings
from kontor.connectors.base import (
    Answer,
    ChooseMethod,
    Context,
    Continue,
    Done,
    Failed,
    Fetch,
    Job,
    NeedMethod,
    Progress,
    State,
    Step,
)
from kontor.connectors.xs2a import Xs2aConnector, Xs2aSettings, read_profile
from kontor.demobank.xs2a import DemoAspsp, make_xs2a_app
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.demobank.xs2a.pages import make_pages
from kontor.domain.providers import LoginField, Provider
from kontor.domain.secrets import Secret
from kontor.storage.demo_bank_pages import DemoBankPages
from plain_http import plain_client

TODAY = date(2026, 11, 13)
FIELDS = (LoginField("userid", "Anmeldename", False, "X"), LoginField("pin", "PIN", True, "X"))
PROVIDER = Provider(UUID(int=7), "XS2A-Bank", "xs2a", FIELDS, ())
ADDRESS = "93.184.216.34"
FETCH = Fetch()


class MovableClock:
    def __init__(self) -> None:
        self.now = datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC)

    def read(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class Xs2aBankUnderTest:
    url: str
    clock: MovableClock
    bank: DemoBankPages

    def make_connector(self, url: str | None = None, settings: Xs2aSettings | None = None, **profile: Any) -> Any:
        facts = {"history_days": 3650, "has_bulk": True, "has_periodic": True, "base_url": url or self.url} | profile
        known = read_profile(facts, "99999999")
        return Xs2aConnector(lambda provider: known, settings)

    def confirm(self, page: str, decision: str = "confirm") -> str:
        """The customer decides on the bank's page; the query with which the browser comes back."""
        with plain_client(base_url=self.url, trust_env=False) as http:
            path = httpx.URL(page).path
            assert http.get(path).status_code == 200
            answer = http.post(path, data={"decision": decision})
        assert answer.status_code == 303
        return httpx.URL(answer.headers["location"]).query.decode()

    def authorise(self, page: str, login: str, pin: str = "demo", decision: str = "confirm") -> str:
        """The customer logs in at the bank's OAuth server and decides; the query of the way back."""
        with plain_client(base_url=self.url, trust_env=False) as http:
            shown = http.get(page)
            assert shown.status_code == 200, shown.text
            action = shown.text.partition('action="')[2].partition('"')[0]
            answer = http.post(action, data={"login": login, "pin": pin, "decision": decision})
        assert answer.status_code == 303, answer.text
        return httpx.URL(answer.headers["location"]).query.decode()


@contextmanager
def running_xs2a_bank(
    settings: Settings, *, pays_twice: bool = False, modes: Iterable[Xs2aMode] = (), **options: Any
) -> Iterator[Xs2aBankUnderTest]:
    assert settings.database_url is not None
    clock = MovableClock()
    bank = DemoBankPages(settings.database_url, "http://bank.example/demobank/confirm", pays_twice=pays_twice)
    aspsp = DemoAspsp(bank, read_time=clock.read, modes=frozenset(modes))
    app = make_xs2a_app(aspsp, pages=make_pages(bank), **options)
    with serve_app(app) as url:
        yield Xs2aBankUnderTest(url, clock, bank)


def new_login(kind: str) -> str:
    """A customer of one's own."""
    return f"{kind}+{uuid4().hex[:12]}"


@dataclass
class Dialogue:
    """A dialogue step by step; where there is nothing to choose it goes on by itself."""

    connector: Any
    login: str
    pin: str = "demo"
    context: Context = Context(TODAY, "customer", ADDRESS, "https://caller.example/back?id=7")
    provider: Provider = PROVIDER

    @property
    def credentials(self) -> dict[str, Secret]:
        return {"userid": Secret(self.login), "pin": Secret(self.pin)}

    def begin(self, job: Job = FETCH, connector_state: State | None = None, **context: Any) -> Step:
        told = replace(self.context, **context)
        return self.connector.begin(self.provider, self.credentials, job, connector_state, told)

    def resume(self, step: Any, answer: Answer, **context: Any) -> Step:
        told = replace(self.context, **context)
        return self.connector.resume(self.provider, self.credentials, step.state, answer, told)

    def drive(self, answers: Sequence[Answer], job: Job = FETCH, connector_state: State | None = None) -> list[Step]:
        left = list(answers)
        steps = [self.begin(job, connector_state)]
        while not isinstance(steps[-1], Done | Failed):
            step = steps[-1]
            if isinstance(step, Progress):
                answer: Answer = Continue()
            elif isinstance(step, NeedMethod) and len(step.methods) == 1:
                answer = ChooseMethod(step.methods[0].code)
            else:
                answer = left.pop(0)
            steps.append(self.resume(step, answer))
        return steps


class Caller:
    """A third party that speaks bare HTTP."""

    def __init__(self, url: str, login: str | None = None) -> None:
        self._http = plain_client(base_url=url, trust_env=False, timeout=60)
        self.login = login
        self.consent: str | None = None

    def call(self, method: str, path: str, body: Any = None, **headers: str | None) -> httpx.Response:
        sent = {
            "X-Request-ID": str(uuid4()),
            "PSU-IP-Address": ADDRESS,
            "PSU-ID": self.login,
            "Consent-ID": self.consent,
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        known = {name: value for name, value in sent.items() if value is not None}
        answer = self._http.request(method, path, json=body, headers=known)
        if known.get("X-Request-ID", "").count("-") == 4:
            assert answer.headers["x-request-id"] == known["X-Request-ID"]
        return answer

    @staticmethod
    def make_consent() -> dict[str, Any]:
        return {
            "access": {"allPsd2": "allAccounts"},
            "recurringIndicator": True,
            "validUntil": "2027-05-01",
            "frequencyPerDay": 4,
            "combinedServiceIndicator": False,
        }

    def open_consent(self, **facts: Any) -> httpx.Response:
        return self.call("POST", "/v1/consents", self.make_consent() | facts)

    def get_consent(self, tan: str = "24", **facts: Any) -> None:
        """By PIN and TAN."""
        opened = self.open_consent(**facts).json()
        start = opened["_links"]["startAuthorisationWithPsuAuthentication"]["href"]
        asked = self.call("POST", start, {"psuData": {"password": "demo"}}).json()
        link = asked["_links"]["authoriseTransaction"]["href"]
        assert self.call("PUT", link, {"scaAuthenticationData": tan}).json()["scaStatus"] == "finalised"
        self.consent = opened["consentId"]

    def close(self) -> None:
        self._http.close()


def read_code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["tppMessages"][0]["code"]

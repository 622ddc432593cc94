"""Talking to the demo bank through a service such as Enable Banking, with Kontor's connector."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from asgi_servers import serve_app
from bank_pages import visit_page
from kontor.config import Settings
from kontor.connectors.aspsps import AspspBank
from kontor.connectors.base import (
    Answer,
    Context,
    Continue,
    Done,
    Exchange,
    Fetch,
    Job,
    NeedRedirect,
    Progress,
    Returned,
    State,
    Step,
)
from kontor.connectors.enablebanking import EnableBankingConnector, EnableBankingSettings, load_application
from kontor.demobank.enablebanking import DemoService, make_application, make_enablebanking_app
from kontor.demobank.xs2a import DemoAspsp
from kontor.domain.providers import Provider
from kontor.storage.demo_bank_pages import DemoBankPages

TODAY = date(2026, 11, 13)
RETURN_URL = "https://caller.example/back"
ADDRESS = "93.184.216.34"
ENABLEBANKING_PROVIDER = Provider(UUID(int=9), "Demo-Bank", "enablebanking", (), ())
DEMO_BANK = AspspBank("Demo-Bank", "DE", 180 * 86_400, "KONTDEFFXXX", required_psu_headers=("Psu-Ip-Address",))


# Checking an RSA key takes milliseconds.
_load_application = lru_cache(maxsize=32)(load_application)


def make_service(aspsp: DemoAspsp, folder: Path, **options: Any) -> tuple[DemoService, Path]:
    """With the file of the application's key."""
    application, key_file = make_application(folder, (RETURN_URL,))
    return DemoService(aspsp, application, **options), key_file


def make_enablebanking_connector(
    url: str, application_id: str, key_file: Path, bank: AspspBank = DEMO_BANK, **limits: Any
) -> EnableBankingConnector:
    application = _load_application(application_id, key_file)
    return EnableBankingConnector(lambda provider: bank, application, EnableBankingSettings(url, **limits))


@dataclass
class ServiceUnderTest:
    """`clock` is moved by tests; by it sessions end. Business days stand still."""

    url: str
    service: DemoService
    key_file: Path
    clock: "MovedClock"

    def make_connector(self, url: str | None = None, **options: Any) -> EnableBankingConnector:
        return make_enablebanking_connector(url or self.url, self.service.application.id, self.key_file, **options)


@dataclass
class MovedClock:
    by: timedelta = timedelta()

    def read(self) -> datetime:
        return datetime.now(UTC) + self.by


@contextmanager
def running_service(settings: Settings, folder: Path, app_of: Any = None, **options: Any) -> Iterator[ServiceUnderTest]:
    """`app_of` may wrap the service's application."""
    assert settings.database_url is not None
    clock = MovedClock()
    noon = datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC)
    bank = DemoBankPages(settings.database_url, "http://bank.example/demobank/confirm")
    service, key_file = make_service(DemoAspsp(bank, read_time=lambda: noon), folder, now=clock.read, **options)
    app = make_enablebanking_app(service)
    with serve_app(app if app_of is None else app_of(app)) as url:
        yield ServiceUnderTest(url, service, key_file, clock)


@dataclass
class ServiceDialogue:
    """A dialogue step by step. `kept` is what the connector asked to keep, `exchanges` all that it sent."""

    connector: EnableBankingConnector
    login: str = "demo1"
    kept: list[State] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    context: Context = Context(TODAY, "customer", ADDRESS, RETURN_URL)

    def _told(self, **context: Any) -> Context:
        return replace(self.context, keep=self.kept.append, record=self.exchanges.append, **context)

    def begin(self, job: Job = Fetch(), connector_state: State | None = None, **context: Any) -> Step:  # noqa: B008
        return self.connector.begin(ENABLEBANKING_PROVIDER, {}, job, connector_state, self._told(**context))

    def resume(self, step: Any, answer: Answer, **context: Any) -> Step:
        return self.connector.resume(ENABLEBANKING_PROVIDER, {}, step.state, answer, self._told(**context))

    def authorise(self, job: Fetch = Fetch(), connector_state: State | None = None) -> Step:  # noqa: B008
        """Until the customer is back from the bank."""
        question = self.begin(job, connector_state)
        assert isinstance(question, NeedRedirect), question
        return self.resume(question, Returned(visit_page(question.url, self.login)))

    def finish(self, step: Step, **context: Any) -> Done:
        assert isinstance(step, Progress), step
        done = self.resume(step, Continue(), **context)
        assert isinstance(done, Done), done
        return done

    def fetch(self, job: Fetch = Fetch()) -> Done:  # noqa: B008
        return self.finish(self.authorise(job))

    @property
    def paths(self) -> list[str]:
        """Of all requests, without the host."""
        return [f"{exchange.method} /{exchange.url.split('/', 3)[3]}" for exchange in self.exchanges]

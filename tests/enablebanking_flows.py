"""Dialogues that together use every message of Enable Banking that Kontor uses.

`service` is the demo service, `url` where the connector finds it: its own address, or a proxy that looks at messages.
"""

from collections.abc import Callable
from datetime import timedelta

from bank_pages import visit_page
from enablebanking_talk import TODAY, ServiceDialogue, ServiceUnderTest
from kontor.connectors.base import (
    Done,
    Failed,
    FailureKind,
    Fetch,
    NeedMethod,
    NeedRedirect,
    Returned,
)
from kontor.connectors.enablebanking import EnableBankingSettings, list_banks, load_application, read_application
from kontor.connectors.enablebanking.client import open_client
from kontor.connectors.enablebanking.messages import Account
from kontor.connectors.revocations import Revoke, Revoked


def talk(service: ServiceUnderTest, url: str, login: str = "demo1") -> ServiceDialogue:
    return ServiceDialogue(service.make_connector(url), login)


def fetch(service: ServiceUnderTest, url: str) -> None:
    """The first time with everything, then without the customer, then with another session."""
    dialogue = talk(service, url)
    done = dialogue.fetch()
    assert len(done.result.transactions) > 2
    again = dialogue.finish(dialogue.begin(Fetch(), done.connector_state, customer_ip=None), customer_ip=None)
    since = {key: TODAY - timedelta(days=30) for key in again.result.transactions}
    assert dialogue.begin(Fetch(since=since), again.connector_state)
    renewed = dialogue.finish(dialogue.authorise(Fetch(is_renewal=True), done.connector_state))
    assert set(renewed.result.transactions) == set(done.result.transactions)


def read_partly(service: ServiceUnderTest, url: str) -> None:
    for login in ("test_partial", "test_product_error"):
        assert talk(service, url, login).fetch().result.problems


def read_details(service: ServiceUnderTest, url: str) -> None:
    dialogue = talk(service, url, "student")
    kept = dialogue.fetch().connector_state
    uid = kept["accounts"][0]["account"]["uid"]
    application = load_application(service.service.application.id, service.key_file)
    with open_client(application, EnableBankingSettings(url), dialogue.context) as client:
        assert client.get(f"/accounts/{uid}/details", Account).identification_hash


def read_directory(service: ServiceUnderTest, url: str) -> None:
    access = (load_application(service.service.application.id, service.key_file), EnableBankingSettings(url))
    assert read_application(*access).active
    assert [bank.name for bank in list_banks(*access, "DE")] == ["Demo-Bank"]


def revoke(service: ServiceUnderTest, url: str) -> None:
    """A session is ended by the customer's wish; one that has ended is nothing else."""
    dialogue = talk(service, url, "student")
    kept = dialogue.fetch().connector_state
    for _ in range(2):
        assert dialogue.begin(Revoke(), kept, customer_ip=None) == Done(Revoked())
    assert isinstance(dialogue.begin(Fetch(), kept, customer_ip=None), NeedMethod)


def go_wrong(service: ServiceUnderTest, url: str) -> None:
    dialogue = talk(service, url, "student")
    question = dialogue.begin()
    assert isinstance(question, NeedRedirect)
    refused = dialogue.resume(question, Returned(visit_page(question.url, "student", decision="cancel")))
    assert refused == Failed(FailureKind.CANCELLED, "access_denied: Cancelled by the customer")
    done = dialogue.fetch()
    for _ in range(5):
        step = dialogue.begin(Fetch(), done.connector_state, customer_ip=None)
        dialogue.resume(step, Returned(""), customer_ip=None)
    service.service.revoke(done.connector_state["session"])
    assert isinstance(dialogue.begin(Fetch(), done.connector_state, customer_ip=None), NeedMethod)


FLOWS: dict[str, Callable[[ServiceUnderTest, str], None]] = {
    "fetch": fetch,
    "read partly": read_partly,
    "read details": read_details,
    "read directory": read_directory,
    "revoke": revoke,
    "go wrong": go_wrong,
}

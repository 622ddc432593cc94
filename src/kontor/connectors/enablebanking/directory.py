"""What Enable Banking says of itself: the application as it is registered, and the banks that it reaches."""

from datetime import date

from kontor.connectors.aspsps import PERSONAL, AspspBank
from kontor.connectors.base import Context
from kontor.connectors.enablebanking.client import open_client
from kontor.connectors.enablebanking.messages import ApplicationFacts, ListedBank, ListedBanks
from kontor.connectors.enablebanking.settings import EnableBankingSettings
from kontor.connectors.enablebanking.tokens import Application


def read_application(application: Application, settings: EnableBankingSettings) -> ApplicationFacts:
    """Raises CallError, which says why not."""
    with open_client(application, settings, Context(date.min)) as client:
        return client.get("/application", ApplicationFacts)


def list_banks(application: Application, settings: EnableBankingSettings, country: str) -> tuple[AspspBank, ...]:
    """Those of a country that tell about accounts. Raises CallError."""
    with open_client(application, settings, Context(date.min)) as client:
        listed = client.get("/aspsps", ListedBanks, {"country": country, "service": "AIS"}).aspsps
    return tuple(_read(bank) for bank in listed)


def _read(bank: ListedBank) -> AspspBank:
    return AspspBank(
        bank.name,
        bank.country,
        bank.maximum_consent_validity,
        bank.bic or None,
        bank.group.name if bank.group is not None else None,
        bank.psu_types or (PERSONAL,),
        bank.required_psu_headers or (),
        bank.beta,
    )

"""The clients through which the console gets tokens: one for each tenant whose users may sign in here."""

from dataclasses import dataclass

from kontor.config import SettingError
from kontor.domain.secrets import Secret


@dataclass(frozen=True, slots=True)
class ConsoleClient:
    username: str
    secret: Secret

    @property
    def tenant(self) -> str:
        return self.username.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Sample:
    """A user whom everybody may look at: for demos."""

    tenant: str
    username: str
    password: Secret


def read_clients(setting: Secret | None) -> dict[str, ConsoleClient]:
    """By tenant, from `KONTOR_CONSOLE_CLIENTS`: `tenant/client:secret`, several of them with spaces between."""
    clients: dict[str, ConsoleClient] = {}
    for part in (setting.reveal() if setting else "").split():
        username, _, secret = part.partition(":")
        tenant, _, client = username.partition("/")
        if not (tenant and client and secret):
            raise SettingError("KONTOR_CONSOLE_CLIENTS: expected tenant/client:secret, with spaces between several")
        if tenant in clients:
            raise SettingError(f"KONTOR_CONSOLE_CLIENTS: two clients of the tenant {tenant}; one is enough")
        clients[tenant] = ConsoleClient(username, Secret(secret))
    return clients


def read_sample(setting: Secret | None, name: str = "KONTOR_CONSOLE_SAMPLE") -> Sample | None:
    """From the setting of that name: `tenant/user:password`."""
    if setting is None:
        return None
    login, _, password = setting.reveal().partition(":")
    tenant, _, username = login.partition("/")
    if not (tenant and username and password):
        raise SettingError(f"{name}: expected tenant/user:password")
    return Sample(tenant, username, Secret(password))

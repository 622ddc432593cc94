"""The demo bank as a FinTS server, on a real socket with TLS."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from kontor.config import Settings
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.fints import FintsBank, FintsOptions, FintsServer
from kontor.storage.demo_bank import DemoBankMemory

TODAY = date(2026, 11, 13)
BANK_CODE = "99999999"


@dataclass(frozen=True, slots=True)
class FintsBankUnderTest:
    """`url` is where messages are posted, `authority` the CA certificate that clients must trust."""

    url: str
    address: str
    authority: Path
    today: date
    bank: FintsBank
    memory: DemoBankMemory


@contextmanager
def running_fints_bank(
    settings: Settings, folder: Path, *, pays_twice: bool = False, **options: Any
) -> Iterator[FintsBankUnderTest]:
    """In threads of this process. `options` are those of `FintsOptions`."""
    files = ensure_certificates(folder, "127.0.0.1")
    server = FintsServer("127.0.0.1", 0, files.certificate, files.key)
    address = f"127.0.0.1:{server.port}/fints"
    assert settings.database_url is not None
    memory = DemoBankMemory(settings.database_url, f"{settings.base_url}/demobank/confirm", pays_twice=pays_twice)
    noon = datetime(TODAY.year, TODAY.month, TODAY.day, 11, tzinfo=UTC)
    bank = FintsBank(memory, FintsOptions(**{"address": address, "slow_seconds": 0.2} | options), lambda: noon)
    server.start(bank)
    try:
        yield FintsBankUnderTest(f"https://{address}", address, files.authority, TODAY, bank, memory)
    finally:
        server.stop()

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from fints_payer import know_bank
from scripted_bank_server import ScriptedBank, running_scripted_bank

from fints_banks import FintsBankUnderTest, running_fints_bank
from kontor.config import Settings
from kontor.demobank.fints.modes import Mode


@pytest.fixture(scope="module")
def bank(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FintsBankUnderTest]:
    """A suffix makes a login of one's own: `demo1+mine`."""
    with running_fints_bank(settings, tmp_path_factory.mktemp("fints"), page_rows=50) as bank:
        yield bank


@pytest.fixture(scope="module")
def bank_with(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., FintsBankUnderTest]]:
    """A bank in these modes, the same one for the same modes."""
    folder = tmp_path_factory.mktemp("modes")
    banks: dict[frozenset[Mode], FintsBankUnderTest] = {}
    with ExitStack() as running:

        def find(*modes: Mode) -> FintsBankUnderTest:
            key = frozenset(modes)
            if key not in banks:
                banks[key] = running.enter_context(running_fints_bank(settings, folder, page_rows=50, modes=key))
            return banks[key]

        yield find


@pytest.fixture(scope="module")
def script(bank: FintsBankUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedBank]:
    """A bank whose answers a test changes on their way."""
    with running_scripted_bank(tmp_path_factory.mktemp("bad"), bank.bank) as script:
        know_bank(script)  # while it still behaves
        yield script

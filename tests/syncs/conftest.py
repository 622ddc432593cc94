"""A user whose accounts are kept up to date somewhere else, and the command that does it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from synced_users import ROWS, SyncedUser

from banking import new_customer
from kontor.cli import commands


@pytest.fixture
async def synced(bank_server, shared, standing_services, owner) -> SyncedUser:
    """An account with four bookings, one of them pending."""
    customer = new_customer(shared)
    access_id = customer.add_complete("leer+sync")
    key = await standing_services.tokens.create_api_key(shared.name, "app", customer.username, None)
    user = SyncedUser(customer, access_id, customer.products(access_id)[0], key.reveal(), owner)
    user.push(*ROWS)
    return user


@pytest.fixture
def run_command(capsys, monkeypatch) -> Callable[..., tuple[int, str, str]]:
    """Runs `kontor …` in this process; the exit code, the result, the remarks."""

    def run(*arguments: str | Path, **environment: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code = commands.run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run

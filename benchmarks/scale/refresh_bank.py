"""`kontor worker` whose demo bank answers at once: its customers' lives are made up before the work begins, and it does
not look into its own books, for which it would open connections of its own.

`python -m benchmarks.scale.refresh_bank`; `BENCH_LOGINS` says how many customers there are.
"""

import gc
import os
from datetime import date
from functools import cache

from kontor.cli.processes import worker
from kontor.config import read_settings
from kontor.connectors.demo import connector
from kontor.connectors.demo.people import Person, large_person, person_for
from kontor.services.runtime.clock import Clock
from kontor.storage.demo_bank import DemoBankMemory

TRANSACTIONS = 300


def name_login(number: int) -> str:
    return f"test_large+{number}"


@cache
def find_customer(login: str, today: date) -> Person:
    return large_person(TRANSACTIONS, today, login)


def find_person(login: str, today: date) -> Person | None:
    return find_customer(login, today) if login.startswith("test_large+") else person_for(login, today)


def install() -> None:
    connector.person_for = find_person
    DemoBankMemory.read_wrong_pins = lambda *_: 0
    DemoBankMemory.forget_wrong_pins = lambda *_: None
    DemoBankMemory.register_accounts = lambda *_: None
    DemoBankMemory.list_bookings = lambda *_: {}


def main() -> None:
    today = Clock(read_settings().today).today()
    for number in range(int(os.environ["BENCH_LOGINS"])):
        find_customer(name_login(number), today)
    gc.freeze()  # they are the bank's: no collection of the worker shall walk through them
    install()
    worker()


if __name__ == "__main__":
    main()

"""`kontor worker` whose demo bank has customers of any size: the login `test_large+5000` has 5,000 bookings.

Their lives are made up before the work begins, since that is the bank's time and not Kontor's.
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


@cache
def find_large(count: int, today: date) -> Person:
    return large_person(count, today, f"test_large+{count}")


def find_person(login: str, today: date) -> Person | None:
    kind, _, count = login.partition("+")
    return find_large(int(count), today) if kind == "test_large" and count else person_for(login, today)


def main() -> None:
    today = Clock(read_settings().today).today()
    for size in os.environ["BENCH_SIZES"].split(","):
        find_large(int(size), today)
    gc.freeze()  # they are the bank's: no collection of the worker shall walk through them
    connector.person_for = find_person
    worker()


if __name__ == "__main__":
    main()

"""Cheap password hashing for tests that are not about passwords: in their own process, and in servers they start.

Run as a program, this file is `kontor` with cheap hashing.

A login or a new user takes about 40 ms of processor time with the parameters of production. Nothing of this can be
reached in an installation: there is no setting for it, and this file is no part of the package.
"""

from argon2 import PasswordHasher

from kontor.cli import main
from kontor.services.security import passwords

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PRODUCTION = (passwords._hasher, passwords._nobody)


def hash_cheaply() -> None:
    passwords._hasher, passwords._nobody = CHEAP, CHEAP.hash("nobody")


if __name__ == "__main__":
    hash_cheaply()
    main()

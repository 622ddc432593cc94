"""`kontor` with cheap password hashing, for servers whose tests are not about passwords.

A login or a new user takes about 40 ms of processor time with the parameters of production. Nothing of this can be
reached in an installation: there is no setting for it, and this file is no part of the package.
"""

from argon2 import PasswordHasher

from kontor.cli import main
from kontor.services.security import passwords

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

if __name__ == "__main__":
    passwords._hasher, passwords._nobody = CHEAP, CHEAP.hash("nobody")
    main()

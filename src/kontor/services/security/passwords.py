"""Passwords: Argon2id, a bounded number at a time, equally slow for names that do not exist; and refused if weak."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from kontor.domain.errors import InvalidError
from kontor.services.runtime import run_in
from kontor.services.security.breaches import BreachedPasswords

# The OWASP minimum (19 MiB, two passes): a login flood must not take the machine down.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
# Written down, and not made at every start: it costs as much time as a login. A test holds it against the parameters.
_nobody = "$argon2id$v=19$m=19456,t=2,p=1$SKv0oDrNDbi9x4v9I4rxPw$Rd65ybiVza1tlx4fw2KpllcCu0qbmW/LMX11oq+frGw"
# What zxcvbn calls safely unguessable: enough for an attacker who has the hashes and Argon2 to work through.
MIN_GUESSES = 10**10
# zxcvbn reads no more; what is hard to guess up to here stays so with the rest.
MAX_CHARACTERS = 72
OWN_WORDS = ("kontor", "konto", "bank", "banking", "passwort", "kennwort", "geheim")


class Passwords:
    def __init__(self, refuses_guessable: bool = False, breached: Path | None = None) -> None:
        self._threads = ThreadPoolExecutor(max(1, os.cpu_count() or 1), "password")
        self._refuses_guessable = refuses_guessable
        self._breached = BreachedPasswords(breached) if breached is not None else None

    async def check_strength(self, password: str, words: Iterable[str]) -> None:
        """`words` are those that an attacker would try first, such as the user's name."""
        if self._refuses_guessable and await run_in(self._threads, is_guessable, password, tuple(words)):
            raise InvalidError("is easy to guess", "password")
        if self._breached is not None and await run_in(self._threads, self._breached.contains, password):
            raise InvalidError("is in a list of breached passwords", "password")

    async def hash(self, password: str) -> str:
        return await run_in(self._threads, _hasher.hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Check a password; with `stored` None the work is done all the same, so that time tells nothing."""
        is_right = await run_in(self._threads, _verify, stored or _nobody, password)
        return is_right and stored is not None


def _verify(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


def is_guessable(password: str, words: tuple[str, ...] = ()) -> bool:
    from zxcvbn import zxcvbn  # here: its lists take 0.2 s and 10 MB, and most processes set no password

    found = zxcvbn(password[:MAX_CHARACTERS], user_inputs=[*words, *OWN_WORDS])
    return bool(found["guesses"] < MIN_GUESSES)

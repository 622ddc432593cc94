"""Dialogues under way. They live in this process only, and not for long."""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from kontor.connectors.base import Pay, State
from kontor.demobank.fints.credit_transfers import TransferDocument
from kontor.demobank.fints.messages import ONE_STEP
from kontor.demobank.fints.segments import Segment
from kontor.domain.secrets import Secret
from kontor.domain.transactions import Transaction

IDLE_SECONDS = 600
MAX_DIALOGUES = 2_000
MAX_OPEN = 16  # challenges, payee checks or cursors of one dialogue
MAX_TRUSTED = 10_000
MAX_WRONG_TANS = 3
NO_SYSTEM = "0"


@dataclass(slots=True)
class Pending:
    """A challenge that waits for its TAN: for the dialogue itself, for reading old bookings, or for a payment."""

    state: State
    valid_until: float
    order: Segment | None = None
    wrong_tans: int = 0


@dataclass(frozen=True, slots=True)
class PayeeCheck:
    """`polls` says how often the client has asked for the result so far, `tan_request` is what came with the order."""

    document: TransferDocument
    job: Pay
    digest: str
    tan_request: Segment
    polls: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a list goes on: what is left of it. `later` are bookings after its end, which `balances` contain."""

    order: str
    rows: tuple[Transaction, ...]
    later: tuple[Transaction, ...]
    balances: Mapping[str, Decimal]
    is_broken: bool = False


@dataclass(slots=True)
class Dialogue:
    """`has_fresh_sca`: the customer has authenticated in this very dialogue; `is_open`: orders are taken."""

    id: str
    login: str | None = None
    pin: Secret | None = None
    security_function: str = ONE_STEP
    system_id: str = NO_SYSTEM
    is_synchronised: bool = False
    is_open: bool = False
    has_fresh_sca: bool = False
    message_number: int = 1
    used_at: float = 0.0
    pending: dict[str, Pending] = field(default_factory=dict)
    checks: dict[bytes, PayeeCheck] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_anonymous(self) -> bool:
        return self.login is None


class TooManyDialoguesError(Exception):
    pass


class Dialogues:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Dialogue] = {}
        self._lock = threading.Lock()

    def open(self) -> Dialogue:
        with self._lock:
            self._drop_idle()
            if len(self._known) >= MAX_DIALOGUES:
                raise TooManyDialoguesError
            dialogue = Dialogue(secrets.token_hex(14), used_at=self._clock())
            self._known[dialogue.id] = dialogue
            return dialogue

    def find(self, dialogue_id: str) -> Dialogue | None:
        with self._lock:
            self._drop_idle()
            dialogue = self._known.get(dialogue_id)
            if dialogue is not None:
                dialogue.used_at = self._clock()
            return dialogue

    def close(self, dialogue: Dialogue) -> None:
        with self._lock:
            self._known.pop(dialogue.id, None)

    def __len__(self) -> int:
        return len(self._known)

    def _drop_idle(self) -> None:
        oldest = self._clock() - IDLE_SECONDS
        for dialogue in [dialogue for dialogue in self._known.values() if dialogue.used_at < oldest]:
            del self._known[dialogue.id]


class TrustedSystems:
    """Where customers have authenticated: for a while, the same system may ask again without."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str], date] = {}
        self._issued: dict[str, None] = {}
        self._lock = threading.Lock()

    def trust(self, login: str, system_id: str, until: date) -> None:
        if system_id in ("", NO_SYSTEM):
            return  # that may be anybody's
        with self._lock:
            self._until.pop((login, system_id), None)
            self._until[login, system_id] = until
            while len(self._until) > MAX_TRUSTED:
                del self._until[next(iter(self._until))]

    def issue(self) -> str:
        """A new system id."""
        system_id = secrets.token_hex(14)
        with self._lock:
            self._issued[system_id] = None
            while len(self._issued) > MAX_TRUSTED:
                del self._issued[next(iter(self._issued))]
        return system_id

    def is_issued(self, system_id: str) -> bool:
        return system_id in self._issued

    def is_trusted(self, login: str, system_id: str, today: date) -> bool:
        until = self._until.get((login, system_id))
        return until is not None and until >= today


Table: TypeAlias = dict[str, Pending] | dict[bytes, PayeeCheck] | dict[str, Cursor]


def make_room(table: Table) -> None:
    """Forget the oldest, so that nobody's dialogue grows without end."""
    while len(table) >= MAX_OPEN:
        del table[next(iter(table))]  # type: ignore[arg-type]

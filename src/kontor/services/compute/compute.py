"""Work that takes processor time on behalf of somebody: in processes of its own, bounded, fair between callers.

`run` executes a pure function of a module in one of a few worker processes. `admit` bounds how many calls a user and
a client may have in progress. Both are per process of the API: nothing is shared between them.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import structlog

from kontor.domain.errors import DeadlineExceededError, TooLargeError, TooManyCallsError, UnavailableError
from kontor.services.compute.processes import ComputeProcess, ProcessDiedError

log = structlog.get_logger(__name__)
T = TypeVar("T")

CALLS_PER_USER = 8  # in progress at a time, in one process of the API
CALLS_PER_CLIENT = 32
TURN_SECONDS = 60.0  # how long a caller of the API waits for a process; workers wait until there is one
RETRY_AFTER_SECONDS = 5
RECOVERY_SECONDS = 5  # between attempts while no process can be started
ATTEMPTS = 2  # when the process dies: the functions are pure


class ComputeObserver:
    """Is told what happens; this one does not care."""

    def change_running(self, by: int) -> None: ...

    def change_waiting(self, by: int) -> None: ...

    def note_rejected(self, limit: str) -> None: ...

    def note_killed(self, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ComputeLimits:
    processes: int
    seconds: float  # of one piece of work
    memory_bytes: int  # of one process
    turn_seconds: float | None = None  # of waiting for a process, then UnavailableError


@dataclass(slots=True)
class _Turn:
    owner: Hashable
    process: "asyncio.Future[ComputeProcess]"


class Compute:
    """Without limits there are no processes: work is done in a thread, as short commands need it."""

    def __init__(
        self,
        limits: ComputeLimits | None = None,
        prepare: Callable[[], None] | None = None,
        observer: ComputeObserver | None = None,
        *,
        is_preloaded: bool = True,
    ) -> None:
        self._limits = limits
        self._is_preloaded = is_preloaded
        self._observer = observer or ComputeObserver()
        self._thread = ThreadPoolExecutor(1, "compute")
        self._processes: list[ComputeProcess] = []
        if limits is not None:
            self._processes = [ComputeProcess(limits.memory_bytes, prepare) for _ in range(limits.processes)]
        self._idle = list(self._processes)
        # One owner leaves a process to others, also while nobody else has work.
        self._share = max(1, len(self._processes) - 1)
        self._waiting: dict[Hashable, deque[_Turn]] = {}
        self._running: Counter[Hashable] = Counter()
        self._calls: Counter[Hashable] = Counter()
        self._clients: dict[Hashable, Hashable] = {}  # of owners with a call in progress
        self._served: dict[Hashable, int] = {}  # when an owner or client had its last turn
        self._turns = 0
        self._starting: set[asyncio.Task[None]] = set()
        self._recovering: asyncio.Task[None] | None = None
        self._is_closed = False

    async def warm_up(self) -> None:
        """Start the processes one after the other, so that nobody's request waits for them. Does nothing where each
        process is to start at its first task."""
        if not self._is_preloaded:
            return
        for process in self._processes:
            if process in self._idle:
                self._idle.remove(process)
                await self._start(process)

    def is_ready(self) -> bool:
        """False after every process has failed to start, until one does. Those that were not needed yet are ready."""
        return not self._processes or not all(process.is_unstartable for process in self._processes)

    async def close(self) -> None:
        self._is_closed = True
        if self._recovering is not None:
            self._recovering.cancel()
        for process in self._processes:
            process.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def admit(self, owner: Hashable, client: Hashable) -> Iterator[None]:
        """For the time of a call. TooManyCallsError when the user or the client has too many in progress."""
        for key, limit, name in ((owner, CALLS_PER_USER, "user"), (client, CALLS_PER_CLIENT, "client")):
            if self._calls[key] >= limit and (name == "client" or owner != client):
                self._observer.note_rejected(name)
                raise TooManyCallsError(f"This {name} has {limit} calls of this kind in progress.", RETRY_AFTER_SECONDS)
        keys = {owner, client}
        self._calls.update(keys)
        self._clients[owner] = client
        try:
            yield
        finally:
            self._calls.subtract(keys)
            for key in keys:
                if not self._calls[key]:
                    del self._calls[key]
            if owner not in self._calls:
                self._clients.pop(owner, None)

    async def run(self, function: Callable[..., T], *arguments: object, owner: Hashable) -> T:
        """What `function` of a module returns or raises; arguments and result must be picklable."""
        if self._limits is None:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        for _ in range(ATTEMPTS):
            if self._is_closed:
                break
            process = await self._wait_for_turn(owner, self._limits.turn_seconds)
            try:
                return await process.run(function, arguments, self._limits.seconds)
            except TimeoutError:
                self._note_killed("deadline", function)
                raise DeadlineExceededError(
                    f"This takes more than {self._limits.seconds:g} seconds of computing; send less at once."
                ) from None
            except MemoryError:
                self._note_killed("memory", function)
                raise TooLargeError("This takes more memory than a call may use; send less at once.") from None
            except ProcessDiedError:
                self._note_killed("died", function)
            finally:
                self._end_turn(owner, process)
        raise UnavailableError("The work was interrupted; repeat the call shortly.", RETRY_AFTER_SECONDS)

    # Turns

    async def _wait_for_turn(self, owner: Hashable, seconds: float | None) -> ComputeProcess:
        try:
            async with asyncio.timeout(seconds):
                return await self._take_turn(owner)
        except TimeoutError:
            self._observer.note_rejected("turn")
            raise UnavailableError("Too much is computed now; repeat the call shortly.", RETRY_AFTER_SECONDS) from None

    async def _take_turn(self, owner: Hashable) -> ComputeProcess:
        turn = _Turn(owner, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(owner, deque()).append(turn)
        self._observer.change_waiting(1)
        self._hand_out()
        try:
            return await turn.process
        except asyncio.CancelledError:
            if turn.process.done() and not turn.process.cancelled():
                self._end_turn(owner, turn.process.result())
            elif turn in self._waiting.get(owner, ()):
                self._forget(turn)
            raise

    def _hand_out(self) -> None:
        """Idle processes go to who waits: clients in turn, and the users of a client in turn."""
        while self._idle:
            ready = [owner for owner in self._waiting if self._running[owner] < self._share]
            if not ready:
                return
            owner = min(ready, key=self._rank)
            turn = self._waiting[owner][0]
            self._forget(turn)
            if turn.process.done():  # cancelled, and its task has not noticed yet
                continue
            self._turns += 1
            self._served[owner] = self._served[self._clients.get(owner, owner)] = self._turns
            self._running[owner] += 1
            self._observer.change_running(1)
            process = next((process for process in self._idle if process.is_started), self._idle[0])
            self._idle.remove(process)
            turn.process.set_result(process)

    def _rank(self, owner: Hashable) -> tuple[int, int]:
        return self._served.get(self._clients.get(owner, owner), 0), self._served.get(owner, 0)

    def _forget(self, turn: _Turn) -> None:
        turns = self._waiting[turn.owner]
        turns.remove(turn)
        self._observer.change_waiting(-1)
        if not turns:
            del self._waiting[turn.owner]

    def _end_turn(self, owner: Hashable, process: ComputeProcess) -> None:
        """An owner whose process died waits until it is replaced: it must not bring down the next one meanwhile."""
        self._observer.change_running(-1)
        if process.is_started or self._is_closed:
            self._leave(owner)
            self._give_back(process)
            return
        task = asyncio.create_task(self._start(process))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        task.add_done_callback(lambda _: self._leave(owner))
        task.add_done_callback(lambda _: self._hand_out())

    def _leave(self, owner: Hashable) -> None:
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]

    async def _start(self, process: ComputeProcess) -> None:
        try:
            await process.start()
        except ProcessDiedError:
            log.warning("compute.not-started")
            if not self.is_ready() and self._recovering is None and not self._is_closed:
                self._recovering = asyncio.create_task(self._recover())
        finally:
            self._give_back(process)

    async def _recover(self) -> None:
        """A server that is not ready gets no work that would start a process."""
        while not self.is_ready():
            await asyncio.sleep(RECOVERY_SECONDS)
            if self._idle:
                await self._start(self._idle.pop())
        self._recovering = None

    def _give_back(self, process: ComputeProcess) -> None:
        self._idle.append(process)
        if not self._waiting:
            self._served.clear()
        self._hand_out()

    def _note_killed(self, reason: str, function: Callable[..., object]) -> None:
        self._observer.note_killed(reason)
        log.warning("compute.killed", reason=reason, work=function.__qualname__)

"""One fault at one moment of one payment, and what the books say afterwards."""

import os
import queue
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

from books import Books, compare_books
from callers import Errand
from stages import Moment, Server, Stage

from banking import wait_for

ROUNDS = int(os.environ.get("KONTOR_FAULT_ROUNDS", "1"))
ATTEMPTS = 4  # a payment may be over before its moment came, where a lease was lost on a busy machine

Fault = Callable[[Stage, Server, Errand, Moment], bool]


def kill(stage: Stage, server: Server, errand: Errand, moment: Moment) -> bool:
    """The process dies. Its caller asks elsewhere at once, and then again where it was."""
    token = server.arm(moment, "kill")
    errand.run(server, stage.observer)
    server.disarm()
    return server.is_met(token)


def freeze(stage: Stage, server: Server, errand: Errand, moment: Moment) -> bool:
    """The process stands still until everybody else has finished with the payment, and then goes on."""
    token = server.arm(moment, "stop")
    original = Thread(target=errand.run, args=(server,))
    original.start()
    wait_for(lambda: server.is_met(token) or not original.is_alive(), lambda one: one)
    if not server.is_met(token):
        server.disarm()
        original.join()
        return False
    try:
        errand.run(stage.observer)
        compare_books(stage, errand, f"frozen at {moment}")
    finally:
        server.resume()
        original.join()
    return True


def cut(stage: Stage, server: Server, errand: Errand, moment: Moment) -> bool:
    """The process lives, but PostgreSQL ends all its sessions, and those of the bank."""
    token = server.arm(moment, "hold")
    original = Thread(target=errand.run, args=(server,))
    original.start()
    wait_for(lambda: server.is_met(token) or not original.is_alive(), lambda one: one)
    is_met = server.is_met(token)
    server.disarm()
    if is_met:
        assert stage.cut_connections(server) > 0
        server.release(token)
    original.join()
    return is_met


def try_moment(stage: Stage, lane: int, make: Callable[[int], Errand], moment: Moment, fault: Fault) -> Books:
    for _ in range(ATTEMPTS):
        errand = make(lane)
        is_met = fault(stage, stage.lanes[lane], errand, moment)
        books = compare_books(stage, errand, f"{fault.__name__} at {moment}")
        if is_met:
            return books
    raise AssertionError(f"never met: {moment}")


def try_moments(stage: Stage, make: Callable[[int], Errand], moments: Iterable[Moment], fault: Fault) -> list[Books]:
    """Each moment once in every round; the lanes share the work."""
    waiting: queue.SimpleQueue[Moment] = queue.SimpleQueue()
    for moment in list(moments) * ROUNDS:
        waiting.put(moment)
    found: list[Books] = []
    failures: list[BaseException] = []

    def work(lane: int) -> None:
        while True:
            try:
                moment = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                found.append(try_moment(stage, lane, make, moment, fault))
            except BaseException as error:  # the others are to be seen too
                failures.append(error)

    with ThreadPoolExecutor(len(stage.lanes)) as pool:
        for one in [pool.submit(work, lane) for lane in range(len(stage.lanes))]:
            one.result()
    assert not failures, "\n".join(f"{type(one).__name__}: {one}" for one in failures)
    return found

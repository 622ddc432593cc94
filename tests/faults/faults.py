"""One fault at one moment of one payment, and what the books say afterwards."""

import os
import queue
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

from books import Books, compare_books
from callers import PaymentCase
from deployments import Deployment, Moment, Server

from banking import wait_for

ROUNDS = int(os.environ.get("KONTOR_TEST_FAULT_ROUNDS", "1"))
ATTEMPTS = 4  # a payment may be over before its moment came, where a lease was lost on a busy machine

Fault = Callable[[Deployment, Server, PaymentCase, Moment], bool]


def kill(deployment: Deployment, server: Server, case: PaymentCase, moment: Moment) -> bool:
    """The process dies. Its caller asks elsewhere at once, and then again where it was."""
    token = server.arm(moment, "kill")
    case.run(server, deployment.observer)
    server.escape_formula()
    return server.is_met(token)


def freeze(deployment: Deployment, server: Server, case: PaymentCase, moment: Moment) -> bool:
    """The process stands still until everybody else has finished with the payment, and then goes on."""
    token = server.arm(moment, "stop")
    original = Thread(target=case.run, args=(server,))
    original.start()
    wait_for(lambda: server.is_met(token) or not original.is_alive(), lambda is_over: is_over)
    if not server.is_met(token):
        server.escape_formula()
        original.join()
        return False
    try:
        case.run(deployment.observer)
        compare_books(deployment, case, f"frozen at {moment}")
    finally:
        server.resume()
        original.join()
    return True


def cut(deployment: Deployment, server: Server, case: PaymentCase, moment: Moment) -> bool:
    """The process lives, but PostgreSQL ends all its sessions, and those of the bank."""
    token = server.arm(moment, "hold")
    original = Thread(target=case.run, args=(server,))
    original.start()
    wait_for(lambda: server.is_met(token) or not original.is_alive(), lambda is_over: is_over)
    is_met = server.is_met(token)
    server.escape_formula()
    if is_met:
        assert deployment.cut_connections(server) > 0
        server.release(token)
    original.join()
    return is_met


def try_moment(
    deployment: Deployment, server_index: int, make: Callable[[int], PaymentCase], moment: Moment, fault: Fault
) -> Books:
    for _ in range(ATTEMPTS):
        case = make(server_index)
        is_met = fault(deployment, deployment.faulty_servers[server_index], case, moment)
        books = compare_books(deployment, case, f"{fault.__name__} at {moment}")
        if is_met:
            return books
    raise AssertionError(f"never met: {moment}")


def try_moments(
    deployment: Deployment, make: Callable[[int], PaymentCase], moments: Iterable[Moment], fault: Fault
) -> list[Books]:
    """Each moment once in every round; the servers share the work."""
    waiting: queue.SimpleQueue[Moment] = queue.SimpleQueue()
    for moment in list(moments) * ROUNDS:
        waiting.put(moment)
    found: list[Books] = []
    failures: list[BaseException] = []

    def work(server_index: int) -> None:
        while True:
            try:
                moment = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                found.append(try_moment(deployment, server_index, make, moment, fault))
            except BaseException as error:  # the others are to be seen too
                failures.append(error)

    with ThreadPoolExecutor(len(deployment.faulty_servers)) as pool:
        for future in [pool.submit(work, server_index) for server_index in range(len(deployment.faulty_servers))]:
            future.result()
    assert not failures, "\n".join(f"{type(failure).__name__}: {failure}" for failure in failures)
    return found

"""The same request many times at once, at two servers: one payment."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from books import compare_books
from callers import CALLBACK, CUSTOMER, SINGLE, PaymentCase, find_step

from consenting import PRESENT

THREADS = 6


def send_at_once(send, servers):
    """From several threads, by turns at each server."""
    with ThreadPoolExecutor(THREADS) as pool:
        sent = [pool.submit(send, servers[number % len(servers)]) for number in range(THREADS)]
        return [future.result() for future in sent]


@pytest.mark.parametrize("key", ["paymentId", "Idempotency-Key", None])
def test_one_payment(deployment, payers, key):
    case = PaymentCase(payers[SINGLE][0])
    customer, servers = case.payer.customer, [deployment.faulty_servers[0], deployment.observer]
    path = f"{CUSTOMER}/bankzugaenge/{case.payer.access_id}/{case.payer.product_id}/payment/single-transfer"
    name = str(uuid4())
    query = CALLBACK | ({"paymentId": name} if key == "paymentId" else {})
    headers = PRESENT | ({"Idempotency-Key": name} if key == "Idempotency-Key" else {})

    def order(server):
        return server.seat(customer).post(path, case.write_order(), params=query, headers=headers)

    answers = send_at_once(order, servers)
    expected = [200] * THREADS if key else [200] + [409] * (THREADS - 1)
    assert sorted(answer.status_code for answer in answers) == expected, [answer.text for answer in answers]
    given = [answer.json() for answer in answers if answer.status_code == 200]
    assert len({status["transfer"]["paymentId"] for status in given}) == 1
    if key is None:
        refusals = [answer.json()["messages"][0]["code"] for answer in answers if answer.status_code == 409]
        assert refusals == ["BA1104"] * (THREADS - 1)
    case.payment_id = given[0]["transfer"]["paymentId"]
    rel, step = next(found for found in map(find_step, given) if found[0])

    def authenticate(server):
        return case.answer(server.seat(customer), rel, step)

    for answer in send_at_once(authenticate, servers):
        assert answer.status_code in (200, 409), answer.text
        case.note(answer)
    case.told.append((200, final_codes(deployment, case)))
    books = compare_books(deployment, case, key)
    assert books.is_booked


def final_codes(deployment, case):
    """What the caller reads once all is over."""
    at = deployment.observer.seat(case.payer.customer)
    status = at.read(f"{CUSTOMER}/payment/single-transfer/{case.payment_id}")
    return tuple(message["code"] for message in status["messages"])

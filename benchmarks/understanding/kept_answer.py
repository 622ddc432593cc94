"""An analysis asked for again while nothing has changed: `GET /customer/v2/ai/contracts`."""

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection

from benchmarks.endpoints import Endpoint, Request, Targets
from benchmarks.environment import BenchmarkEnvironment
from kontor.storage.analyses import Question, find_answer
from kontor.storage.database import fetch_row
from kontor.storage.tags import find_version

CUSTOMERS = 8
TRANSACTIONS = 2000
PATH = "/customer/v2/ai/contracts"
FIND_QUESTION = "select question, made_for, made_by from analysis_results where user_id = $1"
_questions: dict[Any, Question] = {}


async def prepare(environment: BenchmarkEnvironment) -> list[Request]:
    requests = []
    for _ in range(CUSTOMERS):
        customer = await environment.add_customer()
        await environment.add_transactions(customer, TRANSACTIONS)
        await environment.services.analyses.load_facts_by_operator(customer.id)  # tags what was stored
        requests.append(Request(PATH, customer.token))
    return requests


async def read_ready(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> bytes | None:
    """The row that Kontor stored when it was asked first. Its key names Kontor's address, so it is looked up once."""
    user_id = principal[6]
    if user_id not in _questions:
        row = await fetch_row(connection, FIND_QUESTION, [user_id])
        if row is None:
            return None
        _questions[user_id] = Question(*row)
    assert await find_version(connection, user_id) is not None
    return await find_answer(connection, user_id, _questions[user_id])


async def ask(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> None:
    await read_ready(connection, principal, path)


ENDPOINT = Endpoint(
    name="kept-answer",
    title="An analysis asked for again: contracts of a user with 2,000 transactions",
    targets=Targets(limit=0.6),
    prepare=prepare,
    read_ready=read_ready,
    ask=ask,
)

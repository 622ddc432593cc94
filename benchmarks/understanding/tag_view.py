"""A thousand transactions with their tags: `GET …/kontoumsaetze?tag=true`."""

import os
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from benchmarks.endpoints import Endpoint, Request, Targets
from benchmarks.environment import BenchmarkEnvironment
from kontor.analysis.trees import CATEGORIES
from kontor.api.app import OPERATIONS
from kontor.domain.searches import Window
from kontor.services.transactions.transactions import PIECE_ROWS
from kontor.storage.database import fetch_row
from kontor.storage.tag_views import list_tag_rows
from kontor.storage.tags import find_version
from kontor.wire.tag_views import TagView, render_page
from kontor.wire.transactions import FIELDS
from kontor.wire.urls import Urls

CUSTOMERS = 8
TRANSACTIONS = 1000
FIND_PRODUCT = "select 1 from products where user_id = $1 and access_id = $2 and id = $3"
ALL = Window(limit=PIECE_ROWS)
VIEW = TagView(CATEGORIES, has_classifications=False)


async def prepare(environment: BenchmarkEnvironment) -> list[Request]:
    requests = []
    for _ in range(CUSTOMERS):
        customer = await environment.add_customer()
        path = await environment.add_transactions(customer, TRANSACTIONS)
        await environment.services.analyses.load_facts_by_operator(customer.id)  # tags what was stored
        requests.append(Request(f"{path}?tag=true", customer.token))
    return requests


async def read_ready(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> bytes | None:
    user_id = principal[6]
    access_id, product_id = path.split("/")[4:6]
    if await fetch_row(connection, FIND_PRODUCT, [user_id, access_id, product_id]) is None:
        return None
    assert await find_version(connection, user_id) is not None
    rows, _ = await list_tag_rows(connection, user_id, UUID(product_id), ALL, FIELDS, VIEW.columns)
    urls = Urls(os.environ["KONTOR_BASE_URL"], [operation.id for operation in OPERATIONS])
    return b"[" + render_page(rows, VIEW, urls) + b"]"


async def ask(connection: AsyncConnection[Any], principal: Sequence[Any], path: str) -> None:
    user_id = principal[6]
    access_id, product_id = path.split("/")[4:6]
    await fetch_row(connection, FIND_PRODUCT, [user_id, access_id, product_id])
    await find_version(connection, user_id)
    await list_tag_rows(connection, user_id, UUID(product_id), ALL, FIELDS, VIEW.columns, has_ids=False)


ENDPOINT = Endpoint(
    name="tag-view",
    title="1,000 transactions with their categories",
    targets=Targets(limit=0.6),
    prepare=prepare,
    read_ready=read_ready,
    ask=ask,
    connections=4,
)

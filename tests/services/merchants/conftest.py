"""A database beside the others, and a tenant that lets its own model be asked."""

from dataclasses import replace

import psycopg
import pytest

from known_merchants import make_tenant
from kontor import bootstrap
from kontor.services.analyses import MerchantKnowledge
from kontor.services.merchants import MerchantQuestions, ModelCalls, ModelSettings


@pytest.fixture(scope="module")
async def services(own):
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        yield services


@pytest.fixture
def owner(own):
    """Nobody else's questions and jobs are in the way."""
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute("delete from pgqueuer")
        connection.execute("update tenants set asks_model = false")
        yield connection


@pytest.fixture
async def tenant(services, owner):
    return await make_tenant(services, owner)


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def ask_with(services):
    """Questions to this server, as a worker asks them."""

    def make(server, **more):
        url = server if isinstance(server, str) else server.base_url
        settings = ModelSettings(**({"url": url, "name": "test-model", "seconds": 5} | more))
        clock = Clock()
        made = MerchantQuestions(services.database, MerchantKnowledge(services.compute), ModelCalls(settings), clock)
        made.clock = clock
        return made

    return make

"""A Citus cluster that somebody has started for the tests: where it is, and how its nodes are stopped.

`KONTOR_TEST_DATABASE_URL` and `KONTOR_TEST_OWNER_DATABASE_URL` are addresses of one database on the coordinator, of the
application's role and of the owner of the tables, who may alter that role. `KONTOR_TEST_CLUSTER_CONTROL` is a command
that takes `stop NODE` or `start NODE`, where the nodes are `coordinator`, `worker1` and `worker2`.
"""

import base64
import hashlib
import os
import shlex
import subprocess
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql

from kontor.bootstrap import find_app_role, migrate_database
from kontor.config import Settings
from kontor.domain.secrets import Secret
from kontor.storage.distributing import apply_plan

ADDRESS, OWNER = "KONTOR_TEST_DATABASE_URL", "KONTOR_TEST_OWNER_DATABASE_URL"
CONTROL = "KONTOR_TEST_CLUSTER_CONTROL"
# The same in every run, since the database stays.
MASTER_KEY = base64.b64encode(hashlib.sha256(b"given cluster").digest()).decode()
# Work for everybody may ask all shards.
FOR_EVERYBODY = ("all_old_alerts", "all_old_edits", "all_old_removals", "delete_all_old_answers")


def is_given() -> bool:
    return ADDRESS in os.environ


def skip_where_given(reason: str = "a given cluster has one database, which is neither copied nor dropped") -> None:
    if is_given():
        pytest.skip(reason)


def prepare_cluster(settings: Settings) -> Settings:
    """Migrated and distributed. From then on a statement of a customer that asks more than one shard fails."""
    ready = replace(
        settings,
        database_url=Secret(os.environ[ADDRESS]),
        migration_database_url=Secret(os.environ[OWNER]),
        master_key=Secret(MASTER_KEY),
    )
    assert ready.migration_database_url is not None
    migrate_database(ready, is_alone=True)
    role = find_app_role(ready)
    assert role is not None
    apply_plan(ready.migration_database_url, role)
    with psycopg.connect(ready.migration_database_url.reveal(), autocommit=True) as connection:
        names = sql.Identifier(role), sql.Identifier(connection.info.dbname)
        # Citus plans a prepared statement once without its values, for all shards, and takes another plan: no error.
        for setting in ("citus.multi_task_query_log_level = 'error'", "plan_cache_mode = 'force_custom_plan'"):
            limit = sql.SQL("alter role {} in database {} set ").format(*names) + sql.SQL(setting)
            connection.execute(limit)
        for function in FOR_EVERYBODY:
            free = sql.SQL("alter function {} set citus.multi_task_query_log_level = 'off'")
            connection.execute(free.format(sql.Identifier(function)))
    return ready


def control(action: str, node: str) -> None:
    subprocess.run([*shlex.split(os.environ[CONTROL]), action, node], check=True, timeout=120)

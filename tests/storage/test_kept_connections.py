"""The connections that the demo bank keeps in the process of the tests."""

import psycopg
import pytest

from kept_connections import connect_kept


def find_backend(settings, *, autocommit=True):
    with connect_kept(settings.database_url, autocommit=autocommit) as connection:
        return connection.info.backend_pid


def insert_and_fail(connection):
    with connection:
        connection.execute("insert into kept_rows values (2)")
        connection.execute("select 1 / 0")


def test_a_connection_is_used_again(settings):
    assert find_backend(settings) == find_backend(settings)


def test_a_connection_that_postgresql_has_ended_is_not_used_again(settings, owner):
    ended = find_backend(settings)
    owner.execute("select pg_terminate_backend(%s, 10000)", [ended])
    assert find_backend(settings) != ended


def test_a_block_commits_and_an_error_rolls_back_and_closes(settings, owner):
    owner.execute("create table kept_rows (number int)")
    owner.execute("grant all on kept_rows to public")
    try:
        with connect_kept(settings.database_url, autocommit=False) as connection:
            connection.execute("insert into kept_rows values (1)")
        failed = connect_kept(settings.database_url, autocommit=False)
        with pytest.raises(psycopg.errors.DivisionByZero):
            insert_and_fail(failed)
        assert failed.closed
        assert owner.execute("select number from kept_rows").fetchall() == [(1,)]
    finally:
        owner.execute("drop table kept_rows")

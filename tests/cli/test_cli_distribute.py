"""`kontor distribute` on a single server. What it does on a cluster is in tests/processes/test_given_cluster.py."""

import pytest

import given_clusters
from processes import run_kontor

on_one_server = pytest.mark.skipif(given_clusters.is_given(), reason="a cluster is given")


@pytest.mark.parametrize("flags", [(), ("--check", "--apply")])
def test_it_must_be_told_to_check_or_to_apply(settings, flags):
    assert "either --check or --apply" in run_kontor(settings, "distribute", *flags, code=1).stderr


@on_one_server
@pytest.mark.parametrize("flag", ["--check", "--apply"])
def test_a_server_without_citus_is_refused(settings, owner, flag):
    before = count_references(owner)
    assert "no extension citus" in run_kontor(settings, "distribute", flag, code=1).stderr
    assert count_references(owner) == before > 10


@on_one_server
def test_a_migration_that_distributes_its_table_changes_nothing(owner):
    with owner.transaction(force_rollback=True):
        owner.execute("create table notes (user_id uuid)")
        assert owner.execute("select distribute_by_user('notes')").fetchone() == ("",)


def count_references(owner):
    return owner.execute("select count(*) from pg_constraint where contype = 'f'").fetchone()[0]

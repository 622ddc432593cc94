"""Faults of payments: a sample of simulated crashes, and proof that the checker finds what it is there for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from payment_faults.plans import Connector, Form, Sca

ROOT = Path(__file__).parents[2]


def run_samples(*parts):
    """In a process of its own: the faults change psycopg and httpx for good."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "fault_samples.py"), *parts],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def samples():
    return run_samples(
        "few", "no keys", "standing", "no keys, standing", "debits", "no keys, debits", "no guard", "believing",
        "no recovery",
    )  # fmt: skip


def test_no_crash_of_a_sample_pays_twice_loses_or_blocks_a_payment(samples):
    assert [result for result in samples["few"] if result["verdict"] != "fine"] == []
    assert {result["connector"] for result in samples["few"]} == set(Connector)
    assert {"EXECUTED", "FAILED"} <= {result["state"] for result in samples["few"]}


def test_the_same_seed_and_number_repeat_a_fault_exactly(samples):
    facts = ("number", "point", "verdict", "state", "debits", "told")
    first, again = (
        [[result[fact] for fact in facts] for result in part] for part in (samples["few"][:3], samples["few"][30:])
    )
    assert first == again


def test_a_kontor_that_forgets_keys_pays_twice_over_every_connector_and_is_found(samples):
    doubled = {result["connector"] for result in samples["no keys"] if result["verdict"] == "double"}
    assert doubled == set(Connector)


def test_no_crash_makes_changes_or_deletes_a_standing_order_twice_or_lists_another_one(samples):
    assert [result for result in samples["standing"] if result["verdict"] != "fine"] == []
    assert {result["form"] for result in samples["standing"]} == {form for form in Form if form.is_standing}


def test_a_kontor_that_forgets_keys_creates_and_changes_standing_orders_twice_and_is_found(samples):
    assert [result["verdict"] for result in samples["no keys, standing"]] == ["double"] * 4


def test_no_crash_collects_direct_debits_twice(samples):
    assert [result for result in samples["debits"] if result["verdict"] != "fine"] == []
    assert {result["form"] for result in samples["debits"]} == {form for form in Form if form.is_debit}


def test_a_kontor_that_forgets_keys_collects_direct_debits_twice_and_is_found(samples):
    assert [result["verdict"] for result in samples["no keys, debits"]] == ["double"] * 4


def test_a_kontor_without_send_guard_reports_a_booked_order_as_failed_and_is_found(samples):
    assert "contradicted" in {result["verdict"] for result in samples["no guard"]}


def test_a_kontor_that_believes_in_an_order_that_never_left_is_found(samples):
    assert "lost" in {result["verdict"] for result in samples["believing"]}


def test_a_kontor_that_never_recovers_is_found(samples):
    assert "stuck" in {result["verdict"] for result in samples["no recovery"]}


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_crash_of_a_larger_sample_pays_twice_loses_or_blocks_a_payment():
    results = run_samples("many")["many"]
    assert [result for result in results if result["verdict"] != "fine"] == []
    assert {result["sca"] for result in results} == set(Sca)
    assert {result["form"] for result in results} == set(Form)

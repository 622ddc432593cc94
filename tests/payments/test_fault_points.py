"""The points where faults are injected: each is reached, and nothing but a test's own program gives them an effect."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from paying import CUSTOMER

from kontor.domain.payments import PayeeMatch, PayeeResult
from kontor.services.runtime import fault_points


@pytest.fixture
def reached(monkeypatch):
    """The names of the points, as they are reached."""
    seen: list[str] = []
    monkeypatch.setattr(fault_points, "reach", seen.append)
    return seen


async def test_a_payments_way_leads_through_every_point(environment, reached):
    payer = await environment.new_payer(fault="unknown", payees=(PayeeResult(PayeeMatch.NO_MATCH),))
    transfer = await payer.pay()
    await transfer.answer("confirm_vop")
    await transfer.tan()
    await environment.execute("update payments set next_lookup_at = now() where id = %s", transfer.id)
    await environment.services.payments.recovery.recover()
    assert (await payer.get(f"{CUSTOMER}/payment/single-transfer/{transfer.id}")).json()["messages"][0][
        "code"
    ] == "BA1111"
    assert set(reached) == set(fault_points.POINTS)
    first = [
        reached.index(point) for point in ("payment.inserted", "payment.call", "payment.sending", "payment.settled")
    ]
    assert reached.index("payment.send") < reached.index("payment.sending")
    assert first[0] < first[1]


def test_no_environment_variable_gives_a_point_an_effect(tmp_path: Path):
    """A module that is named in the environment is not imported, whichever variable of Kontor names it."""
    (tmp_path / "injected.py").write_text("raise SystemExit('injected')\n")
    reach_all = "from kontor.services.runtime import fault_points as f; print([f.reach(point) for point in f.POINTS])"
    names = ("KONTOR_FAULT_HOOK", "KONTOR_FAULT_POINTS", "KONTOR_TEST_FAULT_FOLDER")
    done = subprocess.run(
        [sys.executable, "-c", reach_all],
        env=os.environ | dict.fromkeys(names, "injected:hook") | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, str([None] * len(fault_points.POINTS))), done.stderr


def test_the_module_of_the_points_imports_nothing():
    """So it can neither read the environment nor load code."""
    tree = ast.parse(Path(fault_points.__file__).read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
